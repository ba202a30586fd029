/**
 * Nanoseconds per RBAC decision, and per question for the namespaces of a user, and how they grow with the bindings of
 * other users. `node bench/authorize.ts [counts]`.
 */

import type { AuthzAttributes } from '../src/authz/authz.ts'
import { NamespaceGrants } from '../src/authz/namespace-grants.ts'
import { RbacAuthorizer } from '../src/authz/rbac-authorizer.ts'
import { mastersAuthorizer, unionAuthorizer } from '../src/authz/union-authorizer.ts'
import { systemClock } from '../src/base/clock.ts'
import { bootstrapClusterRoleBindings, bootstrapClusterRoles } from '../test/support/default-policy.ts'
import { clusterRoleBinding, FakeRbacSource, group, roleBinding, user } from '../test/support/fake-rbac-source.ts'

export interface AuthorizeRun {
  readonly bindings: number
  readonly loadMs: number
  readonly allowNs: number
  readonly denyNs: number
}

const rounds = 300_000

/** A world with the default policy and `bindings` users, each bound cluster-wide and in a namespace of their own. */
export function measureAuthorize(bindings: number): AuthorizeRun {
  const source = new FakeRbacSource()
  for (const object of [...bootstrapClusterRoles, ...bootstrapClusterRoleBindings]) source.put(object)
  for (let i = 0; i < bindings; i++) {
    source.put(clusterRoleBinding(`c${i}`, 'view', user(`u${i}`)))
    source.put(roleBinding(`ns${i}`, 'b', 'ClusterRole/edit', user(`u${i}`), group(`g${i}`)))
  }
  const began = performance.now()
  using rbac = new RbacAuthorizer(source, systemClock)
  const loadMs = performance.now() - began
  const authorizer = unionAuthorizer([mastersAuthorizer, rbac])
  const allowed: AuthzAttributes = {
    user: { username: 'u5', groups: ['g5', 'system:authenticated'] },
    verb: 'update',
    group: 'apps',
    version: 'v1',
    resource: 'deployments',
    subresource: 'scale',
    namespace: 'ns5',
    name: 'x',
  }
  const measure = (attributes: AuthzAttributes, want: boolean): number => {
    for (let i = 0; i < rounds; i++) authorizer.authorize(attributes)
    const start = performance.now()
    for (let i = 0; i < rounds; i++) {
      if (authorizer.authorize(attributes).allowed !== want) throw new Error('a wrong decision')
    }
    return ((performance.now() - start) / rounds) * 1e6
  }
  return { bindings, loadMs, allowNs: measure(allowed, true), denyNs: measure({ ...allowed, namespace: 'ns6' }, false) }
}

export interface OwnNamespacesRun {
  readonly bindings: number
  readonly loadMs: number
  /** Finding out which namespaces a user may get, who has ten. */
  readonly listNs: number
  /** A RoleBinding of that user comes, or goes, while a thousand others watch. */
  readonly changeNs: number
}

export function measureOwnNamespaces(bindings: number): OwnNamespacesRun {
  const source = new FakeRbacSource()
  for (const object of [...bootstrapClusterRoles, ...bootstrapClusterRoleBindings]) source.put(object)
  const bind = (ns: string, who: string) => roleBinding(ns, who, 'ClusterRole/view', user(who))
  for (let i = 0; i < bindings; i++) source.put(bind(`ns${i}`, `u${i}`))
  for (let i = 0; i < 10; i++) source.put(bind(`own${i}`, 'owner'))
  const began = performance.now()
  const grants = new NamespaceGrants(systemClock, { changes: 50_000, ageMs: 300_000 })
  using _ = new RbacAuthorizer(source, systemClock, { observer: grants })
  const loadMs = performance.now() - began
  const viewOf = (username: string) => grants.viewOf({ username, groups: ['devs', 'system:authenticated'] })
  let told = 0
  const listener = { changed: () => void told++, settled: () => undefined }
  const stop = Array.from({ length: 1000 }, (_, i) => viewOf(`u${i}`).follow(listener))
  const time = (count: number, work: () => void): number => {
    for (let i = 0; i < count; i++) work()
    const start = performance.now()
    for (let i = 0; i < count; i++) work()
    return ((performance.now() - start) / count) * 1e6
  }
  const listNs = time(100_000, () => {
    if (viewOf('owner').names()?.length !== 10) throw new Error('wrong namespaces')
  })
  let names = 0
  // A new name each time: a Map that is given the same key again and again becomes slow by itself.
  const changeNs = time(20_000, () => {
    const name = `new${names++}`
    source.put(bind(name, 'owner'))
    source.remove('RoleBinding', 'owner', name)
  })
  for (const end of stop) end()
  if (told > 0) throw new Error('somebody was told of the rights of others')
  return { bindings, loadMs, listNs, changeNs: changeNs / 2 }
}

function main(): void {
  const [counts = '10,10000'] = process.argv.slice(2)
  for (const { bindings, loadMs, allowNs, denyNs } of counts.split(',').map(Number).map(measureAuthorize)) {
    const times = `allow ${allowNs.toFixed(0)} ns, deny ${denyNs.toFixed(0)} ns, load ${loadMs.toFixed(0)} ms`
    console.log(`${bindings} other users with two bindings each: ${times}`)
  }
  for (const run of counts.split(',').map(Number).map(measureOwnNamespaces)) {
    const times = [
      `list ${run.listNs.toFixed(0)} ns`,
      `change ${run.changeNs.toFixed(0)} ns`,
      `load ${run.loadMs.toFixed(0)} ms`,
    ].join(', ')
    console.log(`own namespaces among ${run.bindings} of others: ${times}`)
  }
}

if (import.meta.main) main()
