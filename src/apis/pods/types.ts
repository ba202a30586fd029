/** Pods, as far as the server itself looks into them. */

import type { Attributes } from '../../admission/admission.ts'
import type { Resource } from '../../kube/resource.ts'
import { forbidden, type StatusError } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'

export interface PodCondition {
  type: string
  status: string
  lastTransitionTime?: string
  lastProbeTime?: string | null
  reason?: string
  message?: string
}

export interface Toleration {
  readonly key?: string
  readonly operator?: string
  readonly effect?: string
  readonly tolerationSeconds?: number
}

export interface VolumeMount {
  readonly name?: string
  readonly mountPath?: string
  readonly readOnly?: boolean
}

export interface Requirements {
  readonly requests?: Record<string, string | number>
  readonly limits?: Record<string, string | number>
}

export interface Container {
  readonly name?: string
  readonly restartPolicy?: string
  readonly resources?: Requirements
  readonly volumeMounts?: readonly VolumeMount[]
  readonly [field: string]: unknown
}

interface PodSpec {
  nodeName?: string
  serviceAccountName?: string
  serviceAccount?: string
  automountServiceAccountToken?: boolean
  imagePullSecrets?: readonly { name?: string }[]
  terminationGracePeriodSeconds?: number
  priorityClassName?: string
  priority?: number
  preemptionPolicy?: string
  runtimeClassName?: string
  overhead?: Record<string, string>
  nodeSelector?: Record<string, string>
  tolerations?: readonly Toleration[]
  containers?: readonly Container[]
  initContainers?: readonly Container[]
  volumes?: readonly { name?: string; [source: string]: unknown }[]
  resources?: Requirements
  [field: string]: unknown
}

export interface Pod extends KubeObject {
  spec?: PodSpec
  status?: { phase?: string; conditions?: PodCondition[]; [field: string]: unknown }
}

export const podResource: Resource<Pod> = { group: '', version: 'v1', resource: 'pods' }
export const nodeResource = { group: '', version: 'v1', resource: 'nodes' } as const
export const budgetResource = { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' } as const

/** On pods that a file or a URL describes: they are shown here, not made here. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror'

/** It will not run again. */
export const hasEnded = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'

/** How admission refuses a pod, which may not have its name yet. */
export const podForbidden = (
  a: Pick<Attributes, 'type' | 'name'>,
  pod: Pick<Pod, 'metadata'>,
  why: string,
): StatusError => forbidden(a.type, a.name || pod.metadata.name || pod.metadata.generateName || '', why)
