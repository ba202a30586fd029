/**
 * The record of the format level, damaged or gone: a store whose form is not known is never taken for one of an earlier
 * version. The record is put under its key as other hands would, past the engine.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Config, defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import { damagedAt, repairAt, verifyStoreAt } from '../../src/backup/backup.ts'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { fetchAdapter } from '../../src/http/fetch.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { etcdCall } from './cluster.ts'

if (etcdVersion === undefined) console.warn(`tests of damaged format levels are skipped: ${etcdMissing}`)
const key = '/borough/format-level'
const leaseTiming = { leaseDurationMs: 600, renewDeadlineMs: 400, retryPeriodMs: 100 }
const missing = `${key} is missing: in which form values were written is not known`

describe.skipIf(etcdVersion === undefined)('a damaged record of the format level', { timeout: 120_000 }, () => {
  let etcd: EtcdServer
  let prefixes = 0
  beforeAll(async () => {
    etcd = await EtcdServer.start()
  }, 60_000)
  afterAll(() => etcd?.[Symbol.asyncDispose]())

  const host = (): string => new URL(etcd.endpoint).host
  const placeOf = (prefix: string): Config['storage'] & { engine: 'etcd' } => ({
    engine: 'etcd',
    endpoints: [host()],
    prefix,
  })
  const options = { clock: systemClock, log: silentLog }
  const start = (prefix: string, formatLevel = 1): Promise<ControlPlane> =>
    createControlPlane({ ...defaultConfig, storage: { ...placeOf(prefix), formatLevel }, leaseTiming })
  const call = (what: string, body: object): Promise<unknown> => etcdCall(etcd.endpoint, what, body)
  const put = (name: string, value: string | Buffer): Promise<unknown> =>
    call('kv/put', { key: base64(name), value: base64(value) })
  const remove = (name: string): Promise<unknown> => call('kv/deleterange', { key: base64(name) })
  const stored = async (name: string): Promise<Buffer | undefined> => {
    const { kvs = [] } = (await call('kv/range', { key: base64(name) })) as { kvs?: readonly { value?: string }[] }
    return kvs[0] && Buffer.from(kvs[0].value ?? '', 'base64')
  }
  async function used(formatLevel = 1): Promise<string> {
    const prefix = `/damaged/${++prefixes}`
    await (await start(prefix, formatLevel))[Symbol.asyncDispose]()
    return prefix
  }

  const damages: readonly { name: string; value: (before: Buffer) => Buffer | string; says: RegExp }[] = [
    { name: 'garbage', value: () => 'one', says: /is damaged: it is no format level$/ },
    { name: 'empty', value: () => '', says: /is damaged: it is no format level$/ },
    { name: 'negative', value: () => '-1', says: /is damaged: it is no format level$/ },
    { name: 'no whole number', value: () => '1e0', says: /is damaged: it is no format level$/ },
    { name: 'huge', value: () => '9'.repeat(100_000), says: /is damaged: it is no format level$/ },
    { name: 'lower than before', value: () => '0', says: /is damaged: it says level 0, and was 1 before$/ },
    {
      name: 'its checksum is wrong',
      value: (before) => Buffer.from(before.with(-1, '0'.charCodeAt(0))),
      says: /is damaged: its checksum is [0-9a-f]{8}, [0-9a-f]{8} was written with it$/,
    },
  ]
  it.each(damages)('$name: no server starts, it stays, and verify names it', async ({ value, says }) => {
    const prefix = await used()
    // A second start has seen level 1.
    await (await start(prefix))[Symbol.asyncDispose]()
    const damaged = Buffer.from(value((await stored(prefix + key)) ?? Buffer.alloc(0)))
    await put(prefix + key, damaged)
    const line = new RegExp(`^etcd at ${host()}${prefix}: the stored value of ${key} at revision \\d+ `)
    const refused = await start(prefix).catch((error: Error) => error)
    expect(refused).toMatchObject({ name: 'StorageError', code: 'damaged', message: expect.stringMatching(line) })
    const message = (refused as Error).message.replace(/; see 'borough storage repair'$/, '')
    expect(message).toMatch(says)
    expect(await stored(prefix + key)).toEqual(damaged)
    const { findings } = await verifyStoreAt({ etcd: placeOf(prefix) }, options)
    expect(findings).toEqual([message.slice(`etcd at ${host()}${prefix}: `.length)])
    const [found] = (await damagedAt({ etcd: placeOf(prefix) }, options)).damaged
    expect(found).toMatchObject({ key, damage: findings[0] })
    await repairAt({ etcd: placeOf(prefix) }, options, key, 'previous')
    expect((await verifyStoreAt({ etcd: placeOf(prefix) }, options)).findings).toEqual([])
    await using _ = await start(prefix)
  })

  it.each([1, 0])('deleted, of level %i: no server starts until servers are let agree anew', async (level) => {
    const prefix = await used(level)
    await remove(prefix + key)
    await expect(start(prefix)).rejects.toThrow(`etcd at ${host()}${prefix}: ${missing}; see 'borough storage repair'`)
    expect((await verifyStoreAt({ etcd: placeOf(prefix) }, options)).findings).toEqual([missing])
    expect((await damagedAt({ etcd: placeOf(prefix) }, options)).damaged).toEqual([
      { key, revision: 0, damage: missing, previous: undefined, inBackup: false },
    ])
    await expect(repairAt({ etcd: placeOf(prefix) }, options, key, 'previous')).rejects.toThrow(
      `the version of ${key} before revision 0 is not known any more, or damaged too`,
    )
    await repairAt({ etcd: placeOf(prefix) }, options, key, 'removal')
    await using _ = await start(prefix, level)
    expect((await stored(prefix + key))?.at(-1)).toBe(`${level}`.charCodeAt(0))
  })

  it('a later level is refused, by verify too', async () => {
    const prefix = await used()
    await put(prefix + key, '2')
    const says =
      `etcd at ${host()}${prefix} holds values of format level 2, this version reads levels up to 1: ` +
      'start a later version'
    await expect(start(prefix)).rejects.toThrow(says)
    await expect(verifyStoreAt({ etcd: placeOf(prefix) }, options)).rejects.toThrow(says)
  })

  it('a store of a version that counted arrivals alone, at level 0, is none', async () => {
    const prefix = `/damaged/${++prefixes}`
    await put(`${prefix}/borough/format-arrivals`, Buffer.concat([Buffer.from([0xff, 0, 0, 0]), Buffer.from('4')]))
    await using _ = await start(prefix)
    expect((await stored(prefix + key))?.at(-1)).toBe('1'.charCodeAt(0))
  })

  it('a server that runs goes on, writes nothing over it, and says so', async () => {
    const prefix = `/damaged/${++prefixes}`
    await using plane = await start(prefix)
    const user = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }
    const ready = async (): Promise<string> => {
      const request = new Request('https://borough.test/readyz?verbose')
      return (await fetchAdapter(plane.serve, user)(request)).text()
    }
    const before = (await stored(prefix + key)) ?? Buffer.alloc(0)
    expect(await ready()).toContain('[+]storage-format ok\n')
    await remove(prefix + key)
    const warned = `[+]storage-format ok, with 1 warnings\nwarn: ${missing}; see 'borough storage repair'\n`
    await expect.poll(ready, { timeout: 30_000 }).toContain(warned)
    expect(await stored(prefix + key)).toBeUndefined()
    await put(prefix + key, before.subarray(-1))
    await expect.poll(ready, { timeout: 30_000 }).toContain('[+]storage-format ok\n')
  })
})

const base64 = (bytes: string | Buffer): string => Buffer.from(bytes).toString('base64')
