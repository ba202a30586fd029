/**
 * What Borough serves and does beyond the built-in kinds: explicit lists, in order. Read this to see what there is.
 */
import { initializerConfigurationProperties } from '../apis/initializers/types.ts'
import { templateGroups, templateProperties, templateResourceName, templateVersion } from '../apis/templates/types.ts'
import type { TypeDeclaration } from '../catalog/catalog.ts'
import type { Column } from '../kube/resource-type.ts'

const templateColumns: readonly Column[] = [
  { name: 'Matched', type: 'integer', jsonPath: '.status.matched', description: 'Namespaces it selects.' },
  {
    name: 'Synced',
    type: 'integer',
    jsonPath: '.status.synced',
    description: 'Of them, those that hold what it says.',
  },
  { name: 'Failed', type: 'integer', jsonPath: '.status.failed', description: 'Of them, those that do not.' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Since it was created.' },
  {
    name: 'Waiting',
    type: 'integer',
    jsonPath: '.status.waiting',
    description: 'Namespaces whose turn to be changed has not come.',
    priority: 1,
  },
  {
    name: 'Rollout',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Progressing")].reason',
    description: 'Complete, RollingOut, or why it stopped.',
    priority: 1,
  },
]

export const templateKind = 'NamespaceTemplate'

/** Kinds of ours. */
export const ownKinds: readonly TypeDeclaration[] = [
  ...templateGroups.map(
    (group): TypeDeclaration => ({
      group,
      version: templateVersion,
      resource: templateResourceName,
      kind: templateKind,
      namespaced: false,
      properties: Object.fromEntries(templateProperties),
      description: 'NamespaceTemplate holds objects that every namespace it selects is given and keeps.',
      hasStatus: true,
      columns: templateColumns,
      // A short name in two groups makes kubectl warn at every use.
      ...(group === 'policy' ? { shortNames: ['nstpl'] } : {}),
      storageName: `${templateResourceName}.policy.borough.dev`,
    }),
  ),
  {
    group: 'admissionregistration.k8s.io',
    version: 'v1alpha1',
    resource: 'namespaceinitializerconfigurations',
    kind: 'NamespaceInitializerConfiguration',
    namespaced: false,
    properties: Object.fromEntries(initializerConfigurationProperties),
    description: 'NamespaceInitializerConfiguration names those who act on a new namespace before it may be used.',
  },
]

/** Admission, in the order in which it is asked. Quota comes after all of it: it is asked at the commit (apis/quotas). */
export const admissionOrder = [
  'CustomResourceDefinitions',
  'NamespaceAutoProvision',
  'NamespaceLifecycle',
  'NamespaceExists',
  'LimitRanger',
  'ServiceAccount',
  'PodSecurity',
  'Priority',
  'DefaultTolerationSeconds',
  'DefaultStorageClass',
  'RuntimeClass',
  'DefaultIngressClass',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  // What these check of a namespace must be what is stored, so webhooks have changed it before.
  'NamespaceTemplates',
  'NamespaceInitializers',
  'NamespaceFinalization',
  'NamespaceBirth',
  'NamespacePopulation',
  'IpAddressProtection',
  'CertificateSigningRequests',
  'RbacEscalation',
  'AdmissionPolicyAuthors',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
] as const

export type AdmissionName = (typeof admissionOrder)[number]

/** Controllers, by the service account each acts as. */
export const controllerNames = [
  'namespace-controller',
  'customresourcedefinition-controller',
  'namespace-template-controller',
  'service-account-controller',
  'root-ca-cert-publisher',
  'generic-garbage-collector',
  'clusterrole-aggregation-controller',
  'namespace-initializer-controller',
  'pod-garbage-collector',
  'certificate-controller',
  'apiservice-registration-controller',
  'event-ttl-controller',
  'resourcequota-controller',
  'service-claim-controller',
  'validatingadmissionpolicy-status-controller',
  'mirror-pod-controller',
] as const

export type ControllerName = (typeof controllerNames)[number]
