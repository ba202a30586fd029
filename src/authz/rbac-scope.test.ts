import { expect, test } from 'vitest'
import { allow, FakeRbacSource, role } from '../../test/support/fake-rbac-source.ts'
import { AllScopes, RecentScopes, Scope } from './rbac-scope.ts'
import type { RbacSource } from './rbac-source.ts'

const scopes = (): { recent: RecentScopes; read: string[] } => {
  const source: RbacSource = new FakeRbacSource(true)
  const { inNamespaces } = source
  if (inNamespaces === undefined) throw new Error('the source is asked by namespace')
  const read: string[] = []
  const told: typeof inNamespaces = {
    ...inNamespaces,
    list(kind, namespace) {
      read.push(`${kind} ${namespace}`)
      return inNamespaces.list(kind, namespace)
    },
  }
  return { recent: new RecentScopes(told, 10), read }
}

test('a namespace is read once, also where nothing is in it', () => {
  const { recent, read } = scopes()
  const [first, second] = [recent.find('a'), recent.find('a')]
  expect(first?.empty).toBe(true)
  expect(second).toBe(first)
  expect(read).toEqual(['Role a', 'RoleBinding a'])
})

test.each(['', 'x'.repeat(64), 'x'.repeat(60_000)])('what can be no namespace is neither read nor kept: %#', (name) => {
  const { recent, read } = scopes()
  expect(recent.find(name)).toBeUndefined()
  expect(recent.toChange(name)).toBeUndefined()
  expect(read).toEqual([])
})

test('a name of 63 characters is one', () => {
  const { recent } = scopes()
  expect(recent.find('x'.repeat(63))?.empty).toBe(true)
})

const reader = { namespace: 'a', name: 'r', object: role('a', 'r', allow('get', '', 'pods')) }

test('a role is compiled once', () => {
  const scope = new Scope()
  scope.setRole('r', reader)
  expect(scope.findRules('r')?.resourceRules).toHaveLength(1)
  expect(scope.findRules('r')).toBe(scope.findRules('r'))
})

test('of all namespaces those are kept that have a role or a binding', () => {
  const all = new AllScopes()
  const scope = all.toChange('a')
  scope.setRole('r', reader)
  all.changed('a', scope)
  expect(all.find('a')).toBe(scope)
  scope.setRole('r', undefined)
  all.changed('a', scope)
  expect(all.find('a')).toBeUndefined()
})
