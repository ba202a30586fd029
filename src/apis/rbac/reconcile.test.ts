import { describe, expect, test } from 'vitest'
import { bootstrapClusterRoles } from '../../../test/support/default-policy.ts'
import { FakeClient } from '../../../test/support/fake-client.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import { silentLog } from '../../base/log.ts'
import { runController } from '../../controller/run-controller.ts'
import { type ClusterRole, clusterRolesResource, type PolicyRule } from '../../kube/rbac.ts'
import { aggregatedRules } from './aggregation.ts'
import { aggregationController } from './reconcile.ts'

const rule = (resource: string): PolicyRule => ({ verbs: ['get'], apiGroups: [''], resources: [resource] })
const plain = (name: string, labels: Record<string, string>, ...rules: PolicyRule[]): ClusterRole => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name, labels },
  rules,
})
const gathering = (
  name: string,
  selectors: Record<string, string>[],
  labels: Record<string, string> = {},
): ClusterRole => ({
  ...plain(name, labels),
  aggregationRule: { clusterRoleSelectors: selectors.map((matchLabels) => ({ matchLabels })) },
})

describe('aggregatedRules', () => {
  test('go by selector, then by name, each rule once, never from the role itself', () => {
    const sum = gathering('sum', [{ b: '1' }, { a: '1' }], { a: '1', b: '1' })
    sum.rules = [rule('own')]
    const all = [
      sum,
      plain('z', { a: '1' }, rule('pods'), rule('z')),
      plain('y', { a: '1', b: '1' }, rule('secrets'), rule('pods')),
      plain('x', {}, rule('nodes')),
    ]
    expect(aggregatedRules(sum, all)).toEqual([rule('secrets'), rule('pods'), rule('z')])
    expect(aggregatedRules(sum, all.reverse())).toEqual([rule('secrets'), rule('pods'), rule('z')])
  })

  test('look at each of many rules once', () => {
    let looks = 0
    const counted = (resource: string): PolicyRule => ({
      ...rule(resource),
      get verbs() {
        looks++
        return ['get']
      },
    })
    const many = Array.from({ length: 3000 }, (_, i) => counted(`r${i}`))
    const sum = gathering('sum', [{ a: '1' }])
    const all = [sum, plain('one', { a: '1' }, ...many), plain('same', { a: '1' }, ...many)]
    looks = 0
    expect(aggregatedRules(sum, all)).toHaveLength(many.length)
    expect(looks).toBe(2 * many.length)
  })

  test('tell rules apart by what they name, and by what they leave out', () => {
    const sum = gathering('sum', [{ a: '1' }])
    const rules: PolicyRule[] = [
      { verbs: ['get'], nonResourceURLs: ['/a'] },
      { verbs: ['get'], resources: ['/a'] },
      { verbs: ['get'], resources: ['/a'], resourceNames: [] },
      { verbs: ['get'], resourceNames: ['/a'] },
    ]
    const same = rules.map((one) => Object.fromEntries(Object.entries(one).reverse()) as unknown as PolicyRule)
    expect(aggregatedRules(sum, [plain('one', { a: '1' }, ...rules), plain('same', { a: '1' }, ...same)])).toEqual(
      rules,
    )
  })
})

describe('the aggregation controller', () => {
  async function running(...roles: ClusterRole[]): Promise<{
    client: FakeClient
    rulesOf: (name: string) => Promise<string[]>
    stop: () => Promise<void>
  }> {
    const client = new FakeClient()
    for (const role of roles) await client.create(clusterRolesResource, role)
    client.writes.length = 0
    const clock = new FakeClock()
    const errors: unknown[] = []
    const abort = new AbortController()
    const controller = aggregationController({ client, clock, onError: (e) => errors.push(e) })
    const done = runController(controller, { clock, log: silentLog }, abort.signal)
    return {
      client,
      async rulesOf(name) {
        for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
        const role = (await client.get(clusterRolesResource, { name })) as ClusterRole
        return (role.rules ?? []).map((r) => r.resources?.join() ?? '')
      },
      async stop() {
        abort.abort()
        await done
        expect(errors).toEqual([])
      },
    }
  }

  test('fills a role, follows changes, and takes back what is gone', async () => {
    const { client, rulesOf, stop } = await running(
      gathering('sum', [{ a: '1' }]),
      plain('x', { a: '1' }, rule('pods')),
    )
    expect(await rulesOf('sum')).toEqual(['pods'])
    await client.create(clusterRolesResource, plain('y', { a: '1' }, rule('secrets')))
    expect(await rulesOf('sum')).toEqual(['pods', 'secrets'])
    await client.delete(clusterRolesResource, { name: 'x' })
    expect(await rulesOf('sum')).toEqual(['secrets'])
    await stop()
  })

  test('goes through roles that gather from gathered roles', async () => {
    const { rulesOf, stop } = await running(
      gathering('top', [{ level: 'middle' }]),
      gathering('middle', [{ level: 'low' }], { level: 'middle' }),
      plain('low', { level: 'low' }, rule('pods')),
    )
    expect(await rulesOf('top')).toEqual(['pods'])
    await stop()
  })

  test('two roles that gather from each other come to rest', async () => {
    const { client, rulesOf, stop } = await running(
      gathering('a', [{ x: '1' }], { x: '1' }),
      gathering('b', [{ x: '1' }], { x: '1' }),
      plain('c', { x: '1' }, rule('pods')),
    )
    expect(await rulesOf('a')).toEqual(['pods'])
    expect(await rulesOf('b')).toEqual(['pods'])
    expect(client.writes).toHaveLength(2)
    await stop()
  })

  test('finds nothing to do in the default roles', async () => {
    const { client, rulesOf, stop } = await running(...bootstrapClusterRoles)
    expect((await rulesOf('admin')).length).toBeGreaterThan(20)
    expect(client.writes).toEqual([])
    await stop()
  })
})
