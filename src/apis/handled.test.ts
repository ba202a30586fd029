/** Which requests each admission plugin is asked about: one that is not asked can't refuse. */
import { expect, test } from 'vitest'
import type { AdmissionPlugin, Operation } from '../admission/admission.ts'
import { loadCatalog } from '../catalog/catalog.ts'
import { type ResourceType, requiredType } from '../kube/resource-type.ts'
import { signingRequestAdmission } from './certificates/admission.ts'
import { clusterQuotaAdmission } from './clusterquotas/admission.ts'
import { clusterQuotaKind } from './clusterquotas/kind.ts'
import { definitionLifecycle } from './crds/admission.ts'
import { namespaceExpiry } from './expiry/admission.ts'
import { ownerReferencesPermission } from './garbage-collection/admission.ts'
import { namespaceInitializers } from './initializers/admission.ts'
import { limitRanger } from './limits/admission.ts'
import {
  namespaceAutoProvision,
  namespaceExists,
  namespaceFinalization,
  namespaceLifecycle,
} from './namespaces/admission.ts'
import { podSecurity } from './pods/security/admission.ts'
import { rbacAdmission } from './rbac/admission.ts'
import { serviceAccountAdmission } from './serviceaccounts/admission.ts'
import { addressProtection } from './services/admission.ts'
import { namespaceTemplates } from './templates/admission.ts'
import { namespacePopulation } from './templates/create-populated.ts'
import { templateKinds } from './templates/kind.ts'
import { templateProtection } from './templates/protection.ts'
import { appliedRecord } from './templates/record-admission.ts'

const catalog = loadCatalog()
const builtIn = (path: string): ResourceType => {
  const [group = '', version = '', resource = ''] = path.split('/')
  return requiredType(catalog.types, { group, version, resource })
}
const rbac = (resource: string): ResourceType => builtIn(`rbac.authorization.k8s.io/v1/${resource}`)
const service = builtIn('/v1/services')
const types: readonly ResourceType[] = [
  ...['/v1/namespaces', '/v1/pods', '/v1/configmaps', '/v1/persistentvolumeclaims', '/v1/nodes'].map(builtIn),
  ...['apps/v1/deployments', 'networking.k8s.io/v1/ipaddresses'].map(builtIn),
  ...['certificates.k8s.io/v1/certificatesigningrequests'].map(builtIn),
  ...['authorization.k8s.io/v1/localsubjectaccessreviews'].map(builtIn),
  ...['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'].map(rbac),
  ...templateKinds.map((kind) => catalog.declare(kind)),
  catalog.declare(clusterQuotaKind),
  { ...builtIn('/v1/configmaps'), group: 'ex.io', resource: 'widgets', custom: true },
  // Kinds of others with names that are ours.
  ...['namespaces', 'pods', 'ipaddresses', 'roles', 'namespacetemplates', 'clusterresourcequotas'].map((resource) => ({
    ...builtIn('/v1/configmaps'),
    ...{ group: 'ex.io', resource, custom: true },
  })),
]

const nothing = {} as never
const inUse = { isInUse: () => true, onUse: () => {} }
const plugins: readonly AdmissionPlugin[] = [
  namespaceLifecycle(nothing, () => false),
  namespaceFinalization(nothing),
  namespaceExists(nothing),
  namespaceAutoProvision(nothing, async () => {}),
  namespaceInitializers(nothing),
  namespaceExpiry(nothing),
  namespaceTemplates(nothing),
  namespacePopulation(nothing),
  templateProtection({ protects: ({ resource }: ResourceType) => resource !== 'pods' } as never),
  appliedRecord(nothing),
  clusterQuotaAdmission(inUse as never),
  limitRanger(nothing),
  serviceAccountAdmission(nothing),
  podSecurity({ settings: {} } as never),
  addressProtection(service),
  rbacAdmission(nothing),
  signingRequestAdmission(nothing),
  definitionLifecycle(nothing, () => undefined),
  ownerReferencesPermission(nothing),
]

const operations: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT']
const nameOf = ({ group, resource }: ResourceType, subresource: string): string =>
  `${resource}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`

/** `CREATE mutate decide` → what it is asked about with these. */
function handledBy(plugin: AdmissionPlugin): Record<string, string[]> {
  const found: Record<string, string[]> = {}
  for (const operation of operations) {
    for (const type of types) {
      for (const subresource of ['', ...type.subresources.keys()]) {
        const halves = plugin.handles(operation, type, subresource)
        if (halves === false) continue
        const key = halves === true ? operation : `${operation} ${halves.join(' ')}`
        const names = (found[key] ??= [])
        names.push(nameOf(type, subresource))
      }
    }
  }
  return found
}

const ofPods = ['attach', 'binding', 'ephemeralcontainers', 'eviction', 'exec', 'log', 'portforward', 'proxy', 'resize']
const pods = ['pods', ...ofPods.map((sub) => `pods/${sub}`), 'pods/status'].join(' ')
const custom = ['widgets', 'namespaces', 'pods', 'ipaddresses', 'roles', 'namespacetemplates', 'clusterresourcequotas']
const customs = custom.map((resource) => `${resource}.ex.io`).join(' ')
const claims = 'configmaps persistentvolumeclaims persistentvolumeclaims/status'
const deployments = 'deployments.apps deployments.apps/scale deployments.apps/status'
const reviews = 'localsubjectaccessreviews.authorization.k8s.io'
const ofRbac = (...resources: string[]) => resources.map((name) => `${name}.rbac.authorization.k8s.io`).join(' ')
const roles = ofRbac('roles', 'rolebindings')
const namespaces = 'namespaces namespaces/finalize namespaces/status'
const templates = 'namespacetemplates.policy.borough.dev namespacetemplates.policy'
const requests = 'certificatesigningrequests.certificates.k8s.io'
/** All that lives in namespaces, sub-resources included; reviews of access must not tell whether there is one. */
const content = `${pods} ${claims} ${deployments} ${roles} ${customs}`
const contentAndReviews = `${pods} ${claims} ${deployments} ${reviews} ${roles} ${customs}`
const whole = `configmaps persistentvolumeclaims deployments.apps ${reviews} ${roles} ${customs}`
const protectedKinds = `${claims} ${deployments} ${reviews} ${roles} ${customs.replace(' pods.ex.io', '')}`
const everyRole = ofRbac('roles', 'clusterroles', 'rolebindings', 'clusterrolebindings')
const judgedPods = pods.replace(' pods/binding', '').replace(' pods/eviction', '').replace(' pods/status', '')
const everything = types
  .flatMap((type) => ['', ...type.subresources.keys()].map((subresource) => nameOf(type, subresource)))
  .join(' ')

const all: Readonly<Record<string, Record<string, string>>> = {
  NamespaceLifecycle: {
    'CREATE mutate decide': content,
    'CREATE ': reviews,
    'UPDATE mutate': content,
    'UPDATE ': reviews,
    'DELETE validate': namespaces,
  },
  NamespaceFinalization: { UPDATE: 'namespaces/finalize' },
  NamespaceExists: { CREATE: contentAndReviews, UPDATE: contentAndReviews, DELETE: contentAndReviews },
  NamespaceAutoProvision: { CREATE: contentAndReviews },
  NamespaceInitializers: { CREATE: `namespaces ${content}`, UPDATE: `namespaces ${content}`, DELETE: content },
  NamespaceExpiry: { 'CREATE validate': namespaces, 'UPDATE validate': namespaces },
  NamespaceTemplates: {
    ...Object.fromEntries(
      ['CREATE', 'UPDATE', 'CONNECT'].map((operation) => [operation, `${namespaces} ${templates}`]),
    ),
    'DELETE validate': templates,
  },
  NamespacePopulation: { CREATE: 'namespaces' },
  TemplateProtection: Object.fromEntries(
    ['CREATE', 'UPDATE', 'DELETE'].map((operation) => [`${operation} validate`, protectedKinds]),
  ),
  AppliedRecord: { CREATE: `pods ${whole}`, UPDATE: `${namespaces} pods ${whole}` },
  ClusterResourceQuotas: {
    'UPDATE decide': namespaces,
    'UPDATE validate': 'clusterresourcequotas.policy.borough.dev',
  },
  LimitRanger: {
    CREATE: 'pods',
    'CREATE validate': 'persistentvolumeclaims',
    'UPDATE validate': 'pods/resize persistentvolumeclaims',
    'CONNECT validate': 'persistentvolumeclaims',
  },
  ServiceAccount: { CREATE: 'pods', UPDATE: 'pods/ephemeralcontainers' },
  PodSecurity: {
    'CREATE validate': 'namespaces deployments.apps',
    CREATE: judgedPods,
    'UPDATE validate': 'namespaces deployments.apps',
    UPDATE: judgedPods,
  },
  IpAddressProtection: { DELETE: 'ipaddresses.networking.k8s.io' },
  RbacEscalation: { CREATE: everyRole, UPDATE: everyRole, CONNECT: everyRole },
  CertificateSigningRequests: { CREATE: requests, UPDATE: `${requests}/approval ${requests}/status` },
  CustomResourceDefinitions: { CREATE: customs },
  OwnerReferencesPermissionEnforcement: {
    // Kubelets may write it.
    'CREATE validate': everything.replace(' pods/status', ''),
    'UPDATE validate': everything.replace(' pods/status', ''),
  },
}

test.each(plugins)('$name', (plugin) => {
  const found = Object.entries(handledBy(plugin)).map(([key, names]) => [key, names.join(' ')])
  expect(Object.fromEntries(found)).toEqual(all[plugin.name])
})
