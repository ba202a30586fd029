/** Pods, as far as the server itself looks into them. */
import type { Attributes } from '../../admission/admission.ts'
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

export interface Pod extends KubeObject {
  spec?: {
    nodeName?: string
    serviceAccountName?: string
    serviceAccount?: string
    imagePullSecrets?: { name?: string }[]
    terminationGracePeriodSeconds?: number
    [field: string]: unknown
  }
  status?: { phase?: string; conditions?: PodCondition[]; [field: string]: unknown }
}

export const podResource = { group: '', version: 'v1', resource: 'pods' } as const
export const nodeResource = { group: '', version: 'v1', resource: 'nodes' } as const
export const budgetResource = { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' } as const

/** On pods that a file or a URL describes: they are shown here, not made here. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror'

/** It will not run again. */
export const hasEnded = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'

/** How admission refuses a pod, which may not have its name yet. */
export const podForbidden = (a: Pick<Attributes, 'type' | 'name'>, pod: Pod, why: string): StatusError =>
  forbidden(a.type, a.name || pod.metadata.name || pod.metadata.generateName || '', why)
