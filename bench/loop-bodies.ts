/**
 * The largest bodies that the server takes, one for each shape that costs: at most 3 MiB and 30,000 values, whatever
 * of these bounds it first. `npm run bench -- --only loop` sends them.
 */
import { kindBodies } from './loop-kinds.ts'
import { type Body, core, definition, type Json, keyed, many, metadata } from './loop-values.ts'

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata }
const configMaps = `${core}/configmaps`

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
    what: 'an object of any form, 28,000 keys and one that is null 900 levels down',
    path: opens,
    object: (value) => ({ ...open, spec: nested(900, { ...keyed(28_000, () => value), gone: null }) }),
  },
  {
    what: 'an object of any form, 5,000 items and 1 MB of what JSON escapes 900 levels down',
    path: opens,
    object: (value) => ({ ...open, spec: nested(900, ['"'.repeat(1_000_000), ...many(5_000, () => value)]) }),
  },
  {
    what: 'an object of any form, a text of 350,000 lines 900 levels down',
    path: opens,
    object: (value) => ({ ...open, spec: nested(900, `${value}\n`.repeat(350_000)) }),
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
  ...kindBodies,
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
