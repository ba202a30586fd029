import { describe, expect, test } from 'vitest'
import {
  allow,
  clusterRole,
  FakeRbacSource,
  namespaceObject,
  role,
  roleBinding,
  user,
} from '../../test/support/fake-rbac-source.ts'
import type { Clock } from '../base/clock.ts'
import { FakeClock } from '../base/fake-clock.ts'
import type { UserInfo } from '../kube/user.ts'
import type { AuthzAttributes, ResourceAttributes } from './authz.ts'
import { indexedBinding } from './binding-index.ts'
import { DeletedNamespaceRights } from './deleted-namespace-rights.ts'
import { RbacAuthorizer } from './rbac-authorizer.ts'
import { CompiledRules } from './rbac-rules.ts'

const alice: UserInfo = { username: 'alice', groups: [] }
const bob: UserInfo = { username: 'bob', groups: [] }

const read = (verb: string, who: UserInfo = alice): { readonly user: UserInfo } & ResourceAttributes => ({
  user: who,
  verb,
  group: '',
  resource: 'namespaces',
  namespace: verb === 'get' ? 'ns' : '',
  name: 'ns',
})
const content = (verb: string, namespace = 'ns'): AuthzAttributes => ({
  user: alice,
  verb,
  group: '',
  resource: 'secrets',
  namespace,
  name: '',
})

class Story {
  readonly clock = new FakeClock()
  readonly source: FakeRbacSource
  readonly rbac: RbacAuthorizer

  constructor(byNamespace: boolean, options: { limit?: number } = {}) {
    this.source = new FakeRbacSource(byNamespace)
    this.source.put(clusterRole('owner', allow('*', '', '*')))
    this.rbac = new RbacAuthorizer(this.source, this.clock, options)
    this.create('ns')
  }

  create(name: string): void {
    this.source.put(namespaceObject(name))
  }

  bind(name = 'ns'): void {
    this.source.put(roleBinding(name, 'creator', 'ClusterRole/owner', user('alice')))
  }

  terminate(name = 'ns'): void {
    this.source.put(namespaceObject(name, true))
  }

  unbind(name = 'ns'): void {
    this.source.remove('RoleBinding', 'creator', name)
  }

  remove(name = 'ns'): void {
    this.source.remove('Namespace', name)
  }

  /** As the namespace controller does it. */
  delete(name = 'ns'): void {
    this.terminate(name)
    this.unbind(name)
    this.remove(name)
  }

  may(attributes: AuthzAttributes): boolean {
    return this.rbac.authorize(attributes).allowed
  }
}

const sources = describe.each([
  ['all of RBAC is told', false],
  ['RBAC is read by namespace', true],
])

sources('the rights of a namespace that has just gone, where %s', (_name, byNamespace) => {
  test('its deleter may get, list and watch it by name for 60 seconds, and nothing after', async () => {
    const story = new Story(byNamespace)
    story.bind()
    story.delete()
    for (const verb of ['get', 'list', 'watch']) expect(story.may(read(verb))).toBe(true)
    expect(story.may(content('list'))).toBe(true)
    await story.clock.advance(59_999)
    expect(story.may(read('get'))).toBe(true)
    await story.clock.advance(1)
    for (const verb of ['get', 'list', 'watch']) expect(story.may(read(verb))).toBe(false)
    expect(story.may(content('list'))).toBe(false)
  })

  test('only reads are kept', () => {
    const story = new Story(byNamespace)
    story.bind()
    story.delete()
    for (const verb of ['create', 'update', 'patch', 'delete', 'deletecollection', 'use']) {
      expect(story.may(content(verb))).toBe(false)
      expect(story.may({ ...read('get'), verb })).toBe(false)
    }
  })

  test('who had no right gets none', () => {
    const story = new Story(byNamespace)
    story.bind()
    story.delete()
    expect(story.may(read('get', bob))).toBe(false)
    expect(story.may(content('list', 'other'))).toBe(false)
    expect(story.may({ ...read('list'), name: '' })).toBe(false)
  })

  test('the rights are those held, no more', () => {
    const story = new Story(byNamespace)
    story.source.put(role('ns', 'r', allow('get', '', 'namespaces')))
    story.source.put(roleBinding('ns', 'creator', 'Role/r', user('alice')))
    story.delete()
    expect(story.may(read('get'))).toBe(true)
    expect(story.may(read('list'))).toBe(false)
    expect(story.may(content('list'))).toBe(false)
  })

  test('they are held whether the Role or the RoleBinding is removed first', () => {
    for (const roleFirst of [true, false]) {
      const story = new Story(byNamespace)
      story.source.put(role('ns', 'r', allow('get', '', 'namespaces')))
      story.source.put(roleBinding('ns', 'creator', 'Role/r', user('alice')))
      story.terminate()
      if (roleFirst) story.source.remove('Role', 'r', 'ns')
      expect(story.may(read('get'))).toBe(true)
      story.unbind()
      expect(story.may(read('get'))).toBe(true)
      if (!roleFirst) story.source.remove('Role', 'r', 'ns')
      expect(story.may(read('get'))).toBe(true)
      story.remove()
      expect(story.may(read('get'))).toBe(true)
    }
  })

  test('they are held by the subjects of every binding that went, not of the last alone', () => {
    const story = new Story(byNamespace)
    story.bind()
    story.source.put(roleBinding('ns', 'second', 'ClusterRole/owner', user('bob')))
    story.terminate()
    story.unbind()
    story.source.remove('RoleBinding', 'second', 'ns')
    expect([alice, bob].map((who) => story.may(read('get', who)))).toEqual([true, true])
    story.remove()
    expect([alice, bob].map((who) => story.may(read('get', who)))).toEqual([true, true])
  })

  test('a binding taken away in a living namespace is gone at once', () => {
    const story = new Story(byNamespace)
    story.bind()
    story.unbind()
    expect(story.may(read('get'))).toBe(false)
    story.terminate()
    story.remove()
    expect(story.may(read('get'))).toBe(false)
  })

  test('a new namespace of the same name starts clean', () => {
    const story = new Story(byNamespace)
    story.bind()
    story.delete()
    story.create('ns')
    expect(story.may(read('get'))).toBe(false)
    expect(story.may(content('list'))).toBe(false)
    story.terminate()
    expect(story.may(read('get'))).toBe(false)
  })

  test('while a finalizer holds the namespace, it stays readable, and its content for 60 s', async () => {
    const story = new Story(byNamespace)
    story.bind()
    story.terminate()
    story.unbind()
    await story.clock.advance(60_000)
    expect(story.may(read('list'))).toBe(true)
    expect(story.may(content('list'))).toBe(false)
    await story.clock.advance(3_600_000)
    story.remove()
    expect(story.may(read('list'))).toBe(true)
    expect(story.may(content('list'))).toBe(false)
    await story.clock.advance(60_000)
    expect(story.may(read('list'))).toBe(false)
  })

  test('they do not count as rights to grant', () => {
    const story = new Story(byNamespace)
    story.bind()
    story.delete()
    expect(story.rbac.rulesFor(alice, 'ns').resourceRules).toEqual([])
  })

  test('at most so many namespaces are remembered, the oldest goes first', () => {
    const story = new Story(byNamespace, { limit: 2 })
    for (const name of ['a', 'b', 'c']) {
      story.create(name)
      story.bind(name)
      story.delete(name)
    }
    expect(['a', 'b', 'c'].map((name) => story.may(content('list', name)))).toEqual([false, true, true])
  })

  test('what is in it is readable until 60 seconds after the namespace went, if that was soon enough', async () => {
    const story = new Story(byNamespace)
    story.bind()
    story.terminate()
    story.unbind()
    await story.clock.advance(30_000)
    story.remove()
    await story.clock.advance(59_999)
    expect(story.may(content('list'))).toBe(true)
    await story.clock.advance(1)
    expect(story.may(content('list'))).toBe(false)
  })

  test('what is in it is not readable again when the namespace goes at the moment that this ended', async () => {
    const story = new Story(byNamespace)
    story.bind()
    story.terminate()
    story.unbind()
    await story.clock.advance(60_000)
    story.remove()
    expect(story.may(read('get'))).toBe(true)
    expect(story.may(content('list'))).toBe(false)
  })

  test('a name that comes and goes again is remembered from the last time', async () => {
    const story = new Story(byNamespace)
    story.bind()
    story.delete()
    await story.clock.advance(30_000)
    story.create('ns')
    story.bind()
    story.delete()
    await story.clock.advance(59_999)
    expect(story.may(read('get'))).toBe(true)
  })
})

sources('what a terminating namespace does not give, where %s', (_name, byNamespace) => {
  const secrets = (who: UserInfo): AuthzAttributes => ({ ...content('get'), user: who })

  test('the rights of a Role that goes to the holders of others, or of a ClusterRole of that name', () => {
    const story = new Story(byNamespace)
    story.source.put(role('ns', 'r', allow('get', '', 'secrets')))
    story.source.put(role('ns', 'q', allow('get', '', 'pods')))
    story.source.put(clusterRole('r', allow('get', '', 'pods')))
    story.source.put(roleBinding('ns', 'a', 'Role/q', user('alice')))
    story.source.put(roleBinding('ns', 'b', 'ClusterRole/r', user('bob')))
    story.source.put(roleBinding('ns', 'c', 'Role/r', user('carol')))
    story.terminate()
    story.source.remove('Role', 'r', 'ns')
    const holders = ['alice', 'bob', 'carol'].map((username) => ({ username, groups: [] }))
    expect(holders.map((who) => story.may(secrets(who)))).toEqual([false, false, true])
  })

  test('what a Role gave before it was changed', () => {
    const story = new Story(byNamespace)
    story.source.put(role('ns', 'r', allow('get', '', 'secrets')))
    story.source.put(roleBinding('ns', 'a', 'Role/r', user('alice')))
    story.terminate()
    expect(story.may(secrets(alice))).toBe(true)
    story.source.put(role('ns', 'r', allow('get', '', 'pods')))
    expect(story.may(secrets(alice))).toBe(false)
  })

  test('what a RoleBinding gave before it was changed', () => {
    const story = new Story(byNamespace)
    story.bind()
    story.terminate()
    story.source.put(roleBinding('ns', 'creator', 'ClusterRole/owner', user('bob')))
    expect([story.may(secrets(alice)), story.may(secrets(bob))]).toEqual([false, true])
  })

  test('anything by a binding whose role is missing', () => {
    const story = new Story(byNamespace)
    story.source.put(roleBinding('ns', 'creator', 'Role/gone', user('alice')))
    story.delete()
    expect(story.rbac.authorize(read('get'))).toEqual({ allowed: false, reason: '' })
  })

  test('a right that was taken away while it lived, when the Role goes', () => {
    const story = new Story(byNamespace)
    story.source.put(role('ns', 'r', allow('get', '', 'secrets')))
    story.source.put(roleBinding('ns', 'creator', 'Role/r', user('alice')))
    story.unbind()
    story.terminate()
    story.source.remove('Role', 'r', 'ns')
    expect(story.may(secrets(alice))).toBe(false)
  })

  test('its content for longer because of how an object is called', async () => {
    const story = new Story(byNamespace)
    story.source.put(clusterRole('owner', allow('*', '*', '*')))
    story.bind()
    story.terminate()
    story.unbind()
    await story.clock.advance(60_000)
    const own: AuthzAttributes = { ...read('get'), namespace: 'ns' }
    expect(story.may(own)).toBe(true)
    expect(story.may({ ...own, resource: 'pods' })).toBe(false)
    expect(story.may({ ...own, group: 'example.org' })).toBe(false)
    expect(story.may({ ...own, name: 'other' })).toBe(false)
  })

  test('anything else when it is updated meanwhile', async () => {
    const story = new Story(byNamespace)
    story.bind()
    story.terminate()
    story.unbind()
    story.terminate()
    await story.clock.advance(3_600_000)
    expect(story.rbac.authorize(read('get'))).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by rights held when namespace "ns" was deleted',
    })
  })
})

sources('the memory of deleted namespaces, where %s', (_name, byNamespace) => {
  const rules = new CompiledRules([allow('get', '', '*')])
  const binding = indexedBinding('ns', 'b', roleBinding('ns', 'b', 'Role/r', user('alice')))
  const mayRead = (rights: DeletedNamespaceRights, name = 'ns'): boolean => rights.allows(name, alice, true, () => true)

  test('each is forgotten 60 seconds after it went, whenever others did', async () => {
    const clock = new FakeClock()
    using rights = new DeletedNamespaceRights(clock)
    for (const name of ['a', 'b', 'c']) rights.retain(name, binding, rules)
    expect(rights.size).toBe(3)
    rights.gone('a')
    await clock.advance(20_000)
    rights.gone('b')
    await clock.advance(39_999)
    expect(rights.size).toBe(3)
    await clock.advance(1)
    expect(rights.size).toBe(2)
    await clock.advance(20_000)
    expect(rights.size).toBe(1)
    await clock.advance(3_600_000)
    expect([rights.size, mayRead(rights, 'c')]).toEqual([1, true])
  })

  test('rights end in time also where the timer is late', async () => {
    const clock = new FakeClock()
    const late: Clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: () => ({ cancel: () => {} }),
    }
    using rights = new DeletedNamespaceRights(late)
    rights.retain('ns', binding, rules)
    rights.gone('ns')
    await clock.advance(59_999)
    expect(mayRead(rights)).toBe(true)
    await clock.advance(1)
    expect(mayRead(rights)).toBe(false)
  })

  test('one timer is set for all, and none is left behind', () => {
    const clock = new FakeClock()
    let timers = 0
    const counting: Clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: () => {
        timers++
        return { cancel: () => timers-- }
      },
    }
    const rights = new DeletedNamespaceRights(counting)
    for (const name of ['a', 'b']) {
      rights.retain(name, binding, rules)
      rights.gone(name)
    }
    rights.retain('c', binding, rules)
    expect([timers, rights.size]).toEqual([1, 3])
    rights[Symbol.dispose]()
    rights[Symbol.dispose]()
    expect([timers, rights.size]).toEqual([0, 0])
    const source = new FakeRbacSource(byNamespace)
    source.put(clusterRole('owner', allow('*', '', '*')))
    const rbac = new RbacAuthorizer(source, counting)
    source.put(namespaceObject('ns', true))
    source.put(roleBinding('ns', 'creator', 'ClusterRole/owner', user('alice')))
    source.remove('RoleBinding', 'creator', 'ns')
    source.remove('Namespace', 'ns')
    expect(timers).toBe(1)
    rbac[Symbol.dispose]()
    expect(timers).toBe(0)
  })

  test('a right that is taken away a second time ends when it would have ended', async () => {
    const clock = new FakeClock()
    using rights = new DeletedNamespaceRights(clock)
    const mayReadContent = (): boolean => rights.allows('ns', alice, false, () => true)
    rights.retain('ns', binding, rules)
    await clock.advance(30_000)
    rights.retain('ns', binding, rules)
    await clock.advance(29_999)
    expect(mayReadContent()).toBe(true)
    await clock.advance(1)
    expect(mayReadContent()).toBe(false)
  })

  test('a namespace that is there again while the old one was still going has none of its rights', () => {
    using rights = new DeletedNamespaceRights(new FakeClock())
    rights.retain('ns', binding, rules)
    expect(mayRead(rights)).toBe(true)
    rights.forget('ns')
    expect(mayRead(rights)).toBe(false)
  })

  test('16,384 namespaces are remembered, and no more', () => {
    using rights = new DeletedNamespaceRights(new FakeClock())
    for (let n = 0; n <= 16_384; n++) {
      rights.retain(`n${n}`, binding, rules)
      rights.gone(`n${n}`)
    }
    expect(rights.size).toBe(16_384)
    expect(['n0', 'n1', 'n16384'].map((name) => mayRead(rights, name))).toEqual([false, true, true])
  })
})
