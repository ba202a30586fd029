/**
 * What differs by built-in kind, in one table. Kinds with a folder under `apis/` (namespaces, custom resource
 * definitions) have their strategies there.
 */
import { qualifiedResource } from '../../kube/gvk.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Strategy } from '../strategy.ts'
import { checkMutatingBinding, checkMutatingPolicy } from './admissionregistration.k8s.io/mutating-admission-policy.ts'
import { checkAdmissionPolicy, checkPolicyBinding } from './admissionregistration.k8s.io/validating-admission-policy.ts'
import { checkWebhooks } from './admissionregistration.k8s.io/webhook-configuration.ts'
import {
  checkControllerRevision,
  checkDaemonSet,
  checkDeployment,
  checkPodTemplateObject,
  checkReplicaSet,
  checkReplicationController,
  checkStatefulSet,
} from './apps/deployment.ts'
import {
  checkHorizontalPodAutoscaler,
  checkPodDisruptionBudget,
  checkPriorityClass,
} from './autoscaling/horizontal-pod-autoscaler.ts'
import { checkCronJob, checkJob } from './batch/job.ts'
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
} from './behaviour.ts'
import { checkConfigMap, checkSecret } from './core/config-map.ts'
import { checkCoreEvent, checkNewEvent } from './core/event.ts'
import { checkPersistentVolume, checkPersistentVolumeClaim, checkStorageClass } from './core/persistent-volume.ts'
import { checkPod } from './core/pod.ts'
import { type Prepare, prepareJob, preparePending, preparePod, prepareService } from './core/prepare.ts'
import { checkLimitRange, checkResourceQuota } from './core/resource-quota.ts'
import { checkEndpointSlice, checkEndpoints, checkService } from './core/service.ts'
import { checkIngress, checkIngressClass, checkNetworkPolicy } from './networking.k8s.io/ingress.ts'
import { checkIpAddress, checkServiceCidr } from './networking.k8s.io/ip-address.ts'
import {
  clusterRoleBindingStrategy,
  clusterRoleStrategy,
  roleBindingStrategy,
  roleStrategy,
} from './rbac.authorization.k8s.io/role.ts'
import { numberIn, partIn, Report, textIn } from './report.ts'
import { selectableFields } from './selectable-fields.ts'
import {
  checkApiService,
  checkCsiDriver,
  checkCsiNode,
  checkLease,
  checkRuntimeClass,
  checkVolumeAttachment,
} from './storage.k8s.io/csi-driver.ts'

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

const ofRbac: Readonly<Record<string, Strategy>> = {
  'roles.rbac.authorization.k8s.io': roleStrategy,
  'clusterroles.rbac.authorization.k8s.io': clusterRoleStrategy,
  'rolebindings.rbac.authorization.k8s.io': roleBindingStrategy,
  'clusterrolebindings.rbac.authorization.k8s.io': clusterRoleBindingStrategy,
}

export function builtInStrategy(type: ResourceType): Strategy {
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
    ...ofRbac[name],
  }
}
