/** Bodies of built-in kinds: one for each that judges, counts or compiles what it holds. */
import { type Body, core, definition, definitions, type Json, keyed, many, metadata, rules } from './loop-values.ts'

const admission = '/apis/admissionregistration.k8s.io/v1'

const podSpec = (more: Record<string, Json>): Record<string, Json> => ({
  containers: [{ name: 'main', image: 'image', ...more }],
})

export const kindBodies: readonly Body[] = [
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
