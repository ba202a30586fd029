import { describe, expect, test } from 'vitest'
import {
  allow,
  clusterRole,
  clusterRoleBinding,
  FakeRbacSource,
  group,
  namespaceObject,
  role,
  roleBinding,
  serviceAccount,
  user,
} from '../../test/support/fake-rbac-source.ts'
import { FakeClock } from '../base/fake-clock.ts'
import type { NameView } from '../kube/name-view.ts'
import type { PolicyRule } from '../kube/rbac.ts'
import type { KubeObject } from '../kube/types.ts'
import type { UserInfo } from '../kube/user.ts'
import type { IndexedBinding } from './binding-index.ts'
import { NamespaceGrants } from './namespace-grants.ts'
import { RbacAuthorizer } from './rbac-authorizer.ts'
import { CompiledRules } from './rbac-rules.ts'

const alice: UserInfo = { username: 'alice', groups: ['devs'] }
const getNamespaces = allow('get', '', 'namespaces')

function world(...objects: KubeObject[]) {
  const clock = new FakeClock()
  const source = new FakeRbacSource()
  for (const object of objects) source.put(object)
  const grants = new NamespaceGrants(clock, { changes: 4, ageMs: 60_000 })
  const rbac = new RbacAuthorizer(source, clock, { observer: grants })
  const may = (who: UserInfo, name: string): boolean =>
    rbac.authorize({ user: who, verb: 'get', group: '', resource: 'namespaces', namespace: name, name }).allowed
  return { clock, source, grants, may }
}

/** `+a`, `-b`, `+*`, and `|` after all of one change. */
function followed(view: NameView): { readonly told: string[]; readonly stop: () => void } {
  const told: string[] = []
  const stop = view.follow({
    changed: ({ name, gained }) => told.push(`${gained ? '+' : '-'}${name || '*'}`),
    settled: () => told.push('|'),
  })
  return { told, stop }
}

const rows: readonly { name: string; given: readonly KubeObject[]; who?: UserInfo; want: readonly string[] | 'all' }[] =
  [
    {
      name: 'a RoleBinding gives its own namespace, to the user or to a group',
      given: [
        clusterRole('r', getNamespaces),
        roleBinding('a', 'b', 'ClusterRole/r', user('alice')),
        roleBinding('c', 'b', 'ClusterRole/r', group('devs')),
        roleBinding('d', 'b', 'ClusterRole/r', user('bob')),
      ],
      want: ['a', 'c'],
    },
    {
      name: 'a user called like a group has nothing of the group, and the other way round',
      given: [
        clusterRole('r', getNamespaces),
        roleBinding('a', 'b', 'ClusterRole/r', user('devs')),
        roleBinding('c', 'b', 'ClusterRole/r', group('alice')),
      ],
      want: [],
    },
    {
      name: 'a Role that names another namespace gives nothing',
      given: [role('a', 'r', allow('get', '', 'namespaces', 'c')), roleBinding('a', 'b', 'Role/r', user('alice'))],
      want: [],
    },
    {
      name: 'a ClusterRoleBinding gives what its role names',
      given: [clusterRole('r', allow('get', '', 'namespaces', 'a,c')), clusterRoleBinding('b', 'r', user('alice'))],
      want: ['a', 'c'],
    },
    {
      name: 'a ClusterRoleBinding of a role that names none gives all',
      given: [clusterRole('r', allow('*', '*', '*')), clusterRoleBinding('b', 'r', group('devs'))],
      want: 'all',
    },
    {
      name: 'attack: the object called * is one object, and so is the one without a name',
      given: [
        clusterRole('r', allow('get', '', 'namespaces', '*'), { ...getNamespaces, resourceNames: [''] }),
        clusterRoleBinding('b', 'r', user('alice')),
      ],
      want: ['*'],
    },
    {
      name: 'an account of the binding’s own namespace',
      given: [clusterRole('r', getNamespaces), roleBinding('a', 'b', 'ClusterRole/r', serviceAccount('bot'))],
      who: { username: 'system:serviceaccount:a:bot', groups: [] },
      want: ['a'],
    },
    {
      name: 'sub-resources, other groups and other verbs are something else',
      given: [
        clusterRole(
          'r',
          allow('get', '', 'namespaces/status'),
          allow('get', 'ex.io', 'namespaces'),
          allow('list', '', '*'),
        ),
        clusterRoleBinding('b', 'r', user('alice')),
      ],
      want: [],
    },
  ]

describe('which namespaces a user may get', () => {
  test.each(rows)('$name', ({ given, who = alice, want }) => {
    const { grants, may } = world(...given)
    const view = grants.viewOf(who)
    expect(view.names()?.toSorted() ?? 'all').toEqual(want)
    for (const name of ['a', 'c', 'd', 'z']) expect(view.sees(name), name).toBe(may(who, name))
  })
})

describe('a change of rights', () => {
  test('is told to those whom it concerns, once for all that it brings', () => {
    const { source, grants } = world(
      clusterRole('r', getNamespaces),
      roleBinding('a', 'b', 'ClusterRole/r', user('alice')),
      roleBinding('c', 'b', 'ClusterRole/r', user('alice')),
    )
    const { told, stop } = followed(grants.viewOf(alice))
    const others = followed(grants.viewOf({ username: 'bob', groups: [] }))
    source.put(clusterRole('r', allow('get', '', 'pods')))
    source.put(clusterRole('r', getNamespaces))
    expect(told).toEqual(['-a', '-c', '|', '+a', '+c', '|'])
    stop()
    source.put(clusterRole('r'))
    expect(told).toHaveLength(6)
    expect(others.told).toEqual([])
  })

  test('of a Role counts as that of a ClusterRole does', () => {
    const { source, grants } = world(
      role('a', 'r', getNamespaces),
      roleBinding('a', 'b', 'Role/r', user('alice')),
      roleBinding('c', 'b', 'Role/r', user('alice')),
    )
    const { told } = followed(grants.viewOf(alice))
    source.put(role('a', 'r', allow('get', '', 'pods')))
    source.put(role('c', 'r', getNamespaces))
    source.remove('Role', 'r', 'c')
    expect(told).toEqual(['-a', '|', '+c', '|', '-c', '|'])
  })

  test('that removes a binding which gave no namespace takes nothing away', () => {
    const { source, grants } = world(
      clusterRole('r', getNamespaces),
      clusterRole('pods', allow('get', '', 'pods')),
      roleBinding('a', 'b', 'ClusterRole/r', user('alice')),
      roleBinding('a', 'second', 'ClusterRole/pods', user('alice')),
    )
    const view = grants.viewOf(alice)
    const { told } = followed(view)
    source.remove('RoleBinding', 'second', 'a')
    expect([view.names(), told]).toEqual([['a'], []])
  })

  test('of the names that a role gives is told name by name', () => {
    const named = (names: string): KubeObject => clusterRole('r', allow('get', '', 'namespaces', names))
    const { source, grants } = world(named('a'), clusterRoleBinding('b', 'r', user('alice')))
    const view = grants.viewOf(alice)
    const { told } = followed(view)
    for (const names of ['b', 'b,c', 'c', 'a,d', 'a,e']) {
      source.put(named(names))
      expect(view.names()?.toSorted()).toEqual(names.split(','))
    }
    expect(told).toEqual(['+b', '-a', '|', '+c', '|', '-b', '|', '+a', '+d', '-c', '|', '+e', '-d', '|'])
    source.put(clusterRole('r', getNamespaces))
    expect(view.names()).toBeUndefined()
    source.put(named('a'))
    expect(view.names()).toEqual(['a'])
  })

  test('of a role that names the namespace of its binding gives that one, and is taken back once', () => {
    const { source, grants } = world(
      role('a', 'r', allow('get', '', 'namespaces', 'a,c')),
      roleBinding('a', 'b', 'Role/r', user('alice')),
      roleBinding('a', 'second', 'Role/r', user('alice')),
    )
    const view = grants.viewOf(alice)
    expect(view.names()).toEqual(['a'])
    source.remove('RoleBinding', 'b', 'a')
    source.put(roleBinding('a', 'b', 'Role/r', group('devs')))
    source.remove('RoleBinding', 'b', 'a')
    expect(view.names()).toEqual(['a'])
    source.remove('RoleBinding', 'second', 'a')
    expect(view.names()).toEqual([])
  })

  test('that moves a right from the user to a group of theirs is none', () => {
    const { source, grants } = world(
      clusterRole('r', getNamespaces),
      roleBinding('a', 'b', 'ClusterRole/r', user('alice')),
    )
    const { told } = followed(grants.viewOf(alice))
    source.put(roleBinding('a', 'b', 'ClusterRole/r', group('devs')))
    source.put(roleBinding('a', 'second', 'ClusterRole/r', user('alice')))
    source.remove('RoleBinding', 'b', 'a')
    expect(told).toEqual([])
    source.remove('RoleBinding', 'second', 'a')
    expect(told).toEqual(['-a', '|'])
  })

  test('of a role gives nothing by a binding that is gone', () => {
    const { source, grants } = world(
      clusterRole('r', allow('get', '', 'pods')),
      roleBinding('a', 'b', 'ClusterRole/r', user('alice')),
      roleBinding('c', 'b', 'ClusterRole/r', user('alice')),
    )
    const { told } = followed(grants.viewOf(alice))
    source.remove('RoleBinding', 'b', 'a')
    source.put(clusterRole('r', getNamespaces))
    source.remove('RoleBinding', 'b', 'c')
    source.put(clusterRole('r', allow('get', '', 'pods')))
    expect(told).toEqual(['+c', '|', '-c', '|'])
  })

  test.each([
    ['all namespaces', [getNamespaces], [getNamespaces, allow('get', '', 'pods')]],
    ['these, in whatever order', [allow('get', '', 'namespaces', 'a,c')], [allow('get', '', 'namespaces', 'c,a')]],
    ['none', [], [allow('get', '', 'pods')]],
  ])('of a role that still gives %s does not cost its bindings', (_, before, after) => {
    const { grants } = world()
    let looks = 0
    const binding: IndexedBinding = {
      ...{ namespace: '', name: 'b', roleKind: 'ClusterRole', roleName: 'r' },
      get subjects() {
        looks++
        return [{ list: 'users', key: 'alice', text: '' } as const]
      },
    }
    const address = { kind: 'ClusterRole', namespace: '', name: 'r' } as const
    const role = (revision: number, rules: readonly PolicyRule[]): void =>
      grants.onRole(address, { keep: false, rules: () => new CompiledRules(rules), revision })
    grants.onBinding(binding, undefined, { keep: false, rulesOf: () => new CompiledRules(before), revision: 1 })
    const found = looks
    role(2, after)
    expect(looks).toBe(found)
    role(3, [allow('get', '', 'namespaces', 'z')])
    expect(looks).toBeGreaterThan(found)
  })

  test('of a role that says something else is not even looked at', () => {
    const { source, grants } = world(
      clusterRole('r', getNamespaces),
      ...Array.from({ length: 100 }, (_, i) => roleBinding(`ns${i}`, 'b', 'ClusterRole/r', user('alice'))),
    )
    const { told } = followed(grants.viewOf(alice))
    source.put(clusterRole('r', getNamespaces, allow('get', 'ex.io', 'widgets')))
    expect(told).toEqual([])
    expect(grants.viewOf(alice).past(0)?.changes).toEqual([])
  })

  test('to every namespace leaves those seen by name as they are', () => {
    const { source, grants } = world(
      clusterRole('r', getNamespaces),
      roleBinding('a', 'b', 'ClusterRole/r', user('alice')),
    )
    const concerned: boolean[][] = []
    grants.viewOf(alice).follow({
      changed: ({ name, concerns }) => {
        expect(name).toBe('')
        concerned.push([concerns('a'), concerns('c')])
      },
      settled: () => undefined,
    })
    source.put(clusterRoleBinding('b', 'r', user('alice')))
    source.remove('ClusterRoleBinding', 'b')
    expect(concerned).toEqual([
      [false, true],
      [false, true],
    ])
  })

  test('in a namespace that terminates is kept until it is gone, and not for the next of that name', () => {
    const { source, grants, may } = world(
      namespaceObject('a'),
      clusterRole('r', getNamespaces),
      roleBinding('a', 'b', 'ClusterRole/r', user('alice')),
    )
    const view = grants.viewOf(alice)
    const { told } = followed(view)
    source.put(namespaceObject('a', true))
    source.remove('RoleBinding', 'b', 'a')
    expect([view.sees('a'), may(alice, 'a')]).toEqual([true, true])
    source.remove('Namespace', 'a')
    expect(told).toEqual([])
    source.put(namespaceObject('a'))
    expect([view.sees('a'), may(alice, 'a')]).toEqual([false, false])
    expect(told).toEqual(['-a', '|'])
  })

  test('of a Role that goes first in a namespace that terminates is kept for all whom it gave it', () => {
    const { source, grants, may } = world(
      namespaceObject('a'),
      role('a', 'r', getNamespaces),
      roleBinding('a', 'b', 'Role/r', user('alice')),
      roleBinding('a', 'second', 'Role/r', user('bob')),
    )
    const bob: UserInfo = { username: 'bob', groups: [] }
    const seen = (): boolean[] => [alice, bob].flatMap((who) => [grants.viewOf(who).sees('a'), may(who, 'a')])
    source.put(namespaceObject('a', true))
    source.remove('Role', 'r', 'a')
    expect(seen()).toEqual([true, true, true, true])
    source.remove('RoleBinding', 'b', 'a')
    source.remove('RoleBinding', 'second', 'a')
    source.remove('Namespace', 'a')
    expect(seen()).toEqual([true, true, true, true])
    source.put(namespaceObject('a'))
    expect(seen()).toEqual([false, false, false, false])
  })

  /** A binding of alice goes before its namespace does, which is still to go. */
  const bindAndTerminate = (source: FakeRbacSource): void => {
    source.put(namespaceObject('a'))
    source.put(roleBinding('a', 'b', 'ClusterRole/r', user('alice')))
    source.put(namespaceObject('a', true))
    source.remove('RoleBinding', 'b', 'a')
  }

  test('in a namespace that goes a second time is kept as it was the first time', () => {
    const { source, grants, may } = world(clusterRole('r', getNamespaces))
    const view = grants.viewOf(alice)
    for (let life = 1; life <= 2; life++) {
      bindAndTerminate(source)
      source.put(clusterRole('r', getNamespaces))
      expect([view.sees('a'), may(alice, 'a')], `life ${life}`).toEqual([true, true])
      source.remove('Namespace', 'a')
    }
  })

  test('in a namespace that goes twice takes back once what each of them gave', () => {
    const { source, grants, may } = world(
      clusterRole('r', getNamespaces),
      clusterRole('a-alone', allow('get', '', 'namespaces', 'a')),
      clusterRoleBinding('b', 'a-alone', user('alice')),
    )
    const view = grants.viewOf(alice)
    for (let life = 1; life <= 2; life++) {
      bindAndTerminate(source)
      source.remove('Namespace', 'a')
    }
    source.put(namespaceObject('other'))
    expect([view.sees('a'), may(alice, 'a')]).toEqual([true, true])
    source.remove('ClusterRoleBinding', 'b')
    expect([view.sees('a'), view.names()]).toEqual([false, []])
  })
})

describe('the creator of a namespace that initializes', () => {
  const here = (revision: number) => ({ isGone: false, revision })

  test('gets it from its beginning until it is ready, and nobody else does', () => {
    const { grants } = world()
    const { told } = followed(grants.viewOf(alice))
    grants.onCreator('a', 'alice', undefined, here(1))
    grants.onCreator('a', 'alice', 'alice', here(2))
    expect(grants.viewOf(alice).names()).toEqual(['a'])
    for (const username of ['bob', 'undefined', '']) expect(grants.viewOf({ username, groups: [] }).names()).toEqual([])
    grants.onCreator('a', undefined, 'alice', here(3))
    expect(told).toEqual(['+a', '|', '-a', '|'])
    for (const username of ['alice', 'undefined', '']) {
      expect(grants.viewOf({ username, groups: [] }).names()).toEqual([])
    }
  })

  test('sees it go, and no longer gets it with the next change of anything', () => {
    for (const change of ['of a creator', 'of a namespace', 'of a role', 'of a binding'] as const) {
      const { source, grants } = world(clusterRole('r', getNamespaces))
      source.revision = 10
      const view = grants.viewOf(alice)
      grants.onCreator('a', 'alice', undefined, here(1))
      const { told } = followed(view)
      grants.onCreator('a', undefined, 'alice', { isGone: true, revision: 2 })
      expect([view.sees('a'), told]).toEqual([true, []])
      if (change === 'of a creator') grants.onCreator('b', 'bob', undefined, here(3))
      else if (change === 'of a namespace') source.put(namespaceObject('b'))
      else if (change === 'of a role') source.put(clusterRole('other', getNamespaces))
      else source.put(clusterRoleBinding('b', 'r', user('bob')))
      expect([view.sees('a'), told], change).toEqual([false, ['-a', '|']])
    }
  })

  test('gets it until the transaction that removes it is over, whatever else that changes', () => {
    const { grants } = world()
    const view = grants.viewOf(alice)
    grants.onCreator('a', 'alice', undefined, here(1))
    grants.onCreator('a', undefined, 'alice', { isGone: true, revision: 2 })
    grants.onCreator('b', 'bob', undefined, here(2))
    expect(view.sees('a')).toBe(true)
    grants.onCreator('c', 'bob', undefined, here(3))
    expect(view.sees('a')).toBe(false)
  })
})

describe('the past', () => {
  test('tells what was seen at a revision, and what changed since', () => {
    const { source, grants } = world(clusterRole('r', getNamespaces))
    const view = grants.viewOf(alice)
    source.put(roleBinding('a', 'b', 'ClusterRole/r', user('alice')))
    const then = source.revision
    source.put(roleBinding('c', 'b', 'ClusterRole/r', group('devs')))
    source.remove('RoleBinding', 'b', 'a')
    const past = view.past(then)
    expect([past?.sees('a'), past?.sees('c')]).toEqual([true, false])
    expect(past?.changes).toEqual([
      { revision: then + 1, name: 'c', gained: true },
      { revision: then + 2, name: 'a', gained: false },
    ])
    expect(view.past(source.revision)?.changes).toEqual([])
  })

  test('is forgotten by number and by age, but a quiet world remembers', async () => {
    const { source, grants, clock } = world(clusterRole('r', getNamespaces))
    const view = grants.viewOf(alice)
    const start = source.revision
    for (let i = 0; i < 4; i++) source.put(roleBinding(`n${i}`, 'b', 'ClusterRole/r', user('bob')))
    expect(view.past(start)).toBeDefined()
    for (let i = 4; i < 10; i++) source.put(roleBinding(`n${i}`, 'b', 'ClusterRole/r', user('bob')))
    expect(view.past(start)).toBeUndefined()
    const recent = source.revision
    await clock.advance(600_000)
    expect(view.past(recent)).toBeDefined()
    source.put(roleBinding('late', 'b', 'ClusterRole/r', user('bob')))
    expect(view.past(start + 7)).toBeUndefined()
    expect(view.past(recent)).toBeDefined()
  })

  test('can’t be told where every name came or went', () => {
    const { source, grants } = world(clusterRole('r', getNamespaces))
    const view = grants.viewOf(alice)
    const before = source.revision
    source.put(clusterRoleBinding('b', 'r', user('alice')))
    expect(view.past(before)).toBeUndefined()
    expect(view.past(source.revision)?.sees('anything')).toBe(true)
  })
})
