import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  allow,
  clusterRole,
  clusterRoleBinding,
  FakeRbacSource,
  group,
  role,
  roleBinding,
  serviceAccount,
  user,
} from '../../test/support/fake-rbac-source.ts'
import { FakeClock } from '../base/fake-clock.ts'
import type { Binding, PolicyRule, Role } from '../kube/rbac.ts'
import type { KubeObject } from '../kube/types.ts'
import { serviceAccountUser, type UserInfo } from '../kube/user.ts'
import type { AuthzAttributes } from './authz.ts'
import { RbacAuthorizer } from './rbac-authorizer.ts'

const alice: UserInfo = { username: 'alice', groups: ['devs', 'system:authenticated'] }

/** `request(alice, 'get', 'apps/deployments/scale', 'ns', 'name')`; a resource without a slash-free group is core. */
function request(who: UserInfo, verb: string, resource: string, namespace = '', name = ''): AuthzAttributes {
  const [base = '', subresource = ''] = resource.split('/')
  const [plural = '', ...groupParts] = base.split('.')
  return { user: who, verb, group: groupParts.join('.'), resource: plural, subresource, namespace, name }
}

function world(...objects: KubeObject[]): { source: FakeRbacSource; rbac: RbacAuthorizer } {
  const source = new FakeRbacSource()
  for (const object of objects) source.put(object)
  return { source, rbac: new RbacAuthorizer(source, new FakeClock()) }
}

interface Case {
  readonly name: string
  readonly given: readonly KubeObject[]
  readonly when: AuthzAttributes
  readonly want: boolean
  readonly reason?: string
}

const bound = (...rules: PolicyRule[]): KubeObject[] => [
  clusterRole('r', ...rules),
  clusterRoleBinding('b', 'r', user('alice')),
]

const cases: readonly Case[] = [
  {
    name: 'nobody may do anything without a binding',
    given: [],
    when: request(alice, 'get', 'pods', 'a'),
    want: false,
    reason: '',
  },
  {
    name: 'a ClusterRoleBinding holds in every namespace and names the group that it matched',
    given: [clusterRole('r', allow('get', '', 'pods')), clusterRoleBinding('b', 'r', group('devs'))],
    when: request(alice, 'get', 'pods', 'any', 'p'),
    want: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to Group "devs"',
  },
  {
    name: 'a RoleBinding to a Role holds in its namespace and names a service account as name/namespace',
    given: [
      role('ns', 'r', allow('get', '', 'pods')),
      roleBinding('ns', 'b', 'Role/r', serviceAccount('bot', 'other')),
    ],
    when: request(serviceAccountUser('other', 'bot'), 'get', 'pods', 'ns', 'p'),
    want: true,
    reason: 'RBAC: allowed by RoleBinding "b/ns" of Role "r" to ServiceAccount "bot/other"',
  },
  {
    name: 'a service account without namespace in a RoleBinding is one of its own namespace',
    given: [role('ns', 'r', allow('get', '', 'pods')), roleBinding('ns', 'b', 'Role/r', serviceAccount('bot'))],
    when: request(serviceAccountUser('ns', 'bot'), 'get', 'pods', 'ns', 'p'),
    want: true,
    reason: 'RBAC: allowed by RoleBinding "b/ns" of Role "r" to ServiceAccount "bot/ns"',
  },
  {
    name: 'a service account without namespace in a ClusterRoleBinding matches nobody',
    given: [clusterRole('r', allow('get', '', 'pods')), clusterRoleBinding('b', 'r', serviceAccount('bot'))],
    when: request(serviceAccountUser('ns', 'bot'), 'get', 'pods', 'ns', 'p'),
    want: false,
  },
  {
    name: 'a RoleBinding says nothing about another namespace',
    given: [role('ns', 'r', allow('get', '', 'pods')), roleBinding('ns', 'b', 'Role/r', user('alice'))],
    when: request(alice, 'get', 'pods', 'other', 'p'),
    want: false,
  },
  {
    name: 'a RoleBinding to a ClusterRole holds in its namespace',
    given: [clusterRole('r', allow('*', '*', '*')), roleBinding('ns', 'b', 'ClusterRole/r', user('alice'))],
    when: request(alice, 'delete', 'pods', 'ns', 'p'),
    want: true,
    reason: 'RBAC: allowed by RoleBinding "b/ns" of ClusterRole "r" to User "alice"',
  },
  {
    name: 'a RoleBinding to a ClusterRole gives nothing cluster-wide',
    given: [clusterRole('r', allow('*', '*', '*')), roleBinding('ns', 'b', 'ClusterRole/r', user('alice'))],
    when: request(alice, 'list', 'pods'),
    want: false,
  },
  {
    name: 'a rule about pods does not cover pods/log',
    given: bound(allow('get', '', 'pods')),
    when: request(alice, 'get', 'pods/log', 'a', 'p'),
    want: false,
  },
  {
    name: 'a rule about pods/log covers it',
    given: bound(allow('get', '', 'pods/log')),
    when: request(alice, 'get', 'pods/log', 'a', 'p'),
    want: true,
  },
  {
    name: 'a rule about pods/log does not cover pods',
    given: bound(allow('get', '', 'pods/log')),
    when: request(alice, 'get', 'pods', 'a', 'p'),
    want: false,
  },
  {
    name: '*/scale covers the scale of anything',
    given: bound(allow('get', 'apps', '*/scale')),
    when: request(alice, 'get', 'deployments.apps/scale', 'a', 'd'),
    want: true,
  },
  {
    name: '*/scale does not cover another sub-resource',
    given: bound(allow('get', 'apps', '*/scale')),
    when: request(alice, 'get', 'deployments.apps/status', 'a', 'd'),
    want: false,
  },
  {
    name: '*/scale does not cover the resource itself',
    given: bound(allow('get', 'apps', '*/scale')),
    when: request(alice, 'get', 'deployments.apps', 'a', 'd'),
    want: false,
  },
  {
    name: '* covers all sub-resources',
    given: bound(allow('get', '', '*')),
    when: request(alice, 'get', 'pods/log', 'a', 'p'),
    want: true,
  },
  {
    name: '* as verb covers any verb',
    given: bound(allow('*', '', 'namespacetemplates')),
    when: request(alice, 'use', 'namespacetemplates', '', 't'),
    want: true,
  },
  {
    name: 'the API group must match',
    given: bound(allow('get', 'apps', 'pods')),
    when: request(alice, 'get', 'pods', 'a', 'p'),
    want: false,
  },
  {
    name: '* as group covers custom groups',
    given: bound(allow('get', '*', 'widgets')),
    when: request(alice, 'get', 'widgets.ex.io', 'a', 'w'),
    want: true,
  },
  {
    name: 'resourceNames allow the named object',
    given: bound(allow('get', '', 'pods', 'p')),
    when: request(alice, 'get', 'pods', 'a', 'p'),
    want: true,
  },
  {
    name: 'resourceNames refuse another',
    given: bound(allow('get', '', 'pods', 'p')),
    when: request(alice, 'get', 'pods', 'a', 'q'),
    want: false,
  },
  {
    name: 'resourceNames refuse a request that names none',
    given: bound(allow('list', '', 'pods', 'p')),
    when: request(alice, 'list', 'pods', 'a'),
    want: false,
  },
  {
    name: 'resourceNames allow a list by name',
    given: bound(allow('list', '', 'pods', 'p')),
    when: request(alice, 'list', 'pods', 'a', 'p'),
    want: true,
  },
  {
    name: 'an empty string among resourceNames is not "no name"',
    given: bound({ verbs: ['list'], apiGroups: [''], resources: ['pods'], resourceNames: [''] }),
    when: request(alice, 'list', 'pods', 'a'),
    want: false,
  },
  {
    name: 'a path rule matches exactly',
    given: bound({ verbs: ['get'], nonResourceURLs: ['/metrics'] }),
    when: { user: alice, verb: 'get', path: '/metrics' },
    want: true,
  },
  {
    name: 'an exact path does not cover what is below',
    given: bound({ verbs: ['get'], nonResourceURLs: ['/metrics'] }),
    when: { user: alice, verb: 'get', path: '/metrics/a' },
    want: false,
  },
  {
    name: 'a trailing star covers what is below',
    given: bound({ verbs: ['get'], nonResourceURLs: ['/apis/*'] }),
    when: { user: alice, verb: 'get', path: '/apis/apps/v1' },
    want: true,
  },
  {
    name: 'a trailing star does not cover the path without its slash',
    given: bound({ verbs: ['get'], nonResourceURLs: ['/apis/*'] }),
    when: { user: alice, verb: 'get', path: '/apis' },
    want: false,
  },
  {
    name: 'a lone star covers every path',
    given: bound({ verbs: ['get'], nonResourceURLs: ['*'] }),
    when: { user: alice, verb: 'get', path: '/x' },
    want: true,
  },
  {
    name: 'a path rule has verbs',
    given: bound({ verbs: ['get'], nonResourceURLs: ['*'] }),
    when: { user: alice, verb: 'post', path: '/x' },
    want: false,
  },
  {
    name: 'a rule about resources allows no path',
    given: bound(allow('*', '*', '*')),
    when: { user: alice, verb: 'get', path: '/x' },
    want: false,
  },
  {
    name: 'a rule about paths allows no resource',
    given: bound({ verbs: ['*'], nonResourceURLs: ['*'] }),
    when: request(alice, 'get', 'pods', 'a', 'p'),
    want: false,
  },
  {
    name: 'a path rule in a RoleBinding gives nothing',
    given: [
      clusterRole('r', { verbs: ['get'], nonResourceURLs: ['*'] }),
      roleBinding('ns', 'b', 'ClusterRole/r', user('alice')),
    ],
    when: { user: alice, verb: 'get', path: '/x' },
    want: false,
  },
  {
    name: 'a missing role is told in the refusal',
    given: [clusterRoleBinding('b', 'gone', user('alice'))],
    when: request(alice, 'get', 'pods', 'ns', 'p'),
    want: false,
    reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
  },
  {
    name: 'several missing roles are listed, each once',
    given: [
      clusterRoleBinding('b1', 'gone', user('alice')),
      clusterRoleBinding('b2', 'gone', user('alice')),
      roleBinding('ns', 'b', 'Role/gone', user('alice')),
    ],
    when: request(alice, 'get', 'pods', 'ns', 'p'),
    want: false,
    reason:
      'RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "gone" not found]',
  },
  {
    name: 'the missing role of somebody else is not told',
    given: [clusterRoleBinding('b', 'gone', user('bob'))],
    when: request(alice, 'get', 'pods', 'ns', 'p'),
    want: false,
    reason: '',
  },
  {
    name: 'a missing role does not hide a right given elsewhere',
    given: [clusterRoleBinding('a', 'gone', user('alice')), ...bound(allow('get', '', 'pods'))],
    when: request(alice, 'get', 'pods', 'ns', 'p'),
    want: true,
  },
  {
    name: 'the reason names the first subject of the binding that matches',
    given: [clusterRole('r', allow('get', '', 'pods')), clusterRoleBinding('b', 'r', group('devs'), user('alice'))],
    when: request(alice, 'get', 'pods', 'ns', 'p'),
    want: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to Group "devs"',
  },
  {
    name: 'a list of namespaces by name is judged by the rights inside that namespace too',
    given: [role('ns', 'r', allow('list', '', 'namespaces')), roleBinding('ns', 'b', 'Role/r', user('alice'))],
    when: request(alice, 'list', 'namespaces', '', 'ns'),
    want: true,
  },
  {
    name: 'a list of all namespaces is not',
    given: [role('ns', 'r', allow('list', '', 'namespaces')), roleBinding('ns', 'b', 'Role/r', user('alice'))],
    when: request(alice, 'list', 'namespaces'),
    want: false,
  },
  {
    name: 'a list of another type by name is not judged by the rights inside a namespace of that name',
    given: [role('ns', 'r', allow('*', '*', '*')), roleBinding('ns', 'b', 'Role/r', user('alice'))],
    when: request(alice, 'list', 'nodes', '', 'ns'),
    want: false,
  },
  {
    name: 'nor is one of namespaces of another group',
    given: [role('ns', 'r', allow('*', '*', '*')), roleBinding('ns', 'b', 'Role/r', user('alice'))],
    when: request(alice, 'list', 'namespaces.example.org', '', 'ns'),
    want: false,
  },
  {
    name: 'an object called like a namespace, asked about in another one, is judged by that one',
    given: [role('other', 'r', allow('get', '', 'namespaces')), roleBinding('other', 'b', 'Role/r', user('alice'))],
    when: request(alice, 'get', 'namespaces', 'ns', 'other'),
    want: false,
  },
  {
    name: 'attack: a rule about the resource without a name covers no other',
    given: bound(allow('*', '*', '')),
    when: request(alice, 'get', 'pods', 'ns', 'p'),
    want: false,
  },
  {
    name: 'rights inside a namespace do not allow creating it',
    given: [role('ns', 'r', allow('*', '*', '*')), roleBinding('ns', 'b', 'Role/r', user('alice'))],
    when: request(alice, 'create', 'namespaces', '', 'ns'),
    want: false,
  },
  {
    name: 'the group name as user name gives nothing',
    given: [clusterRole('r', allow('get', '', 'pods')), clusterRoleBinding('b', 'r', group('devs'))],
    when: request({ username: 'devs', groups: [] }, 'get', 'pods', 'ns', 'p'),
    want: false,
  },
  {
    name: 'a subject of an unknown kind is no service account',
    given: [
      clusterRole('r', allow('get', '', 'pods')),
      clusterRoleBinding('b', 'r', { kind: 'Robot', name: 'bot', namespace: 'ns' }),
    ],
    when: request(serviceAccountUser('ns', 'bot'), 'get', 'pods', 'ns', 'p'),
    want: false,
  },
  {
    name: 'a service account without namespace in a ClusterRoleBinding is not the user whose name it would have',
    given: [clusterRole('r', allow('get', '', 'pods')), clusterRoleBinding('b', 'r', serviceAccount('bot'))],
    when: request({ username: 'system:serviceaccount::bot', groups: [] }, 'get', 'pods', 'ns', 'p'),
    want: false,
  },
  {
    name: 'a binding without subjects and a role without rules give nothing',
    given: [
      { ...clusterRoleBinding('b', 'r', user('alice')), subjects: null } as unknown as Binding,
      clusterRoleBinding('c', 'empty', user('alice')),
      { ...clusterRole('empty'), rules: null } as unknown as Role,
    ],
    when: request(alice, 'get', 'pods', 'ns', 'p'),
    want: false,
    reason: '',
  },
  {
    name: 'a rule without verbs, groups or names gives nothing, or every name',
    given: bound(
      { resources: ['pods'] } as unknown as PolicyRule,
      { nonResourceURLs: ['/a'] } as unknown as PolicyRule,
    ),
    when: request(alice, 'get', 'pods', 'ns', 'p'),
    want: false,
    reason: '',
  },
  {
    name: 'two rules about one resource count together',
    given: bound(allow('get', '', 'pods'), allow('list', '', 'pods')),
    when: request(alice, 'list', 'pods', 'ns'),
    want: true,
  },
  {
    name: 'a RoleBinding that refers to an unknown kind gives nothing, and says so',
    given: [
      clusterRole('r', allow('get', '', 'pods')),
      role('ns', 'r', allow('get', '', 'pods')),
      roleBinding('ns', 'b', 'Robot/r', user('alice')),
    ],
    when: request(alice, 'get', 'pods', 'ns', 'p'),
    want: false,
    reason: 'RBAC: unsupported role reference kind: "Robot"',
  },
]

describe('one decision', () => {
  test.each(cases)('$name', ({ given, when, want, reason }) => {
    const decision = world(...given).rbac.authorize(when)
    expect(decision.allowed).toBe(want)
    if (reason !== undefined) expect(decision.reason).toBe(reason)
  })
})

describe('following the store', () => {
  const get = request(alice, 'get', 'pods', 'ns', 'p')

  test('a change of role, binding and subject shows in the next decision', () => {
    const { source, rbac } = world()
    const may = (): boolean => rbac.authorize(get).allowed
    source.put(roleBinding('ns', 'b', 'Role/r', user('alice')))
    expect(may()).toBe(false)
    source.put(role('ns', 'r', allow('list', '', 'pods')))
    expect(may()).toBe(false)
    source.put(role('ns', 'r', allow('get', '', 'pods')))
    expect(may()).toBe(true)
    source.put(roleBinding('ns', 'b', 'Role/r', user('bob')))
    expect(may()).toBe(false)
    source.put(roleBinding('ns', 'b', 'Role/r', user('bob'), group('devs'), user('alice'), user('alice')))
    expect(may()).toBe(true)
    source.remove('RoleBinding', 'b', 'ns')
    expect(may()).toBe(false)
    source.put(roleBinding('ns', 'b', 'Role/r', user('alice')))
    expect(may()).toBe(true)
    source.remove('Role', 'r', 'ns')
    expect(may()).toBe(false)
  })

  test('a binding that names a subject twice takes nothing from the next one when it goes', () => {
    const { source, rbac } = world(clusterRole('r', allow('get', '', 'pods')))
    source.put(clusterRoleBinding('a', 'r', user('alice'), user('alice')))
    source.put(clusterRoleBinding('b', 'r', user('alice')))
    source.remove('ClusterRoleBinding', 'a')
    expect(rbac.authorize(get).allowed).toBe(true)
    source.remove('ClusterRoleBinding', 'b')
    expect(rbac.authorize(get).allowed).toBe(false)
  })

  test('disposing ends the subscriptions', () => {
    const { source, rbac } = world()
    expect(source.subscribers).toBe(5)
    rbac[Symbol.dispose]()
    expect(source.subscribers).toBe(0)
  })
})

describe('the work of a check', () => {
  const examined = (bindings: number): number => {
    const { source, rbac } = world(clusterRole('r', allow('get', '', 'pods')))
    for (let i = 0; i < bindings; i++) {
      source.put(clusterRoleBinding(`c${i}`, 'r', user(`user${i}`), group(`group${i}`)))
      source.put(roleBinding('ns', `b${i}`, 'ClusterRole/r', user(`user${i}`), serviceAccount(`bot${i}`)))
    }
    source.put(roleBinding('ns', 'mine', 'ClusterRole/r', user('alice')))
    const before = rbac.examinedBindings
    expect(rbac.authorize(request(alice, 'get', 'pods', 'ns', 'p')).allowed).toBe(true)
    expect(rbac.authorize(request(alice, 'delete', 'pods', 'ns', 'p')).allowed).toBe(false)
    return rbac.examinedBindings - before
  }

  test('does not grow with the bindings of others', () => {
    expect(examined(10)).toBe(2)
    expect(examined(10_000)).toBe(2)
  })

  test('is that of one binding where a binding names the user twice', () => {
    const { source, rbac } = world(clusterRole('r', allow('get', '', 'pods')))
    source.put(clusterRoleBinding('twice', 'r', user('alice'), user('alice')))
    expect(rbac.authorize(request(alice, 'delete', 'pods', 'ns', 'p')).allowed).toBe(false)
    expect(rbac.examinedBindings).toBe(1)
  })
})

describe('rulesFor', () => {
  test('collects cluster-wide rules and those of the namespace, each binding once', () => {
    const { rbac } = world(
      clusterRole('c', allow('get', '', 'nodes'), { verbs: ['get'], nonResourceURLs: ['/healthz'] }),
      clusterRoleBinding('c', 'c', user('alice'), group('devs')),
      clusterRole('d', allow('list', '', 'pods')),
      clusterRoleBinding('d', 'd', user('alice')),
      role('ns', 'r', allow('get', '', 'secrets', 's')),
      roleBinding('ns', 'r', 'Role/r', user('alice')),
      role('other', 'r', allow('*', '*', '*')),
      roleBinding('other', 'r', 'Role/r', user('alice')),
    )
    expect(rbac.rulesFor(alice, 'ns')).toEqual({
      resourceRules: [
        { verbs: ['get'], apiGroups: [''], resources: ['nodes'] },
        { verbs: ['list'], apiGroups: [''], resources: ['pods'] },
        { verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['s'] },
      ],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }],
      incomplete: false,
    })
  })

  test('shows as empty what a rule leaves out', () => {
    const { rbac } = world(
      clusterRole(
        'c',
        { resources: ['pods'] } as unknown as PolicyRule,
        { verbs: null, apiGroups: null, resources: ['nodes'], resourceNames: null } as unknown as PolicyRule,
        {
          nonResourceURLs: ['/healthz'],
        } as unknown as PolicyRule,
      ),
      clusterRoleBinding('c', 'c', user('alice')),
    )
    expect(rbac.rulesFor(alice, 'ns')).toEqual({
      resourceRules: ['pods', 'nodes'].map((resource) => ({ verbs: [], apiGroups: [], resources: [resource] })),
      nonResourceRules: [{ verbs: [], nonResourceURLs: ['/healthz'] }],
      incomplete: false,
    })
  })

  test('says which roles are missing', () => {
    const { rbac } = world(clusterRoleBinding('c', 'gone', user('alice')))
    expect(rbac.rulesFor(alice, 'ns')).toEqual({
      resourceRules: [],
      nonResourceRules: [],
      incomplete: false,
      evaluationError: 'clusterrole.rbac.authorization.k8s.io "gone" not found',
    })
  })
})

describe('property: the index decides as a naive evaluator would', () => {
  const oneOf = (...values: string[]): fc.Arbitrary<string> => fc.constantFrom(...values)
  const some = (...values: string[]): fc.Arbitrary<string[]> =>
    fc.array(oneOf(...values), { minLength: 1, maxLength: 3 })
  const rule: fc.Arbitrary<PolicyRule> = fc.oneof(
    fc.record({
      verbs: some('get', 'list', 'create', '*'),
      apiGroups: some('', 'apps', '*'),
      resources: some('pods', 'pods/log', 'namespaces', '*/log', '*'),
      resourceNames: fc.array(oneOf('x', 'y'), { maxLength: 2 }),
    }),
    fc.record({ verbs: some('get', 'post', '*'), nonResourceURLs: some('/a', '/a/*', '/a*', '*') }),
  )
  const namespace = oneOf('n1', 'n2')
  const name = oneOf('r1', 'r2', 'r3')
  const subject = fc.oneof(
    oneOf('u1', 'u2', 'system:serviceaccount:n1:s').map(user),
    oneOf('g1', 'g2').map(group),
    fc.tuple(oneOf('s'), fc.option(namespace, { nil: undefined })).map(([n, ns]) => serviceAccount(n, ns)),
  )
  const object: fc.Arbitrary<KubeObject> = fc.oneof(
    fc.tuple(name, fc.array(rule, { maxLength: 3 })).map(([n, rules]) => clusterRole(n, ...rules)),
    fc.tuple(namespace, name, fc.array(rule, { maxLength: 3 })).map(([ns, n, rules]) => role(ns, n, ...rules)),
    fc.tuple(name, name, fc.array(subject, { maxLength: 3 })).map(([n, r, s]) => clusterRoleBinding(n, r, ...s)),
    fc
      .tuple(namespace, name, oneOf('Role', 'ClusterRole'), name, fc.array(subject, { maxLength: 3 }))
      .map(([ns, n, kind, r, s]) => roleBinding(ns, n, `${kind}/${r}`, ...s)),
  )
  const who: fc.Arbitrary<UserInfo> = fc.record({
    username: oneOf('u1', 'u2', 'g1', 'system:serviceaccount:n1:s', 'system:serviceaccount:n2:s'),
    groups: fc.uniqueArray(oneOf('g1', 'g2', 'u1'), { maxLength: 2 }),
  })
  const attributes: fc.Arbitrary<AuthzAttributes> = fc.oneof(
    fc
      .tuple(
        who,
        oneOf('get', 'list', 'create'),
        oneOf('pods', 'pods/log', 'pods.apps', 'namespaces'),
        oneOf('', 'n1', 'n2'),
        oneOf('', 'x', 'n1'),
      )
      .map(([u, verb, resource, ns, n]) => request(u, verb, resource, ns, n)),
    fc.record({ user: who, verb: oneOf('get', 'post'), path: oneOf('/a', '/a/b', '/ab', '/c') }),
  )

  const keyOf = (o: KubeObject): string => `${o.kind} ${o.metadata.namespace ?? ''}/${o.metadata.name}`

  function naive(objects: readonly KubeObject[], a: AuthzAttributes): boolean {
    const byName = a.path === undefined && a.namespace === '' && a.resource === 'namespaces' && a.verb !== 'create'
    const scope = a.path !== undefined ? '' : byName ? a.name : a.namespace
    return objects.some((o) => {
      if (o.kind !== 'ClusterRoleBinding' && !(o.kind === 'RoleBinding' && o.metadata.namespace === scope)) return false
      const binding = o as Binding
      const applies = (binding.subjects ?? []).some((s) => {
        if (s.kind === 'User') return s.name === a.user.username
        if (s.kind === 'Group') return a.user.groups.includes(s.name)
        const home = s.namespace ?? o.metadata.namespace
        return home !== undefined && a.user.username === `system:serviceaccount:${home}:${s.name}`
      })
      if (!applies) return false
      const target = objects.find(
        (r) =>
          r.kind === binding.roleRef.kind &&
          r.metadata.name === binding.roleRef.name &&
          (r.kind === 'ClusterRole' || r.metadata.namespace === o.metadata.namespace),
      ) as Role | undefined
      return (target?.rules ?? []).some((r) => covers(r, a))
    })
  }

  function covers(r: PolicyRule, a: AuthzAttributes): boolean {
    if (!r.verbs.includes('*') && !r.verbs.includes(a.verb)) return false
    if (a.path !== undefined) {
      return (r.nonResourceURLs ?? []).some(
        (url) => url === '*' || url === a.path || (url.endsWith('*') && a.path.startsWith(url.slice(0, -1))),
      )
    }
    const full = a.subresource ? `${a.resource}/${a.subresource}` : a.resource
    return (
      ((r.apiGroups ?? []).includes('*') || (r.apiGroups ?? []).includes(a.group)) &&
      (r.resources ?? []).some((x) => x === '*' || x === full || (a.subresource && x === `*/${a.subresource}`)) &&
      ((r.resourceNames ?? []).length === 0 || (r.resourceNames ?? []).includes(a.name))
    )
  }

  test('whatever the order of arrival, and after any detour', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(object, { selector: keyOf, maxLength: 12 }),
        fc.array(object, { maxLength: 6 }),
        fc.array(attributes, { minLength: 1, maxLength: 8 }),
        fc.infiniteStream(fc.nat()),
        (objects, detour, requests, dice) => {
          const straight = world(...objects)
          const { source, rbac } = world(...detour)
          const asked = new FakeRbacSource(true)
          for (const o of detour) asked.put(o)
          // One that keeps a single namespace, and is asked between the changes.
          const forgetful = new RbacAuthorizer(asked, new FakeClock(), { recentNamespaces: 1 })
          const askAll = (): void => {
            for (const a of requests) forgetful.authorize(a)
          }
          askAll()
          const shuffled = objects
            .map((o) => ({ o, at: dice.next().value as number }))
            .sort((x, y) => x.at - y.at)
            .map((x) => x.o)
          for (const o of shuffled) {
            source.put(o)
            asked.put(o)
            askAll()
          }
          const kept = new Set(objects.map(keyOf))
          for (const o of new Map(detour.map((d) => [keyOf(d), d])).values()) {
            if (kept.has(keyOf(o))) continue
            for (const each of [source, asked])
              each.remove(o.kind as 'Role', o.metadata.name ?? '', o.metadata.namespace)
          }
          for (const a of requests) {
            const decision = rbac.authorize(a)
            expect(decision.allowed).toBe(naive(objects, a))
            expect(decision).toEqual(straight.rbac.authorize(a))
            expect(forgetful.authorize(a)).toEqual(decision)
          }
        },
      ),
      { numRuns: 300 },
    )
  })
})
