/**
 * The largest bodies that the server takes, one for each shape that costs: at most 3 MiB and 30,000 values, whatever
 * of these bounds it first. `npm run bench -- --only loop` sends them.
 */

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

export interface Body {
  readonly what: string
  /** Of the collection. */
  readonly path: string
  /** Says the whole object again, changed by `value`; its name is `large`. */
  readonly object: (value: string) => Record<string, Json>
  /** Upstream's validation has no place for it: it is read, decoded and judged all the same. */
  readonly refused?: true
}

const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const keyed = (count: number, value: (i: number) => Json, prefix = 'key'): Record<string, Json> =>
  Object.fromEntries(many(count, (i) => [`${prefix}${i}`, value(i)]))

const core = '/api/v1/namespaces/loop'
const metadata = { name: 'large' }
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata }
const configMaps = `${core}/configmaps`
const admission = '/apis/admissionregistration.k8s.io/v1'

/** A definition whose only version has this schema for `spec`. */
const definition = (plural: string, spec: Json): Record<string, Json> => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.loop.example` },
  spec: {
    group: 'loop.example',
    names: { kind: plural, plural },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      },
    ],
  },
})

export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** Whose objects may hold anything. */
export const openDefinition: Record<string, Json> = definition('opens', {
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
})
const open = { apiVersion: 'loop.example/v1', kind: 'opens', metadata }
const opens = '/apis/loop.example/v1/namespaces/loop/opens'

const nested = (depth: number, value: Json): Json => {
  let inner = value
  for (let i = 0; i < depth; i++) inner = { a: inner }
  return inner
}

const podSpec = (more: Record<string, Json>): Record<string, Json> => ({
  containers: [{ name: 'main', image: 'image', ...more }],
})

const rules = (count: number, value: string): Json[] =>
  many(count, (i) => ({ apiGroups: [''], resources: [`r${i}-${value}`], verbs: ['get'] }))

export const bodies: readonly Body[] = [
  {
    what: 'a map of 29,000 keys',
    path: configMaps,
    object: (value) => ({ ...configMap, data: keyed(29_000, () => value) }),
  },
  {
    what: 'a map with long keys',
    path: configMaps,
    object: (value) => ({ ...configMap, data: keyed(5_000, () => value, 'k'.repeat(240)) }),
  },
  {
    what: 'two maps of 14,000 keys',
    path: configMaps,
    object: (value) => ({
      ...configMap,
      data: keyed(14_000, () => value),
      binaryData: keyed(14_000, () => (value === 'a' ? 'AAAA' : 'BBBB'), 'other'),
    }),
  },
  {
    what: 'one value of 1.4 MB',
    path: configMaps,
    object: (value) => ({ ...configMap, data: { key: value.repeat(1_400_000) } }),
  },
  {
    what: 'one value of 1.4 MB of what JSON escapes',
    path: configMaps,
    object: (value) => ({ ...configMap, data: { key: `${value}\n"é`.repeat(200_000) } }),
  },
  {
    what: '29,000 unknown fields',
    path: configMaps,
    object: (value) => ({ ...configMap, data: { value }, ...keyed(29_000, () => 'v') }),
    refused: true,
  },
  {
    what: '2,900 unknown fields with long names',
    path: configMaps,
    object: (value) => ({ ...configMap, data: { value }, ...keyed(2_900, () => 'v', 'k'.repeat(1_000)) }),
    refused: true,
  },
  {
    what: '29,000 labels',
    path: configMaps,
    object: (value) => ({ ...configMap, metadata: { ...metadata, labels: keyed(29_000, () => value) } }),
  },
  {
    what: '29,000 labels that are none',
    path: configMaps,
    object: () => ({ ...configMap, metadata: { ...metadata, labels: keyed(29_000, () => '/') } }),
    refused: true,
  },
  {
    what: '15,000 annotations',
    path: configMaps,
    object: (value) => ({ ...configMap, metadata: { ...metadata, annotations: keyed(15_000, () => value) } }),
  },
  {
    what: '29,000 finalizers',
    path: configMaps,
    object: (value) => ({
      ...configMap,
      data: { value },
      metadata: { ...metadata, finalizers: many(29_000, (i) => `loop.example/f${i}`) },
    }),
  },
  {
    what: '5,700 ownerReferences',
    path: configMaps,
    object: (value) => ({
      ...configMap,
      data: { value },
      metadata: {
        ...metadata,
        ownerReferences: many(5_700, (i) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: `o${i}`, uid: `u${i}` })),
      },
    }),
  },
  {
    what: '3,500 managedFields',
    path: configMaps,
    object: (value) => ({
      ...configMap,
      data: { value },
      metadata: {
        ...metadata,
        managedFields: many(3_500, (i) => ({
          manager: `m${i}`,
          operation: 'Apply',
          apiVersion: 'v1',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:data': { [`f:k${i}`]: {} } },
        })),
      },
    }),
  },
  {
    what: 'managedFields of 14,000 fields',
    path: configMaps,
    object: (value) => ({
      ...configMap,
      data: keyed(14_000, () => value),
      metadata: {
        ...metadata,
        managedFields: [
          {
            manager: 'other',
            operation: 'Apply',
            apiVersion: 'v1',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:data': keyed(14_000, () => ({}), 'f:key') },
          },
        ],
      },
    }),
  },
  {
    what: 'an object of any form with 29,000 keys',
    path: opens,
    object: (value) => ({ ...open, spec: keyed(29_000, () => value) }),
  },
  {
    what: 'an object of any form with 290 maps of 99 keys',
    path: opens,
    object: (value) => ({ ...open, spec: keyed(290, (i) => keyed(99, () => value, `k${i}-`)) }),
  },
  {
    what: 'an object of any form with a list of 29,000',
    path: opens,
    object: (value) => ({ ...open, spec: { list: many(29_000, (i) => `${value}${i}`) } }),
  },
  {
    what: 'an object of any form 900 levels deep, 30 times',
    path: opens,
    object: (value) => ({ ...open, spec: { list: many(30, () => nested(900, value)) } }),
  },
  {
    what: 'an object of any form with 14,000 small objects',
    path: opens,
    object: (value) => ({ ...open, spec: { list: many(14_000, (i) => ({ [`a${i}`]: value })) } }),
  },
  {
    what: 'a Pod with 9,500 variables',
    path: `${core}/pods`,
    object: (value) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadata, labels: { value } },
      spec: podSpec({ env: many(9_500, (i) => ({ name: `E${i}`, value: 'v' })) }),
    }),
  },
  {
    what: 'a Deployment with 9,500 containers',
    path: `/apis/apps/v1/namespaces/loop/deployments`,
    object: (value) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { ...metadata, labels: { value } },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: {
          metadata: { labels: { a: 'b' } },
          spec: { containers: many(9_500, (i) => ({ name: `c${i}`, image: 'i' })) },
        },
      },
    }),
  },
  {
    what: 'a Deployment with 4,700 volumes and mounts',
    path: `/apis/apps/v1/namespaces/loop/deployments`,
    object: (value) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'large', labels: { value } },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: {
          metadata: { labels: { a: 'b' } },
          spec: {
            ...podSpec({ volumeMounts: many(4_700, (i) => ({ name: `v${i}`, mountPath: `/m${i}` })) }),
            volumes: many(4_700, (i) => ({ name: `v${i}`, emptyDir: {} })),
          },
        },
      },
    }),
  },
  {
    what: 'a Service with 9,500 ports',
    path: `${core}/services`,
    object: (value) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...metadata, labels: { value } },
      spec: { selector: { a: 'b' }, ports: many(9_500, (i) => ({ name: `p${i}`, port: i + 1 })) },
    }),
  },
  {
    what: 'Endpoints with 14,000 addresses',
    path: `${core}/endpoints`,
    object: (value) => ({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { ...metadata, labels: { value } },
      subsets: [
        { addresses: many(14_000, (i) => ({ ip: `10.1.${i >> 8}.${i & 255}` })), ports: [{ name: 'p', port: 80 }] },
      ],
    }),
  },
  {
    what: 'a NetworkPolicy with selectors of 29,000 values',
    path: '/apis/networking.k8s.io/v1/namespaces/loop/networkpolicies',
    object: (value) => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { ...metadata, labels: { value } },
      spec: {
        podSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: many(29_000, (i) => `v${i}`) }] },
      },
    }),
  },
  {
    what: 'a Role with 4,100 rules',
    path: '/apis/rbac.authorization.k8s.io/v1/namespaces/loop/roles',
    object: (value) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata,
      rules: rules(4_100, value),
    }),
  },
  {
    what: 'a Role with one rule of 29,000 names',
    path: '/apis/rbac.authorization.k8s.io/v1/namespaces/loop/roles',
    object: (value) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'large' },
      rules: [
        { apiGroups: [''], resources: ['pods'], verbs: ['get'], resourceNames: many(29_000, (i) => `${value}${i}`) },
      ],
    }),
  },
  {
    what: 'a RoleBinding with 7,200 subjects',
    path: '/apis/rbac.authorization.k8s.io/v1/namespaces/loop/rolebindings',
    object: (value) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: many(7_200, (i) => ({ kind: 'User', name: `${value}${i}`, apiGroup: 'rbac.authorization.k8s.io' })),
    }),
  },
  {
    what: 'a ResourceQuota with 29,000 names',
    path: `${core}/resourcequotas`,
    object: (value) => ({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { ...metadata, labels: { value } },
      spec: { hard: keyed(29_000, () => '1', 'count/') },
    }),
  },
  {
    what: 'a LimitRange with 29,000 resources',
    path: `${core}/limitranges`,
    object: (value) => ({
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { ...metadata, labels: { value } },
      spec: { limits: [{ type: 'Container', default: keyed(29_000, () => '1', 'loop.example/') }] },
    }),
  },
  {
    what: 'a definition with 14,000 properties',
    path: definitions,
    object: (value) => ({
      ...definition('larges', { type: 'object', properties: keyed(14_000, () => ({ type: 'string' }), `a${value}`) }),
    }),
  },
  {
    what: 'a definition with an enum of 29,000',
    path: definitions,
    object: (value) => definition('enums', { type: 'string', enum: many(29_000, (i) => `${value}${i}`) }),
  },
  {
    what: 'a definition with 14,000 CEL rules',
    path: definitions,
    object: (value) =>
      definition('rules', {
        type: 'object',
        properties: { a: { type: 'string' } },
        'x-kubernetes-validations': many(14_000, (i) => ({ rule: `self.a == '${value}${i}'` })),
      }),
    refused: true,
  },
  {
    what: 'a definition with 500 versions',
    path: definitions,
    object: (value) => {
      const made = definition('versions', { type: 'object' })
      const spec = made['spec'] as Record<string, Json>
      const [version] = spec['versions'] as Record<string, Json>[]
      const versions = many(500, (i) => ({ ...version, name: `v${i + 1}`, storage: i === 0 }))
      return { ...made, metadata: { name: 'versions.loop.example', labels: { value } }, spec: { ...spec, versions } }
    },
  },
  {
    what: 'a webhook configuration with 1,700 webhooks',
    path: `${admission}/validatingwebhookconfigurations`,
    object: (value) => ({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { ...metadata, labels: { value } },
      webhooks: many(1_700, (i) => ({
        name: `w${i}.loop.example`,
        clientConfig: { url: 'https://127.0.0.1:1/' },
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Ignore',
        rules: [{ apiGroups: ['none.example'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nothing'] }],
      })),
    }),
  },
  {
    what: 'an admission policy with 14,000 validations',
    path: `${admission}/validatingadmissionpolicies`,
    object: (value) => ({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { ...metadata, labels: { value } },
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: ['none.example'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nothing'] },
          ],
        },
        validations: many(14_000, (i) => ({ expression: `object.metadata.name != 'x${i}'` })),
      },
    }),
  },
  {
    what: 'a template with a map of 29,000 keys',
    path: '/apis/policy.borough.dev/v1alpha1/namespacetemplates',
    object: (value) => ({
      apiVersion: 'policy.borough.dev/v1alpha1',
      kind: 'NamespaceTemplate',
      metadata,
      spec: {
        namespaces: { nameSelector: { include: ['nothing-*'] } },
        templates: [
          { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made' }, data: keyed(29_000, () => value) },
        ],
      },
    }),
  },
  {
    what: 'a namespace with 29,000 labels',
    path: '/api/v1/namespaces',
    object: (value) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'large', labels: keyed(29_000, () => value) },
    }),
  },
  {
    what: 'an Event with 29,000 labels',
    path: `${core}/events`,
    object: (value) => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { ...metadata, labels: keyed(29_000, () => value) },
      involvedObject: { namespace: 'loop' },
    }),
  },
]

/** Asked once: nothing is stored. */
export const reviews: readonly { readonly what: string; readonly path: string; readonly body: Json }[] = [
  {
    what: 'a review with 14,000 extras',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: 'u', extra: keyed(14_000, () => ['v']), nonResourceAttributes: { path: '/', verb: 'get' } },
    },
  },
  {
    what: 'a review with 29,000 groups',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: 'u', groups: many(29_000, (i) => `g${i}`), nonResourceAttributes: { path: '/', verb: 'get' } },
    },
  },
  {
    what: 'a TokenReview with 29,000 audiences',
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token: 'none', audiences: many(29_000, (i) => `a${i}`) },
    },
  },
  {
    what: 'a review of rules, 4,100 of them in a Role',
    path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectRulesReview',
      spec: { namespace: 'loop' },
    },
  },
]
