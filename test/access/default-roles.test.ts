/**
 * What each default role gives: every role × verb × kind that is served, against `test/golden/default-roles.txt`. A
 * role that begins to give more, or less, shows up there as a changed line. The facts that matter most stand here by
 * hand, so that a new recording can't take them along.
 *
 * To record on purpose: `npx vitest run test/access/default-roles.test.ts -u`, and read the difference.
 */
import { expect, test } from 'vitest'
import type { AuthzAttributes } from '../../src/authz/authz.ts'
import { RbacAuthorizer } from '../../src/authz/rbac-authorizer.ts'
import { FakeClock } from '../../src/base/fake-clock.ts'
import { loadCatalog } from '../../src/catalog/catalog.ts'
import { qualifiedResource } from '../../src/kube/gvk.ts'
import { bootstrapClusterRoles, everyFeature } from '../support/default-policy.ts'
import { clusterRoleBinding, FakeRbacSource, roleBinding, user } from '../support/fake-rbac-source.ts'

const verbs = [
  ...['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
  ...['bind', 'escalate', 'impersonate', 'use', 'optout', 'initialize', 'approve', 'sign', 'attest'],
]
const paths = [
  ...['/', '/api', '/api/v1', '/apis', '/apis/apps/v1', '/openapi/v2', '/openapi/v3', '/version', '/healthz'],
  ...['/livez', '/livez/ping', '/readyz', '/readyz/storage', '/metrics', '/logs/x', '/debug/pprof'],
  ...['/.well-known/openid-configuration', '/openid/v1/jwks'],
]

const source = new FakeRbacSource()
for (const role of bootstrapClusterRoles) {
  const name = role.metadata.name ?? ''
  source.put(role)
  source.put(clusterRoleBinding(name, name, user(`cluster ${name}`)))
  source.put(roleBinding('ns', name, `ClusterRole/${name}`, user(`namespace ${name}`)))
}
const rbac = new RbacAuthorizer(source, new FakeClock())

const may = (who: string, attributes: object): boolean =>
  rbac.authorize({ user: { username: who, groups: [] }, ...attributes } as unknown as AuthzAttributes).allowed

interface Resource {
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespaced: boolean
}

function servedResources(): readonly Resource[] {
  const catalog = loadCatalog()
  catalog.types.change({ add: everyFeature.flatMap(({ kinds = [] }) => kinds).map((kind) => catalog.declare(kind)) })
  const found = new Map<string, Resource>()
  for (const { group, resource, namespaced, subresources } of catalog.types.all()) {
    for (const subresource of ['', ...subresources.keys()]) {
      const r = { group, resource, subresource, namespaced }
      found.set(nameOf(r), r)
    }
  }
  // Resources that exist for authorization alone.
  for (const resource of ['users', 'groups'])
    found.set(resource, { group: '', resource, subresource: '', namespaced: false })
  return [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, r]) => r)
}

const nameOf = ({ group, resource, subresource }: Resource): string =>
  `${qualifiedResource({ group, resource })}${subresource === '' ? '' : `/${subresource}`}`

const resources = servedResources()

/** `get list watch: configmaps, pods`, one line for each set of verbs that something has. */
function givenBy(role: string): string[] {
  const byVerbs = new Map<string, string[]>()
  const add = (given: readonly string[], what: string): void => {
    const key = given.length === verbs.length ? 'every verb' : given.join(' ')
    if (given.length > 0) byVerbs.set(key, [...(byVerbs.get(key) ?? []), what])
  }
  for (const r of resources) {
    const { group, resource, subresource } = r
    const asked = { group, resource, subresource, namespace: r.namespaced ? 'ns' : '', name: '' }
    const given = verbs.filter((verb) => may(`cluster ${role}`, { ...asked, verb }))
    add(given, nameOf(r))
    if (r.namespaced) {
      const inside = verbs.filter((verb) => may(`namespace ${role}`, { ...asked, verb }))
      expect(inside, `${role} in a namespace, on ${nameOf(r)}`).toEqual(given)
      const elsewhere = { ...asked, namespace: 'other' }
      expect(verbs.filter((verb) => may(`namespace ${role}`, { ...elsewhere, verb }))).toEqual([])
    } else if (nameOf(r) !== 'namespaces' && !nameOf(r).startsWith('namespaces/')) {
      expect(verbs.filter((verb) => may(`namespace ${role}`, { ...asked, verb }))).toEqual([])
    }
  }
  for (const path of paths) {
    if (may(`cluster ${role}`, { verb: 'get', path })) add(['get'], path)
    expect(may(`namespace ${role}`, { verb: 'get', path })).toBe(false)
  }
  return [...byVerbs].map(([given, what]) => wrapped(`${given}:`, butFor(what))).sort()
}

/** What is left out says more where that is little. */
function butFor(what: readonly string[]): readonly string[] {
  const rest = resources.map(nameOf).filter((name) => !what.includes(name))
  if (rest.length * 2 > resources.length) return what
  const others = what.filter((item) => item.startsWith('/'))
  const [first, ...more] = rest
  return [first === undefined ? 'everything' : `everything but ${first}`, ...more, ...others]
}

function wrapped(head: string, items: readonly string[]): string {
  const lines = [`  ${head}`]
  for (const [i, item] of items.entries()) {
    const word = i < items.length - 1 ? `${item},` : item
    const last = lines.length - 1
    if (`${lines[last]} ${word}`.length > 118) lines.push(`      ${word}`)
    else lines[last] = `${lines[last]} ${word}`
  }
  return lines.join('\n')
}

test('each default role gives what is recorded, in a namespace as in the cluster, and nothing elsewhere', async () => {
  const roles = bootstrapClusterRoles.map((role) => role.metadata.name ?? '').sort()
  const text = roles.map((role) => [role, ...givenBy(role)].join('\n')).join('\n\n')
  expect(roles.length * resources.length * verbs.length).toBeGreaterThan(50_000)
  await expect(`${text}\n`).toMatchFileSnapshot('../golden/default-roles.txt')
})

const facts: readonly [role: string, may: boolean, verb: string, resource: string][] = [
  ['cluster-admin', true, 'delete', 'namespaces'],
  ['cluster-admin', true, 'initialize', 'namespaces'],
  ['cluster-admin', true, 'escalate', 'clusterroles.rbac.authorization.k8s.io'],
  ['admin', true, 'create', 'rolebindings.rbac.authorization.k8s.io'],
  ['admin', true, 'create', 'localsubjectaccessreviews.authorization.k8s.io'],
  ['admin', true, 'get', 'secrets'],
  ['admin', true, 'get', 'namespaces'],
  ['admin', false, 'delete', 'namespaces'],
  ['admin', false, 'create', 'namespaces'],
  ['admin', false, 'update', 'namespaces/finalize'],
  ['admin', false, 'initialize', 'namespaces'],
  ['admin', false, 'use', 'namespacetemplates.policy'],
  ['admin', false, 'optout', 'namespacetemplates.policy'],
  ['admin', false, 'update', 'resourcequotas'],
  ['admin', false, 'update', 'limitranges'],
  ['admin', false, 'bind', 'clusterroles.rbac.authorization.k8s.io'],
  ['admin', false, 'escalate', 'roles.rbac.authorization.k8s.io'],
  ['admin', false, 'impersonate', 'users'],
  ['admin', false, 'create', 'nodes'],
  ['admin', false, 'update', 'endpoints'],
  ['edit', true, 'create', 'deployments.apps'],
  ['edit', true, 'get', 'secrets'],
  ['edit', true, 'create', 'serviceaccounts/token'],
  ['edit', true, 'impersonate', 'serviceaccounts'],
  ['edit', false, 'create', 'rolebindings.rbac.authorization.k8s.io'],
  ['edit', false, 'get', 'roles.rbac.authorization.k8s.io'],
  ['edit', false, 'delete', 'resourcequotas'],
  ['view', true, 'watch', 'pods'],
  ['view', true, 'get', 'pods/log'],
  ['view', false, 'get', 'secrets'],
  ['view', false, 'get', 'roles.rbac.authorization.k8s.io'],
  ['view', false, 'get', 'pods/exec'],
  ['view', false, 'create', 'pods/eviction'],
  ['view', false, 'create', 'configmaps'],
  ['system:basic-user', true, 'create', 'selfsubjectaccessreviews.authorization.k8s.io'],
  ['system:basic-user', true, 'create', 'selfsubjectrulesreviews.authorization.k8s.io'],
  ['system:basic-user', true, 'create', 'selfsubjectreviews.authentication.k8s.io'],
  ['system:basic-user', false, 'create', 'subjectaccessreviews.authorization.k8s.io'],
  ['system:basic-user', false, 'list', 'namespaces'],
  ['system:auth-delegator', true, 'create', 'tokenreviews.authentication.k8s.io'],
  ['borough:namespace-creator', true, 'create', 'namespaces'],
  ['borough:namespace-creator', false, 'delete', 'namespaces'],
  ['borough:template-author', false, 'use', 'namespacetemplates.policy'],
]

test.each(facts)('%s: %s that it may %s %s', (role, want, verb, what) => {
  const asked = resources.find((r) => nameOf(r) === what)
  if (!asked) throw new Error(`nothing serves ${what}`)
  const { group, resource, subresource } = asked
  const namespace = asked.namespaced ? 'ns' : ''
  expect(may(`cluster ${role}`, { verb, group, resource, subresource, namespace, name: '' })).toBe(want)
})
