/** An etcd without room (NOSPACE): reads and starts go on, it is named, and writes go on once it is mended. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Config, defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import { fetchAdapter } from '../../src/http/fetch.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { etcdCall } from './cluster.ts'

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
  const call = (what: string, body: object): Promise<unknown> => etcdCall(etcd.endpoint, what, body)
  /** By other hands. */
  const put = (name: string): Promise<unknown> =>
    call('kv/put', { key: base64(name), value: Buffer.alloc(1024 * 1024).toString('base64') })

  it('is served, started on and named, and takes writes again once it was mended', async () => {
    await using plane = await start()
    await plane.client().create(configMaps, { metadata: { name: 'before', namespace } })
    await expect
      .poll(() => put('/filling').then(() => 'written', String), { timeout: 60_000, interval: 0 })
      .toMatch(/database space exceeded/)
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
    const { header } = (await call('kv/deleterange', { key: base64('/filling') })) as { header: { revision: string } }
    await call('kv/compaction', { revision: header.revision, physical: true })
    await call('maintenance/defragment', {})
    const { alarms } = (await call('maintenance/alarm', { action: 'GET' })) as { alarms: readonly object[] }
    for (const alarm of alarms) await call('maintenance/alarm', { action: 'DEACTIVATE', ...alarm })
    await plane.client().create(configMaps, { metadata: { name: 'after', namespace } })
    await expect.poll(() => page(plane, '/readyz?verbose')).toContain('[+]storage-room ok\n')
    expect(await page(plane, '/metrics')).toContain('\nborough_storage_writes_limited 0\n')
    await expect.poll(() => page(plane, '/readyz?verbose')).toContain('[+]storage-format ok\n')
  })
})

const base64 = (text: string): string => Buffer.from(text).toString('base64')
