/**
 * `protect` where admission policies are not served, while no replica of `borough populate` answers its webhook: nobody
 * else gets at a protected object, and from 1.28 on the API server lets those through by itself who may.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { randomIds } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import type { Client } from '../../src/client/client.ts'
import { startPopulate } from '../../src/populate/populate.ts'
import { type OtherCluster, otherIsFrom, startOtherCluster } from '../support/other-cluster.ts'
import { refusal } from '../support/refusal.ts'
import { isGone, isThere, waitFor, waitUntilAllowed } from '../support/wait-for.ts'
import { withoutPolicies } from './enforcement/clusters.ts'
import { configMap, configMapResource, namespaceResource, templateResource } from './population-world.ts'

const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
const unanswered = /^Internal error occurred: failed calling webhook "protect\.population\.borough\.dev"/

/** A namespace `team-1` with a protected object and a tenant, and no replica left. */
async function abandoned(minor: number): Promise<OtherCluster> {
  await using opening = new AsyncDisposableStack()
  const cluster = opening.use(await startOtherCluster({ port: 0 }))
  const { client } = cluster
  const populate = await startPopulate({
    client: withoutPolicies(client, minor),
    clock: systemClock,
    ids: randomIds,
    log: silentLog,
    listen: { host: '127.0.0.1', port: 0 },
    namespace: 'borough-system',
    reachedAt: 'listen',
    admission: 'webhooks',
  })
  opening.use(populate)
  await client.create(templateResource, {
    apiVersion: 'policy.borough.dev/v1alpha1',
    kind: 'NamespaceTemplate',
    metadata: { name: 'team' },
    spec: {
      namespaces: { nameSelector: { include: ['team-*'] } },
      objects: [{ protect: true, template: configMap('policy') }],
    },
  })
  await client.create(namespaceResource, { metadata: { name: 'team-1' } })
  await waitFor(client, configMapResource, { namespace: 'team-1', name: 'policy' }, isThere)
  const apiGroup = 'rbac.authorization.k8s.io'
  const rules = [{ verbs: ['bypass'], apiGroups: ['policy.borough.dev'], resources: ['namespacetemplates'] }]
  await client.create(rbac('clusterroles'), { metadata: { name: 'bypass' }, rules })
  await client.create(rbac('clusterrolebindings'), {
    metadata: { name: 'bypass' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'bypass' },
    subjects: [{ apiGroup, kind: 'User', name: 'operator' }],
  })
  await client.create(rbac('rolebindings'), {
    metadata: { namespace: 'team-1', name: 'admins' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'admin' },
    subjects: ['tenant', 'operator'].map((name) => ({ apiGroup, kind: 'User', name })),
  })
  await waitUntilAllowed(cluster.clientAs('tenant'), 'patch', configMapResource, 'team-1')
  await waitUntilAllowed(cluster.clientAs('operator'), 'bypass', templateResource)
  await waitFor(
    client,
    namespaceResource,
    { name: 'team-1' },
    (n) => n?.metadata.labels?.['policy/namespace-template-pending'] === undefined,
  )
  await populate[Symbol.asyncDispose]()
  opening.move()
  return cluster
}

describe.each([{ minor: 25 }, ...((await otherIsFrom(28)) ? [{ minor: 28 }] : [])])('on 1.$minor', ({ minor }) => {
  const of = { namespace: 'team-1', name: 'policy' }
  let cluster: OtherCluster
  let tenant: Client
  let operator: Client
  let collector: Client

  beforeAll(async () => {
    cluster = await abandoned(minor)
    tenant = cluster.clientAs('tenant')
    operator = cluster.clientAs('operator')
    collector = cluster.clientAs('system:kube-controller-manager', ['system:masters'])
  })
  afterAll(() => cluster?.[Symbol.asyncDispose]())

  const isRefused = async (write: Promise<unknown>): Promise<void> => {
    expect((await refusal(write)).message).toMatch(unanswered)
  }
  const patched = (by: Client, body: object): Promise<unknown> => by.patch(configMapResource, of, body)

  test('nobody else writes or deletes it', async () => {
    const before = await cluster.client.get(configMapResource, of)
    await isRefused(patched(tenant, { data: { a: 'theirs' } }))
    await isRefused(patched(tenant, { metadata: { labels: null } }))
    await isRefused(patched(tenant, { metadata: { finalizers: ['example.com/held'] } }))
    await isRefused(tenant.delete(configMapResource, of))
    await isRefused(tenant.deleteCollection(configMapResource, { namespace: 'team-1' }))
    expect(await cluster.client.get(configMapResource, of)).toEqual(before)
  })

  test.runIf(minor >= 28)('holders of `bypass` write it, and the last finalizers are taken off', async () => {
    await patched(operator, { metadata: { finalizers: ['example.com/held'] } })
    await operator.delete(configMapResource, of)
    await isRefused(patched(tenant, { data: { a: 'theirs' } }))
    await isRefused(patched(tenant, { metadata: { finalizers: null, labels: null } }))
    await patched(tenant, { metadata: { finalizers: null } })
    await waitFor(cluster.client, configMapResource, of, isGone)
    await collector.create(configMapResource, {
      ...configMap('policy'),
      metadata: { ...of, labels: { 'policy.borough.dev/protected-by': 'team' } },
    })
  })

  test(minor < 28 ? 'its namespace does not go' : 'its namespace goes', async () => {
    await cluster.client.delete(namespaceResource, { name: 'team-1' })
    if (minor >= 28) await waitFor(cluster.client, namespaceResource, { name: 'team-1' }, isGone)
    else {
      await isRefused(collector.deleteCollection(configMapResource, { namespace: 'team-1' }))
      expect((await cluster.client.get(configMapResource, of)).metadata.deletionTimestamp).toBeUndefined()
    }
  })
})
