/** Servers that share an etcd, of which one encrypts. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { damagedAt, openReadingEncryption, repairAt, verifyStoreAt } from '../../src/backup/backup.ts'
import { reencryptAt } from '../../src/backup/reencrypt-store.ts'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { Encryption } from '../../src/encryption/encryption.ts'
import { reencrypt } from '../../src/encryption/reencrypt.ts'
import { openServerStorage } from '../../src/encryption/server-storage.ts'
import { damageOf } from '../../src/storage/damaged-value.ts'
import { EtcdStorage } from '../../src/storage/etcd/etcd-storage.ts'
import { prefixSpan, type Storage } from '../../src/storage/storage.ts'
import { put, text } from '../contract/storage-reader.ts'
import { etcdCall } from '../replicas/cluster.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { aesgcm, identity, writeConfiguration } from './configurations.ts'

describe.skipIf(etcdVersion === undefined)(`encryption on etcd ${etcdVersion ?? `(skipped: ${etcdMissing})`}`, () => {
  let server: EtcdServer
  let folder: string
  let prefixes = 0
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'borough-encrypted-etcd-'))
    server = await EtcdServer.start()
  })
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  const endpoints = (): string[] => [server.endpoint.replace('http://', '')]
  const choiceOf = async (...providers: readonly object[]) => ({
    path: await writeConfiguration(folder, { resources: ['secrets'], providers }),
    automaticReload: false,
  })
  const open = async (prefix: string, checksums: boolean, ...providers: readonly object[]): Promise<Storage> =>
    openServerStorage({
      storage: { engine: 'etcd', endpoints: endpoints(), prefix, checksums },
      clock: systemClock,
      log: silentLog,
      ...(providers.length === 0 ? {} : { encryption: await choiceOf(...providers) }),
    })
  const raw = (prefix: string): Promise<EtcdStorage> =>
    EtcdStorage.open({ endpoints: [server.endpoint], prefix, checksums: true })
  const key = '/registry/secrets/a/b'

  it.each([true, false])(
    'a server that was there before, without keys, sees what it can not read (checksums: %s)',
    async (checksums) => {
      const prefix = `/test/${++prefixes}`
      await using bare = await open(prefix, checksums)
      const after = await bare.currentRevision()
      await using encrypting = await open(prefix, checksums, aesgcm(1))
      await encrypting.commit({ guards: [], writes: [put(key, '{"metadata":{}}')] }).done
      expect(text((await encrypting.get(key)).entry?.value ?? new Uint8Array(0))).toBe('{"metadata":{}}')
      const noKeyFits = 'it is encrypted, and no provider or key that is configured fits'
      const says = new RegExp(`^the stored value of ${key} at revision \\d+ can't be decrypted: ${noKeyFits}$`)
      expect(damageOf((await bare.get(key)).entry?.value ?? new Uint8Array(0))).toMatch(says)
      const stop = new AbortController()
      for await (const batch of bare.watch(prefixSpan('/registry/'), after, stop.signal)) {
        if (batch.type !== 'changes') continue
        expect(damageOf(batch.changes[0]?.value ?? new Uint8Array(0))).toMatch(says)
        break
      }
      await expect(open(prefix, checksums)).rejects.toThrow(
        'etcd holds encrypted values: --encryption-provider-config <file> with their keys',
      )
    },
  )

  it.each([
    { level: '0', form: 0 },
    { level: '1', form: 1 },
  ])('is written anew in the form that servers agreed on, level $level', async ({ level, form }) => {
    const prefix = `/test/${++prefixes}`
    {
      await using storage = await open(prefix, level === '1')
      await storage.commit({ guards: [], writes: [put(key, 'one'), put('/borough/format-level', level)] }).done
    }
    const choice = await choiceOf(aesgcm(1), identity)
    const options = { clock: systemClock, log: silentLog }
    const done = await reencryptAt(
      { etcd: { engine: 'etcd', endpoints: endpoints(), prefix } },
      options,
      (storage) => Encryption.open({ ...options, choice, storage }),
      () => undefined,
    )
    expect(done).toMatchObject({ rewritten: 1, unreadable: [] })
    const { kvs = [] } = (await etcdCall(server.endpoint, 'kv/range', {
      key: Buffer.from(prefix + key).toString('base64'),
    })) as { kvs?: readonly { readonly value: string }[] }
    expect(Buffer.from(kvs[0]?.value ?? '', 'base64')[3]).toBe(form)
  })

  it.each([true, false])(
    'what no key opens is named apart from damage while servers run, and repaired (checksums: %s)',
    async (checksums) => {
      const prefix = `/test/${++prefixes}`
      const place = { etcd: { engine: 'etcd', endpoints: endpoints(), prefix, checksums } } as const
      await using server = await open(prefix, checksums, aesgcm(1))
      const first = await server.commit({ guards: [], writes: [put(key, 'first'), put('/registry/pods/a/b', '{}')] })
        .done
      if (!first.ok) throw new Error('refused')
      await using rotated = await open(prefix, checksums, aesgcm(2, 1))
      const writes = [{ key, value: Buffer.from('second'), expect: first.revision }]
      const second = await rotated.commit({ guards: [], writes }).done
      if (!second.ok) throw new Error('refused')
      using encryption = await openReadingEncryption(await choiceOf(aesgcm(1)), { clock: systemClock, log: silentLog })
      const options = { clock: systemClock, log: silentLog, encryption }
      const unopened = {
        key,
        revision: second.revision,
        encryptedWith: { provider: 'aesgcm', name: 'key2' },
        reason: 'it is encrypted, and no provider or key that is configured fits',
        needs: 'key',
      }
      expect(await verifyStoreAt(place, options)).toMatchObject({
        findings: [],
        unopenedEntries: 1,
        unopened: [unopened],
        encrypted: [{ provider: 'aesgcm', name: 'key2', entries: 1 }],
      })
      expect(await damagedAt(place, options)).toEqual({
        damaged: [],
        unopened: [{ ...unopened, previous: first.revision, inBackup: false }],
      })
      await repairAt(place, options, key, 'previous')
      expect(text((await server.get(key)).entry?.value ?? new Uint8Array(0))).toBe('first')
      expect(await verifyStoreAt(place, options)).toMatchObject({ findings: [], unopenedEntries: 0, unopened: [] })
    },
  )

  it('is written anew under other writers, and what they write meanwhile stays theirs', async () => {
    const prefix = `/test/${++prefixes}`
    await using serving = await open(prefix, true, aesgcm(1))
    const keys = Array.from({ length: 300 }, (_, i) => `/registry/secrets/a/s${i}`)
    for (let i = 0; i < keys.length; i += 50) {
      await serving.commit({ guards: [], writes: keys.slice(i, i + 50).map((each) => put(each, 'before')) }).done
    }
    await using storage = await raw(prefix)
    using encryption = await Encryption.open({
      choice: await choiceOf(aesgcm(2, 1), identity),
      storage,
      clock: systemClock,
      log: silentLog,
    })
    let written = 0
    const writer = (async () => {
      for (const each of keys.slice(0, 100)) {
        const { entry } = await serving.get(each)
        const writes = [{ key: each, value: Buffer.from('meanwhile'), expect: entry?.revision ?? ('absent' as const) }]
        if ((await serving.commit({ guards: [], writes }).done).ok) written++
      }
    })()
    const done = await reencrypt(storage, encryption, () => undefined)
    await writer
    expect(done.unreadable).toEqual([])
    expect(done.entries).toBeGreaterThanOrEqual(300)
    await reencrypt(storage, encryption, () => undefined)
    const { entries } = await storage.range(prefixSpan('/registry/'))
    expect(entries).toHaveLength(300)
    for (const { value } of entries) expect(Buffer.from(value).toString('latin1')).toMatch(/^k8s:enc:aesgcm:v1:key2:/)
    await using rotated = await open(prefix, true, aesgcm(2))
    const values = (await rotated.range(prefixSpan('/registry/'))).entries.map(({ value }) => text(value))
    expect(values.filter((value) => value === 'meanwhile')).toHaveLength(written)
    expect(values.filter((value) => value === 'before')).toHaveLength(300 - written)
  })
})
