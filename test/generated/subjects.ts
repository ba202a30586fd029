/**
 * What is varied: one valid object of every kind that is served and can be created, ours and a custom one among
 * them, and where it is sent.
 */
import { defaultAdmissionSettings } from '../../src/apis/controlplane/admission-settings.ts'
import { defaultConfig } from '../../src/app/config.ts'
import { featuresOf } from '../../src/app/features.ts'
import { type Catalog, loadCatalog } from '../../src/catalog/catalog.ts'
import { apiVersionOf, type GroupVersionKind } from '../../src/kube/gvk.ts'
import type { ResourceType } from '../../src/kube/resource-type.ts'
import type { Schema } from '../../src/kube/schema/schema.ts'
import type { JsonObject } from '../../src/kube/types.ts'
import { janeRequest } from '../support/signing-requests.ts'
import { validObjects } from '../support/valid-objects.ts'

export interface Subject {
  /** `v1 Pod` */
  readonly title: string
  /** Of the collection. */
  readonly path: string
  readonly gvk: GroupVersionKind
  readonly schema: Schema
  /** Complete with kind and apiVersion. */
  readonly object: JsonObject
  /** Can be read and changed: not one that is only asked. */
  readonly isKept: boolean
  readonly hasStatus: boolean
  readonly isCustom: boolean
  /** Acts on requests for other objects as soon as it is stored, so it is sent in dry runs alone. */
  readonly isFarReaching: boolean
}

const named = { metadata: { name: 'x' } }
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' }
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]
const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'default' }
const devices = { requests: [{ name: 'r', exactly: { deviceClassName: 'd', allocationMode: 'ExactCount', count: 1 } }] }

/** Valid objects of kinds without rules of validation to try elsewhere, by `apiVersion kind`. */
const others: Readonly<Record<string, object>> = {
  // Of a pod that `furnish` makes.
  'v1 Binding': { metadata: { name: 'waiting' }, target: { kind: 'Node', name: 'n' } },
  'v1 Namespace': { ...named, spec: { finalizers: ['a.io/b'] } },
  'v1 Node': { ...named, spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] }, status: { capacity: { cpu: '1' } } },
  'v1 ServiceAccount': { ...named, secrets: [{ name: 's' }], imagePullSecrets: [{ name: 's' }] },
  'authentication.k8s.io/v1 SelfSubjectReview': {},
  'authentication.k8s.io/v1 TokenReview': { spec: { token: 't' } },
  'authorization.k8s.io/v1 LocalSubjectAccessReview': { spec: { user: 'u', resourceAttributes } },
  'authorization.k8s.io/v1 SelfSubjectAccessReview': { spec: { resourceAttributes } },
  'authorization.k8s.io/v1 SelfSubjectRulesReview': { spec: { namespace: 'default' } },
  'authorization.k8s.io/v1 SubjectAccessReview': { spec: { user: 'u', resourceAttributes } },
  'certificates.k8s.io/v1 CertificateSigningRequest': {
    ...named,
    spec: { request: janeRequest, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] },
  },
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding': { ...named, roleRef, subjects: [{ kind: 'User', name: 'u' }] },
  'rbac.authorization.k8s.io/v1 ClusterRole': { ...named, rules },
  'rbac.authorization.k8s.io/v1 RoleBinding': { ...named, roleRef, subjects: [{ kind: 'User', name: 'u' }] },
  'rbac.authorization.k8s.io/v1 Role': { ...named, rules },
  'policy.borough.dev/v1alpha1 ClusterResourceQuota': {
    ...named,
    spec: { selector: { labels: { matchLabels: { a: 'b' } } }, quota: { hard: { configmaps: '10' } } },
  },
  'storage.k8s.io/v1 CSIStorageCapacity': { ...named, storageClassName: 's', capacity: '1Gi' },
  'storage.k8s.io/v1 VolumeAttributesClass': { ...named, driverName: 'd', parameters: { a: 'b' } },
  'apiextensions.k8s.io/v1 CustomResourceDefinition': {
    metadata: { name: 'gadgets.ex.io' },
    spec: {
      group: 'ex.io',
      scope: 'Namespaced',
      names: { plural: 'gadgets', kind: 'Gadget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  },
  'flowcontrol.apiserver.k8s.io/v1 FlowSchema': { ...named, spec: { priorityLevelConfiguration: { name: 'p' } } },
  'flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration': {
    ...named,
    spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
  },
  'resource.k8s.io/v1 DeviceClass': { ...named, spec: {} },
  'resource.k8s.io/v1 ResourceClaim': { ...named, spec: { devices } },
  'resource.k8s.io/v1 ResourceClaimTemplate': { ...named, spec: { spec: { devices } } },
  'resource.k8s.io/v1 ResourceSlice': {
    ...named,
    spec: { driver: 'd.io', nodeName: 'n', pool: { name: 'p', generation: 1, resourceSliceCount: 1 } },
  },
  'policy.borough.dev/v1alpha1 NamespaceTemplate': template(),
  'policy/v1alpha1 NamespaceTemplate': template(),
  'admissionregistration.k8s.io/v1alpha1 NamespaceInitializerConfiguration': {
    ...named,
    initializers: [{ name: 'a.ex.io' }],
  },
}

function template(): object {
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: '$(NAMESPACE)' } }
  const namespaces = { labelSelector: { matchLabels: { none: 'such' } }, nameSelector: { include: ['x-*'] } }
  return { ...named, spec: { namespaces, templates: [map] } }
}

/** A pod that every plugin has something to say about: see `furnish`. */
const busyPod = {
  metadata: { name: 'x', labels: { a: 'b' }, annotations: { c: 'd' }, ownerReferences: [] },
  spec: {
    runtimeClassName: 'r',
    priorityClassName: 'p',
    serviceAccountName: 'default',
    tolerations: [{ key: 'k', operator: 'Exists' }],
    initContainers: [{ name: 'i', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
    volumes: [{ name: 'v', emptyDir: {} }],
    containers: [
      {
        name: 'c',
        image: 'i',
        env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }],
        envFrom: [{ secretRef: { name: 's' } }],
        resources: { requests: { cpu: '1m' } },
        securityContext: { runAsNonRoot: true },
      },
    ],
  },
}

/** A custom kind, as `furnish` defines it, and the schema that it has in the server. */
export const widgetDefinition = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1, default: 1 },
        mode: { type: 'string', enum: ['on', 'off'], default: 'on' },
        any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port'],
          items: {
            type: 'object',
            required: ['port'],
            properties: { port: { type: 'integer' }, name: { type: 'string', nullable: true } },
            'x-kubernetes-validations': [{ rule: 'self.port > 0' }],
          },
        },
      },
      'x-kubernetes-validations': [{ rule: "self.mode == 'on' || self.size < 10" }],
    },
    status: { type: 'object', properties: { ready: { type: 'boolean' } } },
  },
} as const

const text: Schema = { type: 'string' }
const widgetSchema = (metadata: Schema): Schema => ({
  type: 'object',
  properties: new Map<string, Schema>([
    ['apiVersion', text],
    ['kind', text],
    ['metadata', metadata],
    [
      'spec',
      {
        type: 'object',
        properties: new Map<string, Schema>([
          ['size', { type: 'integer' }],
          ['mode', text],
          ['any', { type: 'object', additionalProperties: { type: 'any' } }],
          [
            'ports',
            {
              type: 'array',
              items: {
                type: 'object',
                properties: new Map<string, Schema>([
                  ['port', { type: 'integer' }],
                  ['name', text],
                ]),
              },
            },
          ],
        ]),
      },
    ],
    ['status', { type: 'object', properties: new Map<string, Schema>([['ready', { type: 'boolean' }]]) }],
  ]),
})

export function subjects(): Subject[] {
  const catalog = loadCatalog()
  // Declared only: no feature is opened, so none needs a key.
  const features = featuresOf(defaultConfig, {
    caCert: '',
    signClientCertificate: () => '',
    flowControl: { configure: () => [], metrics: () => [] },
    admission: defaultAdmissionSettings,
  })
  const own = features.list.flatMap(({ kinds = [] }) => kinds)
  const types = [...catalog.types.all(), ...own.map((kind) => catalog.declare(kind))]
  const made = types.filter((type) => type.verbs.includes('create')).map((type) => subjectOf(type, validOf(type)))
  const pod = made.find(({ title }) => title === 'v1 Pod') as Subject
  return [...made, { ...pod, title: 'v1 Pod with much to it', object: { ...pod.object, ...busyPod } }, widget(catalog)]
}

const pathOf = ({ group, version, resource, namespaced }: ResourceType): string =>
  `${group === '' ? '/api' : `/apis/${group}`}/${version}/${namespaced ? 'namespaces/default/' : ''}${resource}`

function validOf(type: ResourceType): object {
  const known = Object.values(validObjects).find(({ path }) => path === pathOf(type))?.body
  const found = known ?? others[`${apiVersionOf(type)} ${type.kind}`]
  if (found === undefined) throw new Error(`no valid object of ${apiVersionOf(type)} ${type.kind} is known`)
  return found
}

const farReaching = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'policy',
  'policy.borough.dev',
])
const isFarReaching = ({ group, kind, version }: GroupVersionKind): boolean =>
  kind === 'Namespace' || (farReaching.has(group) && !(group === 'policy' && version === 'v1'))

function subjectOf(type: ResourceType, object: object): Subject {
  const { group, version, kind, schema, verbs, subresources } = type
  const apiVersion = apiVersionOf(type)
  const gvk = { group, version, kind }
  return {
    title: `${apiVersion} ${kind}`,
    path: pathOf(type),
    gvk,
    schema,
    object: { apiVersion, kind, ...object },
    isKept: type.stored && verbs.includes('update'),
    hasStatus: subresources.get('status')?.verbs.includes('update') ?? false,
    isCustom: false,
    isFarReaching: isFarReaching(gvk),
  }
}

const widget = (catalog: Catalog): Subject => ({
  title: 'ex.io/v1 Widget',
  path: '/apis/ex.io/v1/namespaces/default/widgets',
  gvk: { group: 'ex.io', version: 'v1', kind: 'Widget' },
  isKept: true,
  hasStatus: true,
  isCustom: true,
  isFarReaching: false,
  schema: widgetSchema(catalog.schemaOf('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta')),
  object: {
    apiVersion: 'ex.io/v1',
    kind: 'Widget',
    metadata: { name: 'x' },
    spec: { size: 1, mode: 'on', any: { a: 1 }, ports: [{ port: 80, name: 'http' }] },
  },
})
