/** Which writes of protected objects are refused, and to whom. */
import { describe, expect, test } from 'vitest'
import { thrown } from '../../../test/support/refusal.ts'
import type { Attributes } from '../../admission/admission.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import { requiredType } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { AppliedObject } from './applied-records.ts'
import { compileMatcher } from './match.ts'
import { isLastStep, isStatusAlone, protectedKindsOf, templateProtection } from './protection.ts'
import type { NamespaceTemplate, ObjectEntry } from './types.ts'

const type = requiredType(loadCatalog().types, { group: '', version: 'v1', resource: 'configmaps' })
const entry = (name: string, more: Partial<ObjectEntry> = {}, kind = 'ConfigMap', apiVersion = 'v1'): ObjectEntry => ({
  ...{ template: { apiVersion, kind, metadata: { name } }, protect: true },
  ...more,
})
const template = (name: string, objects: ObjectEntry[], spec: object = {}): NamespaceTemplate => ({
  metadata: { name },
  spec: { objects, ...spec },
})
const object = (name: string, more: object = {}, uid = 'u'): KubeObject =>
  ({ metadata: { name, uid, ...more }, data: { a: '1' } }) as KubeObject
const recorded = (more: Partial<AppliedObject> = {}): AppliedObject => ({
  ...{
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: 'c',
    uid: 'u',
    template: 't',
    generation: 1,
    digest: 'd',
    content: 'c',
  },
  ...more,
})

interface Given {
  readonly templates?: readonly NamespaceTemplate[]
  readonly inForce?: NamespaceTemplate
  readonly records?: readonly AppliedObject[]
  readonly write?: Partial<Attributes> & { readonly [key: string]: unknown }
  readonly rights?: string
  readonly namespace?: KubeObject | null
}
const protecting = template('t', [entry('c')])

function refusal({
  templates = [protecting],
  inForce,
  records = [],
  write = {},
  rights,
  namespace,
}: Given): string | undefined {
  const plugin = templateProtection({
    authorizer: {
      authorize: ({ verb, name }: { verb: string; name: string }) => ({ allowed: `${verb} ${name}` === rights }),
    },
    records: { of: (name: string) => (name === 'n' ? records : []) },
    matchers: () => templates.map((t) => ({ ...compileMatcher(t), held: inForce && compileMatcher(inForce) })),
    protects: () => true,
    onProtectedKindsChange: () => {},
    findNamespace: (name: string) => (namespace === null ? undefined : (namespace ?? { metadata: { name } })),
  } as never)
  const a = {
    ...{ operation: 'CREATE', type, subresource: '', namespace: 'n', name: 'c' },
    ...{ object: object('c'), oldObject: undefined, user: { username: 'alice', groups: ['team'] } },
    ...write,
  } as unknown as Attributes
  const judge = (): unknown => plugin.validate?.(a)
  try {
    judge()
    return undefined
  } catch {
    return thrown(judge).message
  }
}
const refused = (verb = 'create', name = 't'): string =>
  `configmaps "c" is forbidden: user "alice" cannot ${verb} ConfigMap c in namespace "n": template "${name}" ` +
  `protects it; holders of the verb "bypass" on namespacetemplates "${name}" may`
const user = (username: string, ...groups: string[]) => ({ user: { username, groups } })

describe('the place of a protected object', () => {
  test.each<{ name: string; given: Given; is?: string }>([
    { name: 'is kept free', given: {}, is: refused() },
    {
      name: 'is told by the first of two templates',
      given: { templates: [template('u', [entry('c')]), protecting] },
      is: refused(),
    },
    { name: 'is another one’s by another name', given: { write: { name: 'd' } } },
    { name: 'is another one’s by another kind', given: { templates: [template('t', [entry('c', {}, 'Secret')])] } },
    {
      name: 'is another one’s by another group',
      given: { templates: [template('t', [entry('c', {}, 'ConfigMap', 'ex.io/v1')])] },
    },
    {
      name: 'is one in each version',
      given: { templates: [template('t', [entry('c', {}, 'ConfigMap', 'v2')])] },
      is: refused(),
    },
    {
      name: 'is free where nothing is protected',
      given: { templates: [template('t', [entry('c', { protect: false })])] },
    },
    {
      name: 'is free where another is protected',
      given: { templates: [template('t', [entry('d'), entry('c', { protect: false })])] },
    },
    {
      name: 'is free in a namespace that the template does not select',
      given: { templates: [template('t', [entry('c')], { namespaces: { nameSelector: { include: ['m'] } } })] },
    },
    { name: 'is free where there is no such namespace', given: { namespace: null } },
    {
      name: 'is known by what its tokens stand for',
      given: { templates: [template('t', [entry('$(NAMESPACE)')])], write: { name: 'n' } },
      is: refused().replaceAll('ConfigMap c', 'ConfigMap n').replace('"c"', '"n"'),
    },
    { name: 'is free under another name than that', given: { templates: [template('t', [entry('$(NAMESPACE)')])] } },
    {
      name: 'is free where the condition is not met',
      given: { templates: [template('t', [entry('c', { when: 'false' })])] },
    },
    { name: 'is taken by who holds bypass', given: { rights: 'bypass t' } },
    { name: 'is not taken by who holds bypass on another', given: { rights: 'bypass u' }, is: refused() },
    { name: 'is taken by controllers of the cluster', given: { write: user('system:kube-controller-manager') } },
    { name: 'and by their accounts', given: { write: user('a', 'system:serviceaccounts:kube-system') } },
    { name: 'and by nodes', given: { write: user('a', 'system:nodes') } },
    {
      name: 'is not taken by other accounts',
      given: { write: user('alice', 'system:serviceaccounts:kube') },
      is: refused(),
    },
    {
      name: 'is filled together with its namespace',
      given: { write: { pendingScope: { object: object('n') } } as never },
    },
  ])('$name', ({ given, is }) => expect(refusal(given)).toBe(is))
})

describe('a protected object', () => {
  const old = object('c')
  const update = (next: KubeObject, before = old, more: object = {}): Given => ({
    records: [recorded()],
    write: { operation: 'UPDATE', object: next, oldObject: before, ...more },
  })
  const changed = { ...old, data: { a: '2' } } as KubeObject
  const leaving = (more: object = {}) =>
    object('c', { deletionTimestamp: '2026-11-24T06:00:00Z', finalizers: ['a/b'], ...more })

  test.each<{ name: string; given: Given; is?: string }>([
    { name: 'is not changed', given: update(changed), is: refused('update') },
    {
      name: 'is not deleted',
      given: { records: [recorded()], write: { operation: 'DELETE', object: undefined, oldObject: old } },
      is: refused('delete'),
    },
    { name: 'is no template’s if it is not recorded', given: { ...update(changed), records: [] } },
    { name: 'is another one than the recorded', given: { ...update(changed), records: [recorded({ uid: 'v' })] } },
    { name: 'is another template’s', given: { ...update(changed), records: [recorded({ template: 'u' })] } },
    {
      name: 'stays its template’s while another one that comes first takes its place',
      given: { ...update(changed), templates: [template('a', [entry('c')]), protecting] },
      is: refused('update'),
    },
    { name: 'is recorded by its name', given: { ...update(changed), records: [recorded({ name: 'd' })] } },
    { name: 'has a status of its own', given: update(changed, old, { subresource: 'status' }) },
    {
      name: 'has no other metadata by way of it',
      given: update(object('c', { labels: { a: 'b' } }), old, { subresource: 'status' }),
      is: refused('update'),
    },
    { name: 'has no other subresource', given: update(changed, old, { subresource: 'scale' }), is: refused('update') },
    {
      name: 'is let go by who held it, when it is being deleted',
      given: update(leaving({ finalizers: [] }), leaving()),
    },
    {
      name: 'is not changed then',
      given: update({ ...leaving(), data: {} } as KubeObject, leaving()),
      is: refused('update'),
    },
    {
      name: 'is not let go before',
      given: update(object('c', { finalizers: [] }), object('c', { finalizers: ['a/b'] })),
      is: refused('update'),
    },
    {
      name: 'stays one where a parameter is at fault',
      given: {
        ...update(changed),
        templates: [template('t', [entry('c')], { parameters: [{ name: 'p', fromLabel: 'p', required: true }] })],
      },
      is: refused('update'),
    },
    {
      name: 'was none where a parameter is at fault, and nothing is recorded',
      given: {
        templates: [template('t', [entry('c')], { parameters: [{ name: 'p', fromLabel: 'p', required: true }] })],
      },
    },
    {
      name: 'stays one where its condition can not be judged',
      given: {
        ...update(changed),
        templates: [template('t', [entry('c', { when: 'namespaceObject.metadata.labels["x"] == "y"' })])],
      },
      is: refused('update'),
    },
  ])('$name', ({ given, is }) => expect(refusal(given)).toBe(is))
})

describe('while an edit that drops a protected object is stopped', () => {
  const inForce = { ...protecting, metadata: { name: 't', generation: 1 } }
  const dropped = { ...template('t', [entry('d')]), metadata: { name: 't', generation: 2 } }
  const [next, old] = [object('c', { labels: { a: 'b' } }), object('c')]
  const write = { operation: 'UPDATE', object: next, oldObject: old } as Given['write'] & {}
  const of = (generation: number): Given => ({
    templates: [dropped],
    inForce,
    records: [recorded({ generation })],
    write,
  })

  test('what the version in force made is not changed', () => {
    expect(refusal(of(1))).toBe(refused('update'))
    expect(refusal({ ...of(1), write: { operation: 'DELETE', object: undefined, oldObject: old } })).toBe(
      refused('delete'),
    )
  })
  test('what the newest made is as that says', () => expect(refusal(of(2))).toBeUndefined())
  test('what another template made is as that says', () => {
    expect(refusal({ ...of(1), records: [recorded({ template: 'u' })] })).toBeUndefined()
  })
})

describe('it is asked', () => {
  const handles = (operation: string, of: object, protects: boolean): unknown =>
    templateProtection({ protects: () => protects } as never).handles(operation as never, of as never, '')
  test('of every write of a kind that a template protects', () => {
    for (const operation of ['CREATE', 'UPDATE', 'DELETE']) expect(handles(operation, type, true)).toEqual(['validate'])
    expect(handles('CONNECT', type, true)).toBe(false)
    expect(handles('CREATE', type, false)).toBe(false)
    expect(handles('CREATE', { ...type, namespaced: false }, true)).toBe(false)
  })
})

test('the kinds that a template protects', () => {
  const objects = [
    entry('a'),
    entry('b', {}, 'Role', 'rbac.authorization.k8s.io/v1'),
    entry('c', { protect: false }, 'Secret'),
  ]
  expect(protectedKindsOf(template('t', objects))).toEqual(['/ConfigMap', 'rbac.authorization.k8s.io/Role'])
})

test.each<{ name: string; next: object; subresource?: string; is: boolean }>([
  { name: 'the same metadata', next: {}, is: true },
  { name: 'another version', next: { resourceVersion: '9' }, is: true },
  { name: 'other labels', next: { labels: { a: 'b' } }, is: false },
  { name: 'other annotations', next: { annotations: { a: 'b' } }, is: false },
  { name: 'an owner', next: { ownerReferences: [{ uid: 'u' }] }, is: false },
  { name: 'a finalizer', next: { finalizers: ['a/b'] }, is: false },
  { name: 'the object itself', next: {}, subresource: '', is: false },
])('a write of the status with $name is of the status alone: $is', ({ next, subresource = 'status', is }) => {
  expect(isStatusAlone({ subresource, object: object('c', next), oldObject: object('c') })).toBe(is)
})

test.each<{ name: string; next: object; old: object; operation?: 'UPDATE' | 'CREATE' | 'DELETE'; is: boolean }>([
  { name: 'a finalizer less', next: { finalizers: ['b'] }, old: { finalizers: ['a', 'b'] }, is: true },
  { name: 'who wrote it, and when', next: { managedFields: [], resourceVersion: '9' }, old: {}, is: true },
  { name: 'a label more', next: { labels: { a: 'b' } }, old: {}, is: false },
  { name: 'a delete', next: {}, old: {}, operation: 'DELETE', is: false },
])('of an object that goes, $name is the last step: $is', ({ next, old, operation = 'UPDATE', is }) => {
  const gone = { deletionTimestamp: '2026-11-24T06:00:00Z' }
  const write = { operation, object: object('c', { ...gone, ...next }), oldObject: object('c', { ...gone, ...old }) }
  expect(isLastStep(write)).toBe(is)
  expect(isLastStep({ ...write, object: undefined })).toBe(false)
  expect(isLastStep({ ...write, oldObject: object('c', old) })).toBe(false)
  expect(isLastStep({ ...write, oldObject: undefined })).toBe(false)
})
