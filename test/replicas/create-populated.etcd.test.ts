/** Three replicas on one etcd: a namespace is created with all it is given, through whichever it is created. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { refusal } from '../support/refusal.ts'
import { transactionOf } from '../support/transaction-of.ts'
import { waitFor } from '../support/wait-for.ts'

const core = (resource: string) => ({ group: '', version: 'v1', resource })
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const namespaces = core('namespaces')
const objects = [
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'about' }, data: { of: '$(NAMESPACE)' } },
  { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'limits' }, spec: { hard: { configmaps: '9' } } },
]

const statusOf = (o: KubeObject | undefined): JsonObject => (o?.['status'] ?? {}) as JsonObject

describe.skipIf(etcdVersion === undefined)(`births${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  let etcd: EtcdServer
  let planes: TestControlPlane[]

  beforeAll(async () => {
    etcd = await EtcdServer.start()
    const storage = { engine: 'etcd', endpoints: [new URL(etcd.endpoint).host], prefix: '/births' } as const
    planes = await Promise.all([0, 1, 2].map(() => startControlPlane({ storage })))
    const spec = { namespaces: { nameSelector: { include: ['team-*'] } }, templates: objects }
    const client = plane(0).client
    await client.create(templates, { metadata: { name: 't' }, spec })
    await waitFor(client, templates, { name: 't' }, (t) => statusOf(t)['observedGeneration'] === 1)
    // All have heard of it.
    for (const { client } of planes) await client.get(templates, { name: 't' })
  }, 120_000)

  afterAll(async () => {
    for (const plane of planes ?? []) await plane[Symbol.asyncDispose]()
    await etcd?.[Symbol.asyncDispose]()
  }, 120_000)

  const plane = (i: number): TestControlPlane => planes[i % planes.length] as TestControlPlane
  const contentOf = async (namespace: string, { client }: TestControlPlane): Promise<KubeObject[]> =>
    Promise.all([
      client.get(core('configmaps'), { namespace, name: 'about' }),
      client.get(core('resourcequotas'), { namespace, name: 'limits' }),
    ])

  it('in one transaction, read on another replica, and whoever leads writes nothing more', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `team-${i}`)
    const made = await Promise.all(
      names.map((name, i) =>
        plane(i).client.create(namespaces, { metadata: { name } }, { includeUninitialized: true }),
      ),
    )
    const content = await Promise.all(names.map((name, i) => contentOf(name, plane(i + 1))))
    for (const [i, namespace] of made.entries()) {
      expect(statusOf(namespace)['phase']).toBe('Active')
      expect(content[i]?.map(transactionOf)).toEqual([transactionOf(namespace), transactionOf(namespace)])
      expect(content[i]?.[0]?.['data']).toEqual({ of: names[i] })
      expect(statusOf(content[i]?.[1])).toMatchObject({ used: { configmaps: '2' } })
    }
    await waitFor(plane(0).client, templates, { name: 't' }, (t) => statusOf(t)['synced'] === names.length)
    expect(await Promise.all(names.map((name, i) => contentOf(name, plane(i))))).toEqual(content)
  })

  it('once, where all replicas create it at the same time', async () => {
    const made = await Promise.allSettled(
      planes.map(({ client }) => client.create(namespaces, { metadata: { name: 'team-contested' } })),
    )
    const won = made.flatMap((m) => (m.status === 'fulfilled' ? [m.value] : []))
    expect(won).toHaveLength(1)
    for (const m of made) {
      if (m.status === 'rejected') expect((await refusal(Promise.reject(m.reason))).reason).toBe('AlreadyExists')
    }
    const content = await contentOf('team-contested', plane(0))
    expect(content.map(transactionOf)).toEqual(content.map(() => transactionOf(won[0] as KubeObject)))
  })

  it('known as its template’s on every replica, whatever is done to its label on another', async () => {
    await plane(1).client.create(namespaces, { metadata: { name: 'team-robbed' } })
    const about = { namespace: 'team-robbed', name: 'about' }
    const labels = { 'policy/namespace-template-name': null }
    await plane(2).client.patch(core('configmaps'), about, { metadata: { labels }, data: { of: 'x' } })
    const isBack = (o: KubeObject | undefined): boolean => JSON.stringify(o?.['data']) === '{"of":"team-robbed"}'
    const back = await waitFor(plane(0).client, core('configmaps'), about, isBack)
    expect(back?.metadata.labels).toEqual({ 'policy/namespace-template-name': 't' })
  })
})
