/**
 * Nanoseconds per RBAC decision, and how they grow with the bindings of other users. `node bench/authorize.ts [counts]`.
 */

import { bootstrapClusterRoleBindings, bootstrapClusterRoles } from '../src/apis/rbac/bootstrap-policy.ts'
import type { AuthzAttributes } from '../src/authz/authz.ts'
import { RbacAuthorizer } from '../src/authz/rbac-authorizer.ts'
import { mastersAuthorizer, unionAuthorizer } from '../src/authz/union-authorizer.ts'
import { systemClock } from '../src/base/clock.ts'
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

function main(): void {
  const [counts = '10,10000'] = process.argv.slice(2)
  for (const { bindings, loadMs, allowNs, denyNs } of counts.split(',').map(Number).map(measureAuthorize)) {
    const times = `allow ${allowNs.toFixed(0)} ns, deny ${denyNs.toFixed(0)} ns, load ${loadMs.toFixed(0)} ms`
    console.log(`${bindings} other users with two bindings each: ${times}`)
  }
}

if (import.meta.main) main()
