/** Provider kms, with a plugin of the tests: at the start, when its key changes, and while it can't be asked. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../src/base/fake-clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { EncryptedStorage } from '../../src/encryption/encrypted-storage.ts'
import { Encryption } from '../../src/encryption/encryption.ts'
import { damageNote, damageOf } from '../../src/storage/damaged-value.ts'
import { MemoryStorage } from '../../src/storage/memory/memory-storage.ts'
import { prefixSpan, type Storage } from '../../src/storage/storage.ts'
import { put, text } from '../contract/storage-reader.ts'
import { identity, kms, writeConfiguration } from './configurations.ts'
import { goldenEnvelopes, plaintext, secretText, storedKey } from './golden-values.ts'
import { KmsPlugin } from './kms-plugin.ts'
import { foundInFiles, serveStore, storedAt } from './served-store.ts'

let folder: string
let plugin: KmsPlugin
let clock: FakeClock
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-kms-'))
  plugin = await KmsPlugin.start(folder)
  clock = new FakeClock()
})
afterEach(async () => {
  await plugin[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

async function choice(): Promise<{ path: string; automaticReload: boolean }> {
  const entry = { resources: ['secrets'], providers: [kms(plugin.endpoint), identity] }
  return { path: await writeConfiguration(folder, entry), automaticReload: false }
}

async function encrypted(storage: Storage): Promise<EncryptedStorage> {
  const encryption = await Encryption.open({ choice: await choice(), storage, clock, log: silentLog })
  return new EncryptedStorage(storage, encryption)
}

const key = '/registry/secrets/a/b'
const read = async (storage: Storage, of = key): Promise<string> =>
  text((await storage.get(of)).entry?.value ?? new Uint8Array(0)) ?? ''
const write = (storage: Storage, value: string, of = key) =>
  storage.commit({ guards: [], writes: [put(of, value)] }).done

/** Until what the plugin was asked has been answered, in real time. */
async function renewed(calls: number): Promise<void> {
  await clock.advance(60_000)
  await expect.poll(() => plugin.calls.length).toBeGreaterThanOrEqual(calls)
  // What follows the answer.
  await new Promise((resolve) => setImmediate(resolve))
  await clock.advance(0)
}

describe('provider kms', () => {
  it('asks the plugin at the start, and for no write and no read', async () => {
    const memory = new MemoryStorage({})
    await using storage = await encrypted(memory)
    expect(plugin.calls).toEqual(['Status', 'Encrypt', 'Decrypt'])
    for (const name of ['x', 'y', 'z']) await write(storage, name, `/registry/secrets/a/${name}`)
    expect(await read(storage, '/registry/secrets/a/y')).toBe('y')
    expect(plugin.calls).toEqual(['Status', 'Encrypt', 'Decrypt'])
    expect(await read(memory, '/registry/secrets/a/y')).toMatch(/^k8s:enc:kms:v2:test:/)
  })

  it('keeps its seed from one start to the next, and shares it with another server', async () => {
    const memory = new MemoryStorage({})
    await using first = await encrypted(memory)
    await write(first, 'one')
    await using second = await encrypted(memory)
    expect(plugin.calls).toEqual(['Status', 'Encrypt', 'Decrypt', 'Decrypt', 'Status'])
    expect(await read(second)).toBe('one')
  })

  it('a seed that is damaged where it lies is named', async () => {
    const memory = new MemoryStorage({})
    await using storage = await encrypted(memory)
    await write(storage, 'one')
    const { entries } = await memory.range(prefixSpan('/borough/encryption/kms/'))
    const [record] = entries
    const note = `the stored value of ${record?.key} at revision ${record?.revision} is damaged: some bytes are others`
    const writes = [{ key: record?.key ?? '', value: damageNote(note), expect: record?.revision ?? 0 }]
    expect(await memory.commit({ guards: [], writes }).done).toMatchObject({ ok: true })
    await expect(encrypted(memory)).rejects.toThrow(`${note}; see 'borough storage repair'`)
  })

  it('takes a new key of the plugin, and reads what the old one encrypted', async () => {
    await using storage = await encrypted(new MemoryStorage({}))
    await write(storage, 'old')
    plugin.keyId = '2'
    await renewed(6)
    await expect
      .poll(async () => {
        await write(storage, 'new', `/registry/secrets/a/${plugin.calls.length}-${Math.random()}`)
        const { entries } = await storage.range(prefixSpan('/borough/encryption/'))
        return entries.length
      })
      .toBe(2)
    expect(plugin.calls).toEqual(['Status', 'Encrypt', 'Decrypt', 'Status', 'Encrypt', 'Decrypt'])
    expect(await read(storage)).toBe('old')
  })

  it('a value with a seed that another server made meanwhile is asked for once', async () => {
    const memory = new MemoryStorage({})
    await using first = await encrypted(memory)
    plugin.keyId = '2'
    await using second = await encrypted(memory)
    const after = await memory.currentRevision()
    await write(second, 'by the second')
    const before = plugin.calls.length
    const stop = new AbortController()
    const watch = first.watch(prefixSpan('/registry/'), after, stop.signal)
    for await (const batch of watch) {
      if (batch.type !== 'changes') continue
      expect(batch.changes.map(({ value }) => text(value ?? new Uint8Array(0)))).toEqual(['by the second'])
      break
    }
    expect(await read(first)).toBe('by the second')
    expect(plugin.calls.slice(before)).toEqual(['Decrypt'])
  })

  it('while the plugin is away reads go on, and writes end after three minutes', async () => {
    await using storage = await encrypted(new MemoryStorage({}))
    await write(storage, 'one')
    await plugin.stop()
    await clock.advance(170_000)
    expect((await write(storage, 'two', '/registry/secrets/a/c')).ok).toBe(true)
    await clock.advance(11_000)
    await expect.poll(() => storage.encryption.problems().length).toBe(1)
    expect(() => write(storage, 'three', '/registry/secrets/a/d')).toThrow(
      expect.objectContaining({
        code: 'unavailable',
        message: expect.stringMatching(/^nothing can be encrypted: KMS provider test: Status: /) as string,
      }),
    )
    expect((await write(storage, '{}', '/registry/configmaps/a/d')).ok).toBe(true)
    expect(await read(storage)).toBe('one')
    await plugin.start()
    await clock.advance(60_000)
    await expect.poll(() => storage.encryption.problems()).toEqual([])
    expect((await write(storage, 'three', '/registry/secrets/a/d')).ok).toBe(true)
  })

  it('an unknown seed while the plugin is away fails the read, and not for good', async () => {
    const memory = new MemoryStorage({})
    await using first = await encrypted(memory)
    plugin.keyId = '2'
    {
      const second = await encrypted(memory)
      await write(second, 'by the second')
      second.encryption[Symbol.dispose]()
    }
    await plugin.stop()
    await expect(first.get(key)).rejects.toThrow(
      expect.objectContaining({
        code: 'unavailable',
        message: expect.stringMatching(/^nothing can be decrypted: KMS provider test: Decrypt: /) as string,
      }),
    )
    await plugin.start()
    expect(await read(first)).toBe('by the second')
  })

  it('nor is it taken for absence by a list or a watch: all that covers such a value fails', async () => {
    const memory = new MemoryStorage({})
    await using first = await encrypted(memory)
    await write(first, 'by the first', '/registry/secrets/a/a')
    const after = await first.currentRevision()
    plugin.keyId = '2'
    {
      const second = await encrypted(memory)
      await write(second, 'by the second')
      second.encryption[Symbol.dispose]()
    }
    await plugin.stop()
    const failure = expect.objectContaining({
      code: 'unavailable',
      message: expect.stringMatching(/^nothing can be decrypted: KMS provider test: Decrypt: /) as string,
    })
    const span = prefixSpan('/registry/secrets/')
    await expect(first.range(span)).rejects.toThrow(failure)
    await using watch = first.watch(span, after, new AbortController().signal)
    await expect(watch[Symbol.asyncIterator]().next()).rejects.toThrow(failure)
    expect((await first.range(prefixSpan('/registry/secrets/a/a'))).entries).toHaveLength(1)
    await plugin.start()
    expect((await first.range(span)).entries.map(({ value }) => Buffer.from(value).toString())).toEqual([
      'by the first',
      'by the second',
    ])
  })

  it('does not start while the plugin is away', async () => {
    await plugin.stop()
    await expect(encrypted(new MemoryStorage({}))).rejects.toThrow(/^KMS provider test: Status: .*ENOENT/)
  })

  const unhealthy: readonly { readonly name: string; readonly when: () => void; readonly says: string }[] = [
    {
      name: 'is not well',
      when: () => void (plugin.healthz = 'sealed'),
      says: 'KMS provider test is not healthy: sealed',
    },
    {
      name: 'refuses',
      when: () => void (plugin.refuses = [7, 'no permission\nat all']),
      says: 'KMS provider test: Status: gRPC code 7: no permission at all',
    },
    {
      name: 'has no key',
      when: () => void (plugin.keyId = ''),
      says: 'KMS provider test: keyID is empty',
    },
  ]
  it.each(unhealthy)('does not start with a plugin that $name', async ({ when, says }) => {
    when()
    await expect(encrypted(new MemoryStorage({}))).rejects.toThrow(
      expect.objectContaining({ name: 'EncryptionError', message: says }),
    )
  })

  it('what the plugin has forgotten is unreadable, and nothing else', async () => {
    const memory = new MemoryStorage({})
    {
      const first = await encrypted(memory)
      await write(first, 'old')
      first.encryption[Symbol.dispose]()
    }
    plugin.keyId = '2'
    plugin.forgotten.add('1')
    await using storage = await encrypted(memory)
    await write(storage, 'new', '/registry/secrets/a/c')
    const { entry } = await storage.get(key)
    const named = /^the stored value of \/registry\/secrets\/a\/b at revision \d+ can't be decrypted: (.*)$/
    expect(named.exec(damageOf(entry?.value ?? new Uint8Array(0)) ?? '')?.[1]).toBe(
      'KMS provider test: Decrypt: gRPC code 5: key 1 is gone',
    )
    expect(await read(storage, '/registry/secrets/a/c')).toBe('new')
  })

  it.each(goldenEnvelopes)("reads another implementation's envelope, from a seed: $isSeed", async ({ stored }) => {
    const memory = new MemoryStorage({})
    plugin.plaintextOf.set('encrypted seed', Buffer.from(secretText))
    await memory.commit({
      guards: [],
      writes: [{ key: storedKey, value: Buffer.from(stored, 'base64'), expect: 'absent' }],
    }).done
    await using storage = await encrypted(memory)
    expect(await read(storage, storedKey)).toBe(plaintext)
  })

  it('serves a SQLite store over restarts, and tells of the plugin in its health', async () => {
    const dataDir = join(folder, 'data')
    const secrets = '/api/v1/namespaces/default/secrets'
    const plain = 'aHVudGVyMi1ieS1hbnktb3RoZXItbmFtZQ=='
    {
      await using server = await serveStore(dataDir, await choice(), { clock })
      expect((await server.send('POST', secrets, { metadata: { name: 's' }, data: { p: plain } })).status).toBe(201)
      expect(storedAt(dataDir, '/registry/secrets/default/s')).toMatch(/^k8s:enc:kms:v2:test:/)
    }
    expect(await foundInFiles(dataDir, plain)).toEqual([])
    await using server = await serveStore(dataDir, await choice(), { clock })
    expect((await server.send('GET', `${secrets}/s`)).body.data).toEqual({ p: plain })
    expect((await server.send('GET', '/readyz?verbose')).text).toContain('[+]kms-providers ok\n')
    await plugin.stop()
    await clock.advance(60_000)
    await expect
      .poll(async () => (await server.send('GET', '/livez?verbose')).text)
      .toContain('[-]kms-providers failed: reason withheld\n')
    await clock.advance(180_000)
    const refused = await server.send('POST', secrets, { metadata: { name: 't' } })
    expect(refused.status).toBe(503)
    expect(refused.body.reason).toBe('ServiceUnavailable')
    expect((await server.send('GET', `${secrets}/s`)).status).toBe(200)
  })
})
