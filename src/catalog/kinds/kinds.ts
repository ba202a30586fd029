/**
 * Every built-in kind of which more is known than its generated type, by `resource` or `resource.group`. A kind stands
 * in the folder of its group, in a file of its own; kinds that nothing is special about have none.
 */
import { admissionKinds } from './admissionregistration.k8s.io/group.ts'
import { policyPartDefaults } from './admissionregistration.k8s.io/policy-parts.ts'
import { customResourceDefinition } from './apiextensions.k8s.io/custom-resource-definition.ts'
import { apiService } from './apiregistration.k8s.io/api-service.ts'
import { appsKinds } from './apps/group.ts'
import { horizontalPodAutoscaler } from './autoscaling/horizontal-pod-autoscaler.ts'
import { cronJob } from './batch/cron-job.ts'
import { job } from './batch/job.ts'
import { certificateSigningRequest } from './certificates.k8s.io/certificate-signing-request.ts'
import { lease } from './coordination.k8s.io/lease.ts'
import { coreKinds, sharedCoreDefaults } from './core/group.ts'
import type { DefaultRules } from './default-rules.ts'
import { endpointSlice } from './discovery.k8s.io/endpoint-slice.ts'
import { flowSchema } from './flowcontrol.apiserver.k8s.io/flow-schema.ts'
import { priorityLevelConfiguration } from './flowcontrol.apiserver.k8s.io/priority-level-configuration.ts'
import type { BuiltInKinds } from './kind.ts'
import { networkingKinds } from './networking.k8s.io/group.ts'
import { runtimeClass } from './node.k8s.io/runtime-class.ts'
import { podDisruptionBudget } from './policy/pod-disruption-budget.ts'
import { clusterRole, role } from './rbac.authorization.k8s.io/role.ts'
import { clusterRoleBinding, roleBinding } from './rbac.authorization.k8s.io/role-binding.ts'
import { deviceClass, resourceClaim, resourceClaimTemplate, resourceSlice } from './resource.k8s.io/devices.ts'
import { priorityClass } from './scheduling.k8s.io/priority-class.ts'
import { storageKinds } from './storage.k8s.io/group.ts'

export const builtInKinds: BuiltInKinds = {
  ...coreKinds,
  ...admissionKinds,
  ...appsKinds,
  ...networkingKinds,
  ...storageKinds,
  'apiservices.apiregistration.k8s.io': apiService,
  'certificatesigningrequests.certificates.k8s.io': certificateSigningRequest,
  'clusterrolebindings.rbac.authorization.k8s.io': clusterRoleBinding,
  'clusterroles.rbac.authorization.k8s.io': clusterRole,
  'cronjobs.batch': cronJob,
  'customresourcedefinitions.apiextensions.k8s.io': customResourceDefinition,
  'deviceclasses.resource.k8s.io': deviceClass,
  'endpointslices.discovery.k8s.io': endpointSlice,
  'flowschemas.flowcontrol.apiserver.k8s.io': flowSchema,
  'horizontalpodautoscalers.autoscaling': horizontalPodAutoscaler,
  'jobs.batch': job,
  'leases.coordination.k8s.io': lease,
  'poddisruptionbudgets.policy': podDisruptionBudget,
  'priorityclasses.scheduling.k8s.io': priorityClass,
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': priorityLevelConfiguration,
  'resourceclaims.resource.k8s.io': resourceClaim,
  'resourceclaimtemplates.resource.k8s.io': resourceClaimTemplate,
  'resourceslices.resource.k8s.io': resourceSlice,
  'rolebindings.rbac.authorization.k8s.io': roleBinding,
  'roles.rbac.authorization.k8s.io': role,
  'runtimeclasses.node.k8s.io': runtimeClass,
}

/** Of the kinds, and of the types that several kinds share. */
export const builtInDefaults: readonly DefaultRules[] = [
  ...sharedCoreDefaults,
  policyPartDefaults,
  ...Object.values(builtInKinds).map(({ defaults = {} }) => defaults),
]
