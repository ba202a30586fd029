/**
 * An etcd without room (NOSPACE): reads, watches, deletes, compaction and starts go on, it is named, and writes go on
 * once it is mended.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Config, defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import type { Client } from '../../src/client/client.ts'
import { fetchAdapter } from '../../src/http/fetch.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { EtcdStorage } from '../../src/storage/etcd/etcd-storage.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { etcdCall, ReplicaCluster } from './cluster.ts'

if (etcdVersion === undefined) console.warn(`tests of a full etcd are skipped: ${etcdMissing}`)
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const namespace = 'default'
const leaseTiming = { leaseDurationMs: 600, renewDeadlineMs: 400, retryPeriodMs: 100 }
const quotaBytes = 16 * 1024 * 1024

describe.skipIf(etcdVersion === undefined)('a full etcd', { timeout: 120_000 }, () => {
  let etcd: EtcdServer
  beforeAll(async () => {
    etcd = await EtcdServer.start({ flags: [`--quota-backend-bytes=${quotaBytes}`] })
  }, 60_000)
  afterAll(() => etcd?.[Symbol.asyncDispose]())

  const start = (): Promise<ControlPlane> => {
    const storage: Config['storage'] = { engine: 'etcd', endpoints: [new URL(etcd.endpoint).host], prefix: '' }
    return createControlPlane({ ...defaultConfig, storage, leaseTiming })
  }
  const user = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }
  const page = async (plane: ControlPlane, path: string): Promise<string> => {
    const answer = await fetchAdapter(plane.serve, user)(new Request(`https://borough.test${path}`))
    return `${answer.status} ${await answer.text()}`
  }
  it('is served, started on and named, and takes writes again once it was mended', async () => {
    await using plane = await start()
    await plane.client().create(configMaps, { metadata: { name: 'before', namespace } })
    await fill(etcd.endpoint)
    await expect(plane.client().create(configMaps, { metadata: { name: 'full', namespace } })).rejects.toMatchObject({
      code: 507,
      message: 'the store is full: at most deletes and small changes are taken until there is room',
    })
    const warned =
      '[+]storage-room ok, with 1 warnings\n' +
      'warn: etcd is full (NOSPACE): it takes deletes alone until it is compacted, defragmented and disarmed\n'
    expect(await page(plane, '/readyz?verbose')).toContain(warned)
    expect(await page(plane, '/readyz')).toBe('200 ok')
    expect(await page(plane, '/metrics')).toContain('\nborough_storage_writes_limited 1\n')
    {
      await using second = await start()
      const { items } = await second.client().list(configMaps, { namespace })
      expect(items.map(({ metadata }) => metadata.name)).toContain('before')
      expect(await page(second, '/readyz?verbose')).toContain(warned)
    }
    await mend([etcd.endpoint])
    await plane.client().create(configMaps, { metadata: { name: 'after', namespace } })
    await expect.poll(() => page(plane, '/readyz?verbose')).toContain('[+]storage-room ok\n')
    expect(await page(plane, '/metrics')).toContain('\nborough_storage_writes_limited 0\n')
    await expect.poll(() => page(plane, '/readyz?verbose')).toContain('[+]storage-format ok\n')
  })
})

describe.skipIf(etcdVersion === undefined)('replicas on a full etcd', { timeout: 300_000 }, () => {
  it('serve reads and watches, take deletes, and write again once it was mended', async () => {
    await using cluster = await ReplicaCluster.start({ etcdFlags: [`--quota-backend-bytes=${quotaBytes}`] })
    const [first, second, third] = cluster.clients() as [Client, Client, Client]
    const endpoints = cluster.members.map(({ endpoint }) => endpoint)
    const names = Array.from({ length: 30 }, (_, i) => `c${i}`)
    await Promise.all(names.map((name) => first.create(configMaps, { metadata: { name, namespace } })))
    const abort = new AbortController()
    const told = follow(second, abort.signal)
    await expect.poll(() => told.get('ADDED')).toEqual(expect.arrayContaining(names))

    await fill(endpoints[0] as string)
    for (const client of [first, second, third]) {
      const create = client.create(configMaps, { metadata: { name: 'full', namespace } })
      await expect(create).rejects.toMatchObject({ code: 507 })
    }
    for (const [i] of endpoints.entries()) {
      expect(await cluster.page(i, '/readyz?verbose')).toContain('warn: etcd is full (NOSPACE): it takes deletes alone')
      expect(await cluster.page(i, '/readyz')).toBe('ok')
    }
    // At once: they reach etcd in one transaction.
    const remove = (name: string): Promise<unknown> => third.delete(configMaps, { name, namespace })
    await Promise.all(names.slice(0, 20).map(remove))
    const isOurs = (name: unknown): boolean => names.includes(String(name))
    for (const client of [first, second, third]) {
      const list = async (): Promise<readonly unknown[]> => {
        const { items } = await client.list(configMaps, { namespace })
        return items.map(({ metadata }) => metadata.name).filter(isOurs)
      }
      expect(await list()).toEqual(names.slice(20).toSorted())
    }
    await expect.poll(() => told.get('DELETED')?.toSorted()).toEqual(names.slice(0, 20).toSorted())
    abort.abort()
    const storage = await EtcdStorage.open({ endpoints, prefix: '' })
    {
      await using _ = storage
      const now = await storage.currentRevision()
      await storage.compact(now)
      expect(await storage.compactedRevision()).toBe(now)
    }

    await mend(endpoints)
    for (const [i, client] of [first, second, third].entries()) {
      await client.create(configMaps, { metadata: { name: `after-${i}`, namespace } })
      await expect.poll(() => cluster.page(i, '/readyz?verbose')).toContain('[+]storage-room ok\n')
    }
    // Controllers write again, too.
    await first.create({ group: '', version: 'v1', resource: 'namespaces' }, { metadata: { name: 'later' } })
    const populated = async (): Promise<number> => (await third.list(configMaps, { namespace: 'later' })).items.length
    await expect.poll(populated, { timeout: 60_000 }).toBe(1)
  })
})

/** The names that one watch tells, by the type of the event. */
function follow(client: Client, signal: AbortSignal): ReadonlyMap<string, readonly string[]> {
  const told = new Map<string, string[]>([
    ['ADDED', []],
    ['DELETED', []],
  ])
  void (async () => {
    for await (const { type, object } of client.watch(configMaps, { namespace, signal })) {
      told.get(type)?.push((object as KubeObject).metadata.name ?? '')
    }
  })()
  return told
}

/** By other hands. */
async function fill(endpoint: string): Promise<void> {
  const body = { key: base64('/filling'), value: Buffer.alloc(1024 * 1024).toString('base64') }
  const put = (): Promise<string> => etcdCall(endpoint, 'kv/put', body).then(() => 'written', String)
  await expect.poll(put, { timeout: 60_000, interval: 0 }).toMatch(/database space exceeded/)
}

/** As an operator does it. */
async function mend(endpoints: readonly string[]): Promise<void> {
  const call = (what: string, body: object, at = endpoints[0] as string): Promise<unknown> => etcdCall(at, what, body)
  const { header } = (await call('kv/deleterange', { key: base64('/filling') })) as { header: { revision: string } }
  await call('kv/compaction', { revision: header.revision, physical: true })
  for (const at of endpoints) await call('maintenance/defragment', {}, at)
  const { alarms } = (await call('maintenance/alarm', { action: 'GET' })) as { alarms: readonly object[] }
  for (const alarm of alarms) await call('maintenance/alarm', { action: 'DEACTIVATE', ...alarm })
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')
