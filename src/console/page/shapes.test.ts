/** Whatever a server gives in the place of a field: the readers of views take it. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Namespace } from '../../apis/namespaces/types.ts'
import type { NamespaceTemplate } from '../../apis/templates/types.ts'
import type { Binding, ClusterRole, Role } from '../../kube/rbac.ts'
import type { KubeObject } from '../../kube/types.ts'
import { accessRows } from './namespace/access-rows.ts'
import { treeOf } from './namespace/object-tree.ts'
import { previewOf } from './namespaces/draft-preview.ts'
import { rowOf, searchTest } from './namespaces/namespace-row.ts'
import { type Quota, usagesOf } from './namespaces/quota-glance.tsx'
import { fitObject } from './shapes.ts'
import { matcherOf } from './templates/matcher.ts'
import { failuresOf, failureTest, type PopulationEvent } from './templates/template-failures.ts'
import { progressText, wavesOf, wordOf } from './templates/template-state.ts'
import { updatesIn } from './templates/updates.ts'

const when = '2026-11-22T10:00:00Z'
const meta = {
  name: 'team-a',
  namespace: 'team-a',
  uid: 'u',
  generation: 2,
  creationTimestamp: when,
  deletionTimestamp: when,
  labels: { 'policy/namespace-template-name': 'default' },
  annotations: {
    'borough.dev/owner': 'alice',
    'borough.dev/expires-at': when,
    'policy.borough.dev/set-by-templates': '{}',
  },
  finalizers: ['a/b'],
  ownerReferences: [{ uid: 'u', kind: 'ConfigMap', name: 'a' }],
}
const condition = {
  type: 'Populated',
  status: 'False',
  reason: 'Drift',
  message: 'ConfigMap/a: b',
  lastTransitionTime: when,
}
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels: { a: 'b' } }, data: { a: 'b' } }
const core = (resource: string) => ({ group: '', resource })
const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', resource })
const templates = { group: 'policy.borough.dev', resource: 'namespacetemplates' }

const whole = {
  namespace: {
    metadata: meta,
    spec: { finalizers: ['kubernetes'], initializers: { pending: [{ name: 'x.y.z' }] } },
    status: { phase: 'Active', conditions: [condition] },
  },
  template: {
    metadata: { ...meta, name: 'default' },
    spec: {
      namespaces: {
        labelSelector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
        nameSelector: { include: ['team-*'], exclude: ['x'] },
        creatorSelector: { users: ['*'], serviceAccounts: ['a:b'] },
      },
      parameters: [{ name: 'p', fromLabel: 'a', enum: ['b'], pattern: '.*', default: 'b', required: true }],
      namespaceMetadata: { labels: { c: 'd' }, annotations: { c: 'd' } },
      templates: [configMap],
      objects: [{ when: 'true', drift: 'Report', yieldTo: ['m'], protect: true, template: configMap }],
      rollout: { maxUnavailable: '10%', maxPrune: 1, pauseOnFailure: true },
      expiry: { default: '1h', max: '2h' },
    },
    status: {
      observedGeneration: 2,
      matched: 3,
      synced: 1,
      waiting: 1,
      failures: [{ namespace: 'team-a', object: 'ConfigMap/a', reason: 'Drift', message: 'm' }],
      conditions: [condition, { ...condition, type: 'Progressing', status: 'True' }],
    },
  },
  quota: { metadata: meta, status: { hard: { pods: '1', 'requests.cpu': '1500m' }, used: { pods: '1' } } },
  event: { metadata: meta, reason: 'PopulationCorrected', message: 'ConfigMap/a of template default: b' },
  role: {
    metadata: meta,
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'], nonResourceURLs: ['/x'] }],
  },
  binding: {
    metadata: meta,
    roleRef: { apiGroup: 'g', kind: 'Role', name: 'team-a' },
    subjects: [{ kind: 'ServiceAccount', name: 'x', namespace: 'y' }],
  },
} as const

type Path = readonly (string | number)[]
const pathsIn = (value: unknown, path: Path = []): Path[] =>
  typeof value !== 'object' || value === null
    ? [path]
    : [path, ...Object.entries(value).flatMap(([key, part]) => pathsIn(part, [...path, key]))]

function withAt(value: unknown, [first, ...rest]: Path, given: unknown): unknown {
  if (first === undefined) return given
  if (Array.isArray(value))
    return value.map((item, i) => (String(i) === String(first) ? withAt(item, rest, given) : item))
  const { [first]: part, ...others } = value as Record<string, unknown>
  const next = withAt(part, rest, given)
  return next === absent ? others : { ...others, [first]: next }
}
const absent = Symbol('absent')

const odd = fc.oneof(
  fc.constantFrom(
    absent,
    null,
    7,
    -1,
    1e300,
    true,
    '',
    'odd',
    '[',
    '-',
    [],
    {},
    [null],
    [7],
    { a: null },
    { a: { b: [] } },
  ),
  fc.jsonValue(),
)

/** One of the objects, with up to three of its parts, or itself, in another form. */
const spoilt = (object: unknown) =>
  fc
    .array(fc.tuple(fc.constantFrom(...pathsIn(object)), odd), { minLength: 1, maxLength: 3 })
    // The longest first: what a shorter one replaces is not looked into any more.
    .map((changes) =>
      changes.sort(([a], [b]) => b.length - a.length).reduce((o, [at, given]) => withAt(o, at, given), object),
    )
    .map((o) => (o === absent ? null : o))

const fitted = <T extends KubeObject>(of: { group: string; resource: string }, object: unknown) =>
  spoilt(object).map((given) => fitObject<T>(of, given))

test('what fits is left as it is', () => {
  expect(fitObject(core('namespaces'), whole.namespace)).toEqual(whole.namespace)
  expect(fitObject(templates, whole.template)).toEqual(whole.template)
  expect(fitObject(rbac('rolebindings'), whole.binding)).toEqual(whole.binding)
})

test('what does not is left out, and what must be there is empty', () => {
  const status = { phase: 7, conditions: [7, { type: 'Populated', message: null }], other: [1] }
  expect(fitObject(core('namespaces'), { metadata: { name: 'a', labels: { b: 1, c: 'd' } }, status })).toEqual({
    metadata: { name: 'a', labels: { c: 'd' } },
    status: {
      conditions: [{ type: 'Populated', status: '', reason: '', message: '', lastTransitionTime: '' }],
      other: [1],
    },
  })
  expect(fitObject(core('namespaces'), null)).toEqual({ metadata: {} })
  expect(fitObject(core('widgets'), { metadata: [], spec: 7 })).toEqual({ metadata: {}, spec: 7 })
})

const runs = { numRuns: 2000 }

test('rows of namespaces, and what a search finds', () => {
  fc.assert(
    fc.property(fitted<Namespace>(core('namespaces'), whole.namespace), (namespace) => {
      const row = rowOf(namespace)
      for (const text of ['a', 'owner:a', 'label:a=', 'phase:x']) expect(typeof searchTest(text)(row)).toBe('boolean')
    }),
    runs,
  )
})

test('templates: their state, what they select, what fails, what is to come, and what a draft would be', () => {
  fc.assert(
    fc.property(
      fitted<NamespaceTemplate>(templates, whole.template),
      fitted<Namespace>(core('namespaces'), whole.namespace),
      fitted<PopulationEvent>(core('events'), whole.event),
      (template, namespace, event) => {
        expect(typeof wordOf(template)).toBe('string')
        expect(typeof progressText(template)).toBe('string')
        wavesOf(template)
        expect(typeof matcherOf(template).selects(namespace)).toBe('boolean')
        for (const row of failuresOf(template, [namespace], [event])) {
          expect(typeof failureTest('drift a')(row)).toBe('boolean')
        }
        updatesIn([template])(namespace)
        previewOf(namespace, [], [template])
      },
    ),
    runs,
  )
})

test('quotas, bindings, roles and trees', () => {
  fc.assert(
    fc.property(
      fitted<Quota>(core('resourcequotas'), whole.quota),
      fitted<Binding>(rbac('rolebindings'), whole.binding),
      fitted<Role>(rbac('roles'), whole.role),
      (quota, binding, role) => {
        for (const { ratio } of usagesOf([quota, quota])) expect(typeof ratio).toBe('number')
        const objects = {
          roleBindings: [binding],
          roles: [role],
          clusterRoleBindings: [binding],
          clusterRoles: [role as ClusterRole],
        }
        for (const { subject } of accessRows(objects)) expect(typeof subject).toBe('string')
        const kind = { group: '', version: 'v1', resource: 'x', kind: 'X', namespaced: true, verbs: [] }
        treeOf([quota, binding, role].map((object) => ({ kind, object })))
      },
    ),
    runs,
  )
})
