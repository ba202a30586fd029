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
import { FakeClock } from '../base/fake-clock.ts'
import type { UserInfo } from '../kube/user.ts'
import type { AuthzAttributes, ResourceAttributes } from './authz.ts'
import { RbacAuthorizer } from './rbac-authorizer.ts'

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
  readonly source = new FakeRbacSource()
  readonly rbac: RbacAuthorizer

  constructor(options: { limit?: number } = {}) {
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

describe('the rights of a namespace that has just gone', () => {
  test('its deleter may get, list and watch it by name for 60 seconds, and nothing after', async () => {
    const story = new Story()
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
    const story = new Story()
    story.bind()
    story.delete()
    for (const verb of ['create', 'update', 'patch', 'delete', 'deletecollection', 'use']) {
      expect(story.may(content(verb))).toBe(false)
      expect(story.may({ ...read('get'), verb })).toBe(false)
    }
  })

  test('who had no right gets none', () => {
    const story = new Story()
    story.bind()
    story.delete()
    expect(story.may(read('get', bob))).toBe(false)
    expect(story.may(content('list', 'other'))).toBe(false)
    expect(story.may({ ...read('list'), name: '' })).toBe(false)
  })

  test('the rights are those held, no more', () => {
    const story = new Story()
    story.source.put(role('ns', 'r', allow('get', '', 'namespaces')))
    story.source.put(roleBinding('ns', 'creator', 'Role/r', user('alice')))
    story.delete()
    expect(story.may(read('get'))).toBe(true)
    expect(story.may(read('list'))).toBe(false)
    expect(story.may(content('list'))).toBe(false)
  })

  test('they are held whether the Role or the RoleBinding is removed first', () => {
    for (const roleFirst of [true, false]) {
      const story = new Story()
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

  test('a binding taken away in a living namespace is gone at once', () => {
    const story = new Story()
    story.bind()
    story.unbind()
    expect(story.may(read('get'))).toBe(false)
    story.terminate()
    story.remove()
    expect(story.may(read('get'))).toBe(false)
  })

  test('a new namespace of the same name starts clean', () => {
    const story = new Story()
    story.bind()
    story.delete()
    story.create('ns')
    expect(story.may(read('get'))).toBe(false)
    expect(story.may(content('list'))).toBe(false)
    story.terminate()
    expect(story.may(read('get'))).toBe(false)
  })

  test('while a finalizer holds the namespace, it stays readable, and its content for 60 s', async () => {
    const story = new Story()
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
    const story = new Story()
    story.bind()
    story.delete()
    expect(story.rbac.rulesFor(alice, 'ns').resourceRules).toEqual([])
  })

  test('at most so many namespaces are remembered, the oldest goes first', () => {
    const story = new Story({ limit: 2 })
    for (const name of ['a', 'b', 'c']) {
      story.create(name)
      story.bind(name)
      story.delete(name)
    }
    expect(['a', 'b', 'c'].map((name) => story.may(content('list', name)))).toEqual([false, true, true])
  })
})
