/**
 * How the registry treats each kind, where it is not the default and no folder under `apis/` says so. Keys are
 * `resource` or `resource.group`.
 * @see the strategy.go of each resource in pkg/registry of Kubernetes 1.36: AllowCreateOnUpdate,
 *   AllowUnconditionalUpdate, PrepareForCreate; ReturnDeletedObject of its storage; Validate*Name of its validation
 */
import { isCanonicalIp } from '../../kube/ip-address.ts'
import { type NameRule, nameIsDns1035, nameIsLabel, nameIsPathSegment } from '../../kube/names.ts'

const set = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** PUT makes what is missing. */
export const createOnUpdate: ReadonlySet<string> = set(
  'endpoints events limitranges services events.events.k8s.io leases.coordination.k8s.io runtimeclasses.node.k8s.io',
)

/** An update must carry a resourceVersion. */
export const conditionalUpdate: ReadonlySet<string> = set(
  'leases.coordination.k8s.io poddisruptionbudgets.policy customresourcedefinitions.apiextensions.k8s.io ' +
    'apiservices.apiregistration.k8s.io runtimeclasses.node.k8s.io csidrivers.storage.k8s.io csinodes.storage.k8s.io ' +
    'csistoragecapacities.storage.k8s.io volumeattachments.storage.k8s.io ' +
    'mutatingwebhookconfigurations.admissionregistration.k8s.io ' +
    'validatingwebhookconfigurations.admissionregistration.k8s.io ' +
    'mutatingadmissionpolicies.admissionregistration.k8s.io ' +
    'mutatingadmissionpolicybindings.admissionregistration.k8s.io ' +
    'validatingadmissionpolicies.admissionregistration.k8s.io ' +
    'validatingadmissionpolicybindings.admissionregistration.k8s.io',
)

/** DELETE answers with the object. */
export const returnsDeleted: ReadonlySet<string> = set(
  'namespaces persistentvolumeclaims persistentvolumes pods podtemplates resourcequotas serviceaccounts services ' +
    'csidrivers.storage.k8s.io csinodes.storage.k8s.io storageclasses.storage.k8s.io volumeattachments.storage.k8s.io',
)

/** Status is taken from whoever makes the object. */
export const keepsNewStatus: ReadonlySet<string> = set('nodes')

/** metadata.generation counts the changes of what is wanted. */
export const tracksGeneration: ReadonlySet<string> = set(
  'pods podtemplates replicationcontrollers daemonsets.apps deployments.apps replicasets.apps statefulsets.apps ' +
    'cronjobs.batch jobs.batch poddisruptionbudgets.policy ingresses.networking.k8s.io ' +
    'ingressclasses.networking.k8s.io networkpolicies.networking.k8s.io endpointslices.discovery.k8s.io ' +
    'customresourcedefinitions.apiextensions.k8s.io flowschemas.flowcontrol.apiserver.k8s.io ' +
    'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io csidrivers.storage.k8s.io ' +
    'mutatingwebhookconfigurations.admissionregistration.k8s.io ' +
    'validatingwebhookconfigurations.admissionregistration.k8s.io ' +
    'mutatingadmissionpolicies.admissionregistration.k8s.io ' +
    'mutatingadmissionpolicybindings.admissionregistration.k8s.io ' +
    'validatingadmissionpolicies.admissionregistration.k8s.io ' +
    'validatingadmissionpolicybindings.admissionregistration.k8s.io ' +
    'deviceclasses.resource.k8s.io resourceslices.resource.k8s.io priorityclasses.scheduling.k8s.io',
)

/** The default is a DNS-1123 subdomain. */
export const nameRules: Readonly<Record<string, NameRule>> = {
  namespaces: nameIsLabel,
  services: nameIsDns1035,
  'apiservices.apiregistration.k8s.io': nameIsPathSegment,
  'ipaddresses.networking.k8s.io': isCanonicalIp,
}

const keptOfAll = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const
type KeptMetadata = (typeof keptOfAll)[number]

/**
 * By `resource.group/subresource`; all others take it from who writes.
 * @see PrepareForUpdate and GetResetFields of the status strategies, ResetObjectMetaForStatus in apimachinery v0.36
 */
const kept: Readonly<Record<string, readonly KeptMetadata[]>> = {
  'pods/status': ['ownerReferences'],
  'pods/ephemeralcontainers': keptOfAll,
  'pods/resize': keptOfAll,
  'deployments.apps/status': ['labels'],
  'apiservices.apiregistration.k8s.io/status': keptOfAll,
  'flowschemas.flowcontrol.apiserver.k8s.io/status': keptOfAll,
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/status': keptOfAll,
  'resourceclaims.resource.k8s.io/status': keptOfAll,
  'validatingadmissionpolicies.admissionregistration.k8s.io/status': keptOfAll,
  'volumeattachments.storage.k8s.io/status': keptOfAll,
  // Ours, in both its groups: as where it is a custom resource. Its annotations bound what it gives.
  'namespacetemplates.policy/status': keptOfAll,
  'namespacetemplates.policy.borough.dev/status': keptOfAll,
}
const noMetadata: readonly KeptMetadata[] = []

/** Metadata that a sub-resource leaves as it was. `resource`: `deployments.apps` */
export const keptMetadata = (resource: string, subresource: string): readonly KeptMetadata[] =>
  kept[`${resource}/${subresource}`] ?? noMetadata

/** Propagation policies mean nothing for them. */
export const notGarbageCollected: ReadonlySet<string> = set('events events.events.k8s.io')

/**
 * A DELETE without a policy leaves what they own behind, as it did before there were policies.
 * @see DefaultGarbageCollectionPolicy in pkg/registry of Kubernetes v1.36
 */
export const orphansDependents: ReadonlySet<string> = set('replicationcontrollers jobs.batch')
