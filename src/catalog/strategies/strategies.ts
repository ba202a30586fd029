/**
 * What differs by built-in kind, in one table. `BuiltInStrategy` is the part of the registry's `Strategy` that is known
 * here; the registry lies above this layer, so the shape is written down again. Kinds with a folder under `apis/`
 * (namespaces, roles, bindings, custom resource definitions) have their strategies there.
 */
import type { FieldError } from '../../kube/field-error.ts'
import { qualifiedResource } from '../../kube/gvk.ts'
import type { NameRule } from '../../kube/names.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { KubeObject, ObjectMeta, Unvalidated } from '../../kube/types.ts'
import {
  conditionalUpdate,
  createOnUpdate,
  keepsNewStatus,
  keptMetadata,
  nameRules,
  notGarbageCollected,
  orphansDependents,
  returnsDeleted,
  tracksGeneration,
} from '../facts/behaviour.ts'
import { type SelectableFields, selectableFields } from '../facts/selectable-fields.ts'
import { checkAdmissionPolicy, checkPolicyBinding } from '../validation/admission-policies.ts'
import {
  checkHorizontalPodAutoscaler,
  checkPodDisruptionBudget,
  checkPriorityClass,
} from '../validation/autoscaling.ts'
import { checkCronJob, checkJob } from '../validation/batch.ts'
import { checkConfigMap, checkSecret } from '../validation/config.ts'
import { checkCoreEvent, checkNewEvent } from '../validation/events.ts'
import { checkMutatingBinding, checkMutatingPolicy } from '../validation/mutating-policies.ts'
import { checkIngress, checkIngressClass, checkNetworkPolicy } from '../validation/networking.ts'
import {
  checkApiService,
  checkCsiDriver,
  checkCsiNode,
  checkLease,
  checkRuntimeClass,
  checkVolumeAttachment,
} from '../validation/platform.ts'
import { checkPod } from '../validation/pod.ts'
import { checkLimitRange, checkResourceQuota } from '../validation/quota.ts'
import { numberIn, partIn, Report, textIn } from '../validation/report.ts'
import { checkEndpointSlice, checkEndpoints, checkService } from '../validation/service.ts'
import { checkIpAddress, checkServiceCidr } from '../validation/service-addresses.ts'
import { checkPersistentVolume, checkPersistentVolumeClaim, checkStorageClass } from '../validation/storage.ts'
import { checkWebhooks } from '../validation/webhooks.ts'
import {
  checkControllerRevision,
  checkDaemonSet,
  checkDeployment,
  checkPodTemplateObject,
  checkReplicaSet,
  checkReplicationController,
  checkStatefulSet,
} from '../validation/workloads.ts'
import { type Prepare, prepareJob, preparePending, preparePod, prepareService } from './prepare.ts'

export interface BuiltInContext {
  /** '' for the main resource. */
  readonly subresource: string
}

export interface BuiltInStrategy {
  prepare?(next: Unvalidated, old: KubeObject | undefined, context: BuiltInContext): Unvalidated
  validate?(next: KubeObject, old: KubeObject | undefined, context: BuiltInContext): readonly FieldError[]
  readonly graceful?: { graceSeconds(object: KubeObject, requested: number | undefined): number }
  readonly garbageCollected?: boolean
  readonly orphansDependents?: boolean
  readonly validateName?: NameRule
  readonly unconditionalUpdate?: boolean
  readonly createOnUpdate?: boolean
  readonly returnsDeleted?: boolean
  readonly keepsNewStatus?: boolean
  keptMetadata?(subresource: string): readonly (keyof ObjectMeta)[]
  readonly tracksGeneration?: boolean
  readonly selectableFields?: SelectableFields
}

type Check = (report: Report, next: KubeObject, old: KubeObject | undefined, subresource: string) => void

/** Only for objects as a whole: what a controller reports in a status is taken as it is. */
const main =
  (check: Check): Check =>
  (report, next, old, subresource) => {
    if (subresource === '') check(report, next, old, subresource)
  }

const checks: Readonly<Record<string, Check>> = {
  configmaps: main(checkConfigMap),
  endpoints: main(checkEndpoints),
  events: main(checkCoreEvent),
  limitranges: main(checkLimitRange),
  persistentvolumeclaims: checkPersistentVolumeClaim,
  persistentvolumes: checkPersistentVolume,
  pods: checkPod,
  podtemplates: main(checkPodTemplateObject),
  replicationcontrollers: main(checkReplicationController),
  resourcequotas: checkResourceQuota,
  secrets: main(checkSecret),
  services: main(checkService),
  'apiservices.apiregistration.k8s.io': main(checkApiService),
  'controllerrevisions.apps': main(checkControllerRevision),
  'cronjobs.batch': main(checkCronJob),
  'csidrivers.storage.k8s.io': main(checkCsiDriver),
  'csinodes.storage.k8s.io': main(checkCsiNode),
  'daemonsets.apps': main(checkDaemonSet),
  'deployments.apps': main(checkDeployment),
  'endpointslices.discovery.k8s.io': main(checkEndpointSlice),
  'events.events.k8s.io': checkNewEvent,
  'horizontalpodautoscalers.autoscaling': main(checkHorizontalPodAutoscaler),
  'ingressclasses.networking.k8s.io': main(checkIngressClass),
  'ingresses.networking.k8s.io': main(checkIngress),
  'ipaddresses.networking.k8s.io': main(checkIpAddress),
  'jobs.batch': main(checkJob),
  'leases.coordination.k8s.io': main(checkLease),
  'mutatingadmissionpolicies.admissionregistration.k8s.io': main(checkMutatingPolicy),
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': main(checkMutatingBinding),
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': (report, next, old) =>
    checkWebhooks(report, next, old, true),
  'networkpolicies.networking.k8s.io': main(checkNetworkPolicy),
  'poddisruptionbudgets.policy': main(checkPodDisruptionBudget),
  'priorityclasses.scheduling.k8s.io': main(checkPriorityClass),
  'replicasets.apps': main(checkReplicaSet),
  'runtimeclasses.node.k8s.io': main(checkRuntimeClass),
  'servicecidrs.networking.k8s.io': main(checkServiceCidr),
  'statefulsets.apps': main(checkStatefulSet),
  'storageclasses.storage.k8s.io': main(checkStorageClass),
  'validatingadmissionpolicies.admissionregistration.k8s.io': main(checkAdmissionPolicy),
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': main(checkPolicyBinding),
  'validatingwebhookconfigurations.admissionregistration.k8s.io': (report, next, old) =>
    checkWebhooks(report, next, old, false),
  'volumeattachments.storage.k8s.io': main(checkVolumeAttachment),
}

const preparations: Readonly<Record<string, Prepare>> = {
  persistentvolumeclaims: preparePending,
  persistentvolumes: preparePending,
  pods: preparePod,
  services: prepareService,
  'jobs.batch': prepareJob,
}

const defaultGraceSeconds = 30
const ended = new Set(['Succeeded', 'Failed'])

/** A pod that is nowhere, or has ended, needs no time. Whether its node exists is not known here (DECISIONS 18). */
export function podGraceSeconds(pod: KubeObject, requested: number | undefined): number {
  const spec = partIn(pod, 'spec')
  if (textIn(spec, 'nodeName') === '' || ended.has(textIn(partIn(pod, 'status'), 'phase'))) return 0
  return Math.max(0, requested ?? numberIn(spec, 'terminationGracePeriodSeconds') ?? defaultGraceSeconds)
}

/** Everything that has rules, for the test that it exists. */
export const strategyTables: Readonly<Record<string, Iterable<string>>> = {
  checks: Object.keys(checks),
  preparations: Object.keys(preparations),
  createOnUpdate,
  conditionalUpdate,
  returnsDeleted,
  keepsNewStatus,
  tracksGeneration,
  notGarbageCollected,
  orphansDependents,
  nameRules: Object.keys(nameRules),
  selectableFields: Object.keys(selectableFields),
}

export function builtInStrategy(type: ResourceType): BuiltInStrategy {
  const name = qualifiedResource(type)
  const check = checks[name]
  const { conversion } = type
  const prepare = preparations[name]
  const validateName = nameRules[name]
  const fields = selectableFields[name]
  return {
    ...(prepare ? { prepare: (next, old, context) => prepare(next, old, context.subresource) } : {}),
    ...(check
      ? {
          validate: (next, old, context) => {
            const report = new Report()
            // As upstream, which judges no version that is shown but the one that all of them become.
            if (conversion === undefined) check(report, next, old, context.subresource)
            else check(report, conversion.toStored(next), old && conversion.toStored(old), context.subresource)
            return report.errors
          },
        }
      : {}),
    ...(name === 'pods' ? { graceful: { graceSeconds: podGraceSeconds } } : {}),
    ...(validateName ? { validateName } : {}),
    ...(fields ? { selectableFields: fields } : {}),
    garbageCollected: !notGarbageCollected.has(name),
    orphansDependents: orphansDependents.has(name),
    unconditionalUpdate: !conditionalUpdate.has(name),
    createOnUpdate: createOnUpdate.has(name),
    returnsDeleted: returnsDeleted.has(name),
    keepsNewStatus: keepsNewStatus.has(name),
    keptMetadata: (subresource) => keptMetadata(name, subresource),
    tracksGeneration: tracksGeneration.has(name),
  }
}
