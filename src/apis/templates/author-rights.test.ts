/** What the author of a template is asked for: all that is done in their name, and what a change takes away. */
import { describe, expect, test } from 'vitest'
import {
  allow,
  clusterRole,
  clusterRoleBinding,
  FakeRbacSource,
  role,
  roleBinding,
  user,
} from '../../../test/support/fake-rbac-source.ts'
import { RbacAuthorizer } from '../../authz/rbac-authorizer.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import type { PolicyRule } from '../../kube/rbac.ts'
import type { JsonObject } from '../../kube/types.ts'
import { type Lack, lackingForHeld, lackingRights, mayWiden, type TemplateKind } from './author-rights.ts'
import type { NamespaceTemplate } from './types.ts'

const rbac = 'rbac.authorization.k8s.io'
const kinds: Readonly<Record<string, string>> = {
  'v1 ConfigMap': 'configmaps',
  'v1 Secret': 'secrets',
  'ex.io/v1 Role': 'roles',
  [`${rbac}/v1 Role`]: 'roles',
  [`${rbac}/v1 RoleBinding`]: 'rolebindings',
}

const of = (objects: readonly object[], more: object = {}): NamespaceTemplate => ({
  metadata: { name: 't' },
  spec: { templates: objects as JsonObject[], ...more },
})
const configMap = (name = 'c'): JsonObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const reader = (...rules: object[]): object => role('', 'r', ...(rules as PolicyRule[]))
const get = allow('get', '', 'configmaps')

function depsOf(held: readonly PolicyRule[]) {
  const source = new FakeRbacSource()
  source.put(clusterRole('held', ...held))
  source.put(clusterRoleBinding('held', 'held', user('author')))
  return {
    authorizer: new RbacAuthorizer(source, new FakeClock()),
    findKind: (apiVersion: string, kind: string): TemplateKind | undefined => {
      const resource = kinds[`${apiVersion} ${kind}`]
      return resource === undefined ? undefined : { resource, namespaced: true, verbs: [] }
    },
    findClusterRole: (name: string) => (name === 'reader' ? clusterRole('reader', get) : undefined) as never,
  }
}

const told = (found: readonly Lack[]): string[][] => found.map(({ field, message }) => [field, message])

const lacks = (
  held: readonly PolicyRule[],
  template: NamespaceTemplate,
  old?: NamespaceTemplate,
  groups: string[] = [],
): string[][] => told(lackingRights(depsOf(held), { username: 'author', groups }, template, old))

const on = (verbs: string, what: string): string => {
  const quoted = verbs.split(',').map((verb) => `"${verb}"`)
  return `needs ${quoted.join(', ')} on ${what} in all namespaces`
}
const writes = (resources: string, group = ''): PolicyRule => allow('create,patch,delete', group, resources)
const rbacWrites = writes('roles,rolebindings', rbac)
const granting = (what: string): string =>
  `user "author" (groups=[]) is attempting to grant RBAC permissions not currently held:\n${what}`
const everything = '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}'

describe('asked of its author', () => {
  test.each<{ name: string; held: PolicyRule[]; given: NamespaceTemplate; want: string[][] }>([
    {
      name: 'each write of each kind',
      held: [writes('configmaps')],
      given: of([configMap(), { ...configMap('s'), kind: 'Secret' }]),
      want: [['spec.templates[1]', on('create,patch,delete', 'secrets')]],
    },
    {
      name: 'the writes that are missing',
      held: [allow('create,get', '', 'configmaps')],
      given: of([configMap()]),
      want: [['spec.templates[0]', on('patch,delete', 'configmaps')]],
    },
    {
      name: 'writes by name, but for a create, which has none yet',
      held: [{ ...writes('configmaps'), resourceNames: ['c'] }],
      given: of([configMap()]),
      want: [['spec.templates[0]', on('create', 'configmaps')]],
    },
    {
      name: 'writes of any name, where a token stands in it',
      held: [{ ...allow('patch,delete', '', 'configmaps'), resourceNames: ['$(CREATOR)'] }, allow('create', '', '*')],
      given: of([configMap('$(CREATOR)')]),
      want: [['spec.templates[0]', on('patch,delete', 'configmaps')]],
    },
    {
      name: 'all of a group, for a kind that is not served',
      held: [writes('widgets', 'ex.io')],
      given: of([{ ...configMap(), apiVersion: 'ex.io/v1', kind: 'Widget' }]),
      want: [['spec.templates[0]', on('create,patch,delete', 'all resources of group "ex.io"')]],
    },
    {
      name: 'no more than that',
      held: [writes('*', 'ex.io')],
      given: of([{ ...configMap(), apiVersion: 'ex.io/v1', kind: 'Widget' }]),
      want: [],
    },
    {
      name: 'nothing of what has no version to be',
      held: [],
      given: of([{ apiVersion: 'a/b/c', kind: 'X' }]),
      want: [],
    },
    {
      name: 'to read what is copied',
      held: [writes('secrets')],
      given: of([], { objects: [{ cloneFrom: { namespace: 'p', apiVersion: 'v1', kind: 'Secret', name: 's' } }] }),
      want: [['spec.objects[0].cloneFrom', 'needs "get" on secrets "s" in namespace "p"']],
    },
    {
      name: 'to delete namespaces, of a template that ends them',
      held: [],
      given: of([], { expiry: { max: '7d' } }),
      want: [['spec.expiry', 'needs "delete" on namespaces']],
    },
    {
      name: 'to delete namespaces, of one that does so by default',
      held: [allow('delete', '', 'pods')],
      given: of([], { expiry: { default: '7d' } }),
      want: [['spec.expiry', 'needs "delete" on namespaces']],
    },
    { name: 'nothing for no end', held: [], given: of([], { expiry: {} }), want: [] },
    {
      name: 'to write namespaces, of a template that labels them',
      held: [allow('patch', '', 'namespaces')],
      given: of([], { namespaceMetadata: { labels: { a: 'b' } } }),
      want: [['spec.namespaceMetadata', 'needs "update" on namespaces']],
    },
    {
      name: 'nothing more than that',
      held: [
        allow('delete', '', 'namespaces'),
        allow('update', '', 'namespaces'),
        allow('get', '', 'secrets'),
        writes('secrets'),
      ],
      given: of([], {
        expiry: { max: '7d' },
        namespaceMetadata: { labels: { a: 'b' } },
        objects: [{ cloneFrom: { namespace: 'p', apiVersion: 'v1', kind: 'Secret', name: 's' } }],
      }),
      want: [],
    },
    { name: 'nothing for no label', held: [], given: of([], { namespaceMetadata: { labels: {} } }), want: [] },
  ])('$name', ({ held, given, want }) => {
    expect(lacks(held, given)).toEqual(want)
  })

  test('nothing, where that is system:masters', () => {
    expect(lacks([], of([reader(allow('*', '*', '*'))]), undefined, ['system:masters'])).toEqual([])
  })

  test.each<{ name: string; held: PolicyRule[]; old: NamespaceTemplate; want: string[][] }>([
    {
      name: 'the same writes, for what is taken out',
      held: [writes('configmaps')],
      old: of([configMap(), { ...configMap('s'), kind: 'Secret' }]),
      want: [['spec.templates', `taking Secret/s away ${on('create,patch,delete', 'secrets')}`]],
    },
    {
      name: 'the same rights, for ends and labels that are taken out',
      held: [writes('configmaps')],
      old: of([configMap()], { expiry: { max: '7d' }, namespaceMetadata: { annotations: { a: 'b' } } }),
      want: [
        ['spec.namespaceMetadata', 'needs "update" on namespaces'],
        ['spec.expiry', 'needs "delete" on namespaces'],
      ],
    },
    { name: 'nothing of what stays', held: [writes('configmaps')], old: of([configMap()]), want: [] },
  ])('of a change: $name', ({ held, old, want }) => {
    expect(lacks(held, of([configMap()]), old)).toEqual(want)
  })
})

describe('a Role that a template holds', () => {
  test.each<{ name: string; rules: unknown; held?: PolicyRule[]; want?: string }>([
    { name: 'gives what its author holds', rules: [get], held: [get] },
    { name: 'gives more', rules: [get], want: '{APIGroups:[""], Resources:["configmaps"], Verbs:["get"]}' },
    { name: 'gives more, and its author may escalate', rules: [get], held: [allow('escalate', rbac, 'roles')] },
    { name: 'gives nothing', rules: undefined },
    { name: 'gives nothing, said as null', rules: null },
    { name: 'has no list of rules: it may be all', rules: 'x', want: everything },
    { name: 'has a rule that is none: it gives nothing', rules: ['x', null] },
    {
      name: 'has a text in the place of a list: it may be any',
      rules: [{ ...get, verbs: 'get' }],
      held: [get],
      want: '{APIGroups:[""], Resources:["configmaps"], Verbs:["*"]}',
    },
    {
      name: 'has a list with what is no text: it may be any',
      rules: [{ ...get, resources: ['configmaps', 7] }],
      held: [get],
      want: '{APIGroups:[""], Resources:["*"], Verbs:["get"]}',
    },
    {
      name: 'has a token in a rule: it may be any',
      rules: [{ ...get, verbs: ['$(OWNER)'] }],
      held: [get],
      want: '{APIGroups:[""], Resources:["configmaps"], Verbs:["*"]}',
    },
    {
      name: 'has a token beside what its author holds',
      rules: [{ ...get, verbs: ['get', '$(OWNER)'], resourceNames: null }],
      held: [get],
      want: '{APIGroups:[""], Resources:["configmaps"], Verbs:["*"]}',
    },
    {
      name: 'has a token as a name of an object: it may be any',
      rules: [{ ...get, resourceNames: ['$(OWNER)'] }],
      held: [{ ...get, resourceNames: ['a'] }],
      want: '{APIGroups:[""], Resources:["configmaps"], Verbs:["get"]}',
    },
    {
      name: 'has a star as a name of an object: it counts as all',
      rules: [{ ...get, resourceNames: ['*'] }],
      held: [{ ...get, resourceNames: ['*'] }],
      want: '{APIGroups:[""], Resources:["configmaps"], Verbs:["get"]}',
    },
    {
      name: 'names objects that its author holds',
      rules: [{ ...get, resourceNames: ['a'] }],
      held: [{ ...get, resourceNames: ['a', 'b'] }],
    },
    {
      name: 'has paths',
      rules: [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }],
      want: '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
    },
  ])('$name', ({ rules, held = [], want }) => {
    const given = of([{ ...role('', 'r'), rules }])
    expect(lacks([rbacWrites, ...held], given)).toEqual(
      want === undefined ? [] : [['spec.templates[0]', granting(want)]],
    )
  })

  test('and a kind of that name in another group is none', () => {
    const given = of([{ ...reader(allow('*', '*', '*')), apiVersion: 'ex.io/v1' }])
    expect(lacks([writes('roles', 'ex.io')], given)).toEqual([])
  })
})

describe('a RoleBinding that a template holds', () => {
  const bound = roleBinding('', 'b', 'Role/r', user('x'))
  const unknown = (kind: string, name: string): string => `needs "bind" on ${kind.toLowerCase()}s: ${kind} "${name}" `
  const notHeld = (name = 'r'): string =>
    `${unknown('Role', name)}is not in this template, so nobody knows what it grants`
  test.each<{ name: string; objects: object[]; held?: PolicyRule[]; want?: string }>([
    { name: 'a Role of the template: its rules are looked at where it stands', objects: [bound, reader()] },
    { name: 'a Role that is not in it', objects: [bound], want: notHeld() },
    { name: 'a Role of another name', objects: [bound, role('', 'other')], want: notHeld() },
    {
      name: 'no Role, but a kind of that name',
      objects: [bound, { ...reader(), apiVersion: 'ex.io/v1' }],
      want: notHeld(),
    },
    {
      name: 'a Role that its author may bind',
      objects: [bound],
      held: [{ ...allow('bind', rbac, 'roles'), resourceNames: ['r'] }],
    },
    {
      name: 'another than the one that its author may bind',
      objects: [bound],
      held: [{ ...allow('bind', rbac, 'roles'), resourceNames: ['x'] }],
      want: notHeld(),
    },
    {
      name: 'a ClusterRole of which its author holds all',
      objects: [roleBinding('', 'b', 'ClusterRole/reader', user('x'))],
      held: [get],
    },
    {
      name: 'a ClusterRole of which they do not',
      objects: [roleBinding('', 'b', 'ClusterRole/reader', user('x'))],
      want: granting('{APIGroups:[""], Resources:["configmaps"], Verbs:["get"]}'),
    },
    {
      name: 'a ClusterRole that is not there',
      objects: [roleBinding('', 'b', 'ClusterRole/none', user('x'))],
      want: `${unknown('ClusterRole', 'none')}does not exist, so nobody knows what it grants`,
    },
    {
      name: 'a ClusterRole that its author may bind',
      objects: [roleBinding('', 'b', 'ClusterRole/none', user('x'))],
      held: [allow('bind', rbac, 'clusterroles')],
    },
    {
      name: 'a ClusterRole whose name is not known: it may grant anything',
      objects: [roleBinding('', 'b', 'ClusterRole/$(OWNER)', user('x'))],
      want: granting(everything),
    },
    {
      name: 'a ClusterRole whose name is not known: a right to bind that name is no right',
      objects: [roleBinding('', 'b', 'ClusterRole/$(OWNER)', user('x'))],
      held: [{ ...allow('bind', rbac, 'clusterroles'), resourceNames: ['$(OWNER)'] }],
      want: granting(everything),
    },
    {
      name: 'a role of a kind that is not known counts as a ClusterRole',
      objects: [{ ...bound, roleRef: { kind: '$(OWNER)', name: 'reader' } }],
      want: granting('{APIGroups:[""], Resources:["configmaps"], Verbs:["get"]}'),
    },
    { name: 'what it likes, as a kind of that name in another group', objects: [{ ...bound, apiVersion: 'ex.io/v1' }] },
    {
      name: 'nothing at all',
      objects: [{ ...bound, roleRef: undefined }],
      want: `${unknown('ClusterRole', '')}does not exist, so nobody knows what it grants`,
    },
  ])('$name', ({ objects, held = [], want }) => {
    expect(lacks([rbacWrites, writes('*', 'ex.io'), ...held], of(objects))).toEqual(
      want === undefined ? [] : [['spec.templates[0]', want]],
    )
  })
})

test.each<{
  name: string
  next?: Partial<NamespaceTemplate>
  annotations?: object
  before?: object
  spec?: object
  widens: boolean
}>([
  { name: 'nothing changes', widens: false },
  { name: 'the spec changes', next: { spec: { adopt: true } }, widens: true },
  { name: 'the spec stays', next: { spec: { adopt: true } }, spec: { adopt: true }, widens: false },
  {
    name: 'this version understands it no more than before',
    before: { 'policy.borough.dev/feature-level': '99999' },
    annotations: { 'policy.borough.dev/feature-level': '99998' },
    widens: false,
  },
  { name: 'a status changes', next: { status: { matched: 1 } }, widens: false },
  { name: 'another annotation changes', annotations: { note: 'x' }, widens: false },
  ...['policy/namespace-template-require-permission true', 'policy/namespace-template-apply disable'].flatMap(
    (bound) => {
      const [key = '', value = ''] = bound.split(' ')
      return [
        { name: `${key} is put on`, annotations: { [key]: value }, widens: false },
        { name: `${key} is put on with another value`, annotations: { [key]: 'yes' }, widens: true },
        { name: `${key} is taken off`, before: { [key]: value }, widens: true },
        { name: `${key} stays`, before: { [key]: value }, annotations: { [key]: value }, widens: false },
        { name: `${key} stays something else`, before: { [key]: 'yes' }, annotations: { [key]: 'yes' }, widens: false },
      ]
    },
  ),
  {
    name: 'this version understands it again',
    before: { 'policy.borough.dev/feature-level': '99999' },
    widens: true,
  },
])('a change may widen what a template gives where $name: $widens', ({ next, annotations, before, spec, widens }) => {
  const old: NamespaceTemplate = {
    metadata: { name: 't', ...(before ? { annotations: before as never } : {}) },
    ...(spec ? { spec } : {}),
  }
  const changed = { metadata: { name: 't', ...(annotations ? { annotations: annotations as never } : {}) }, ...next }
  expect(mayWiden(changed, old)).toBe(widens)
})

describe('who opens a template beside whose newest version another is in force', () => {
  const guard = { 'policy/namespace-template-require-permission': 'true' }
  const at = (generation: number, objects: readonly object[], annotations: object = {}, status?: object) =>
    ({
      ...of(objects),
      metadata: { name: 't', generation, annotations },
      ...(status && { status }),
    }) as NamespaceTemplate
  const held = at(1, [configMap()])
  const needs = 'needs "create", "patch", "delete" on configmaps in all namespaces'
  const opening = (given: Partial<Parameters<typeof lackingForHeld>[2]>, groups: string[] = []) => {
    const [next, old] = [at(2, []), at(2, [], guard)]
    return told(lackingForHeld(depsOf([]), { username: 'author', groups }, { next, old, held: undefined, ...given }))
  }
  const status = { observedGeneration: 2, heldGeneration: 1 }
  const missing =
    'generation 1 is in force, and what it gives is not known: ControllerRevision ' +
    'kube-system/namespacetemplate-t-1 is not there'
  const unknown = 'generation 1 may be in force still, and what it gives is not known; try again in a moment'
  test.each<{ name: string; given: Parameters<typeof opening>[0]; groups?: string[]; want: string[][] }>([
    {
      name: 'must be able to give what that gives',
      given: { held },
      want: [['spec.templates[0]', `${needs}, for generation 1, which is in force until this change is`]],
    },
    {
      name: 'and what the change itself leaves in force',
      given: { old: at(2, [configMap()], guard, { observedGeneration: 2 }) },
      want: [['spec.templates[0]', `${needs}, for generation 2, which is in force until this change is`]],
    },
    { name: 'is asked for nothing where it stays shut', given: { held, next: at(2, [], guard) }, want: [] },
    { name: 'is asked for nothing as an administrator', given: { held }, groups: ['system:masters'], want: [] },
    {
      name: 'can not where nothing tells what it gives',
      given: { old: at(2, [], guard, status) },
      want: [['status.heldGeneration', missing]],
    },
    {
      name: 'nor before it is known whether what they open is stopped',
      given: { old: at(2, [], guard, { observedGeneration: 1 }) },
      want: [['status.heldGeneration', unknown]],
    },
    {
      name: 'but for an administrator',
      given: { old: at(2, [], guard, status) },
      groups: ['system:masters'],
      want: [],
    },
  ])('$name', ({ given, groups, want }) => expect(opening(given, groups)).toEqual(want))
})
