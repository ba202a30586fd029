/**
 * What the etcd engine promises beyond the contract of all engines: the key layout, other hands, broken connections.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { openPki } from '../../src/pki/open-pki.ts'
import { memoryPkiStore } from '../../src/pki/pki-store.ts'
import { damageOf } from '../../src/storage/damaged-value.ts'
import type { EtcdTls } from '../../src/storage/etcd/connection.ts'
import { EtcdConnection } from '../../src/storage/etcd/connection.ts'
import type { EtcdStorageOptions } from '../../src/storage/etcd/etcd-storage.ts'
import { EtcdStorage } from '../../src/storage/etcd/etcd-storage.ts'
import type { Op } from '../../src/storage/etcd/messages.ts'
import { rangeMethod, txnMethod } from '../../src/storage/etcd/messages.ts'
import type { Revision, Storage, StorageError, Write } from '../../src/storage/storage.ts'
import { endOfCommit, isStorageError, prefixSpan } from '../../src/storage/storage.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'
import { bytes, put, remove, text, WatchReader } from './storage-reader.ts'

const everything = prefixSpan('/')

describe.skipIf(etcdVersion === undefined)(`the etcd engine${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  let server: EtcdServer
  let spaces = 0
  let prefix: string
  const opened: AsyncDisposable[] = []
  const readers: WatchReader[] = []

  beforeAll(async () => {
    server = await EtcdServer.start()
  })
  afterEach(async () => {
    await Promise.all(readers.splice(0).map((reader) => reader.stop()))
    for (const resource of opened.splice(0).reverse()) await resource[Symbol.asyncDispose]()
  })
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]()
  })

  function keep<T extends AsyncDisposable>(resource: T): T {
    opened.push(resource)
    return resource
  }

  /** A storage on a key space of its own, or on the one of the test. */
  async function open(options: Partial<EtcdStorageOptions> = {}): Promise<EtcdStorage> {
    prefix = options.prefix ?? `/engine-test/${++spaces}`
    return keep(await EtcdStorage.open({ endpoints: [server.endpoint], prefix, ...options }))
  }

  function watch(storage: Storage, after: Revision, span = everything): WatchReader {
    const reader = new WatchReader(storage, span, after)
    readers.push(reader)
    return reader
  }

  async function commit(storage: Storage, ...writes: Write[]): Promise<Revision> {
    const result = await storage.commit({ guards: [], writes }).done
    if (!result.ok) throw new Error(`refused: ${[...result.current.keys()].join(', ')}`)
    return result.revision
  }

  /** Another program on the same etcd. Resolves to etcd's revision. */
  async function otherHands(...ops: Op[]): Promise<number> {
    const connection = rawConnection()
    try {
      const request = { compare: [], success: ops, failure: [] }
      return (await connection.call(txnMethod, request, { repeatable: false })).revision
    } finally {
      connection.close()
    }
  }

  function rawConnection(): EtcdConnection {
    const limits = { requestTimeoutMs: 5_000, connectTimeoutMs: 2_000 }
    return new EtcdConnection({ endpoints: [server.endpoint], clock: systemClock, ...limits })
  }

  const rawPut = (key: string, value: string): Op => ({
    type: 'put',
    key: Buffer.from(key),
    header: new Uint8Array(0),
    value: bytes(value),
  })
  async function rawGet(key: string): Promise<Buffer> {
    const connection = rawConnection()
    try {
      const { kvs } = await connection.call(rangeMethod, { key: Buffer.from(key) }, { repeatable: true })
      return kvs[0]?.value ?? Buffer.alloc(0)
    } finally {
      connection.close()
    }
  }
  const portOf = (endpoint: string): number => Number(new URL(endpoint).port)

  describe('keys and values', () => {
    it('a key lies in etcd under its own name below the prefix, its value behind four bytes', async () => {
      const storage = await open()
      await commit(storage, put('/registry/namespaces/a', 'A'), put('/registry/namespaces/b', 'B'))
      const connection = rawConnection()
      const range = {
        key: Buffer.from(`${prefix}/registry/namespaces/`),
        rangeEnd: Buffer.from(`${prefix}/registry/namespaces0`),
      }
      const { kvs } = await connection.call(rangeMethod, range, { repeatable: true })
      connection.close()
      expect(kvs.map(({ key, value }) => [key.toString(), value.toString('latin1')])).toEqual([
        [`${prefix}/registry/namespaces/a`, '\xff\0\0\0A'],
        [`${prefix}/registry/namespaces/b`, '\xff\0\x01\0B'],
      ])
    })

    it('key spaces with different prefixes do not see each other, even if one name begins like the other', async () => {
      const one = await open({ prefix: '/engine-test/space' })
      const two = await open({ prefix: '/engine-test/space2' })
      const start = await one.currentRevision()
      const reader = watch(one, start)
      await commit(two, put('/a', 'two'))
      await commit(one, put('/a', 'one'))
      const changes = await reader.until(await one.currentRevision())
      expect(changes.map(({ key, value }) => [key, text(value)])).toEqual([['/a', 'one']])
      expect((await one.range({ start: '', end: '\u{10ffff}' })).entries.map((e) => text(e.value))).toEqual(['one'])
    })

    it("the engine's own keys are neither shown nor taken", async () => {
      const storage = await open()
      const revision = await commit(storage, put('/a', '1'), put('/b', '1'), put('/z', '1'))
      // Two transactions with deletes in one commit leave a note behind.
      const both = [
        storage.commit({ guards: [], writes: [remove('/a', revision)] }),
        storage.commit({ guards: [], writes: [remove('/b', revision + 1)] }),
      ]
      for (const { done } of both) expect((await done).ok).toBe(true)
      expect((await storage.range(everything)).entries.map((e) => e.key)).toEqual(['/z'])
      expect(await storage.range(everything, { limit: 1 })).toMatchObject({ more: false })
      expect((await storage.get('/borough/etcd/deletes')).entry).toBeUndefined()
      const forbidden = { guards: [], writes: [put('/borough/etcd/deletes', 'x')] }
      expect(() => storage.commit(forbidden)).toThrow(expect.objectContaining({ code: 'invalid' }))
    })

    it.each(['registry', '/registry/', '/a//b', '/'])('a prefix of %j is refused', async (wrong) => {
      await expect(EtcdStorage.open({ endpoints: [server.endpoint], prefix: wrong })).rejects.toMatchObject({
        code: 'invalid',
      })
    })

    it('a range longer than a page of etcd is read whole, at one revision', async () => {
      const storage = await open()
      for (let i = 0; i < 25; i++) {
        await commit(
          storage,
          ...Array.from({ length: 100 }, (_, j) => put(`/k/${String(i * 100 + j).padStart(4, '0')}`, '1')),
        )
      }
      const whole = await storage.range(everything)
      expect(whole.entries).toHaveLength(2500)
      expect(new Set(whole.entries.map((e) => e.key)).size).toBe(2500)
      const limited = await storage.range(everything, { limit: 1500 })
      expect([limited.entries.length, limited.more]).toEqual([1500, true])
    })
  })

  describe('transactions that share a commit', () => {
    it('each is decided for itself, and every change has the revision its transaction was told', async () => {
      const storage = await open()
      const a = await commit(storage, put('/a', '1'))
      const b = await commit(storage, put('/b', '1'))
      const c = await commit(storage, put('/c', '1'))
      const start = await storage.currentRevision()
      const live = watch(storage, start)
      await live.until(start)
      const pending = [
        storage.commit({ guards: [], writes: [put('/x', '1'), put('/y', '1')] }),
        storage.commit({ guards: [], writes: [put('/w', '1')] }),
        storage.commit({ guards: [], writes: [put('/lost', '1'), remove('/nothing', a)] }),
        storage.commit({ guards: [], writes: [remove('/a', a), put('/z', '1'), remove('/c', c)] }),
        storage.commit({ guards: [], writes: [remove('/b', b)] }),
      ]
      const results = await Promise.all(pending.map((p) => p.done))
      expect(results.map((r) => r.ok)).toEqual([true, true, false, true, true])
      const told = results.map((r) => (r.ok ? r.revision : 0))
      expect(new Set(told.filter(Boolean).map(endOfCommit)).size).toBe(1)
      const want = [
        ['/x', told[0]],
        ['/y', (told[0] ?? 0) + 1],
        ['/w', told[1]],
        ['/a', told[3]],
        ['/z', (told[3] ?? 0) + 1],
        ['/c', (told[3] ?? 0) + 2],
        ['/b', told[4]],
      ]
      const late = watch(await open({ prefix }), start)
      for (const reader of [live, late]) {
        const changes = await reader.until(endOfCommit(told[0] ?? 0))
        expect(changes.map(({ key, revision }) => [key, revision])).toEqual(want)
      }
    })

    it('a hundred expected revisions are checked to the position', async () => {
      const storage = await open()
      const keys = Array.from({ length: 99 }, (_, i) => `/k${i}`)
      const revision = await commit(storage, ...keys.map((key) => put(key, '1')))
      const guards = keys.map((key, i) => ({ key, expect: revision + i }))
      const wrong = guards.map((guard, i) => (i === 70 ? { ...guard, expect: guard.expect + 1 } : guard))
      const refused = await storage.commit({ guards: wrong, writes: [put('/new', '1')] }).done
      expect(refused.ok ? [] : [...refused.current.keys()]).toEqual(['/k70'])
      expect((await storage.commit({ guards, writes: [put('/new', '1')] }).done).ok).toBe(true)
    })
  })

  describe('other hands on the same etcd', () => {
    it('a value without our header counts as position 0, and can be replaced', async () => {
      const storage = await open()
      const start = await storage.currentRevision()
      const reader = watch(storage, start)
      const mod = await otherHands(rawPut(`${prefix}/by-hand`, '{"kind":"Namespace"}'))
      const { entry } = await storage.get('/by-hand')
      expect([text(entry?.value), entry?.revision]).toEqual(['{"kind":"Namespace"}', mod * 1024])
      const replaced = await commit(storage, put('/by-hand', '2', entry?.revision ?? 0))
      const changes = await reader.until(endOfCommit(replaced))
      expect(changes.map(({ revision, value }) => [revision, text(value)])).toEqual([
        [mod * 1024, '{"kind":"Namespace"}'],
        [replaced, '2'],
      ])
    })

    it.each([
      { name: 'without a checksum', header: Buffer.of(0xff, 0xff, 0xff, 0xff, 1) },
      { name: 'cut off', header: Buffer.of(0xff, 0, 0, 1, 0xfe, 0) },
    ])('what begins like one of our values but is not ($name) is damaged, and named', async ({ header }) => {
      const storage = await open()
      await otherHands({ type: 'put', key: Buffer.from(`${prefix}/broken`), header, value: new Uint8Array(0) })
      const { entry } = await storage.get('/broken')
      expect(damageOf(entry?.value ?? new Uint8Array())).toBe(
        `the stored value of /broken at revision ${entry?.revision} is damaged: its header is not one`,
      )
    })

    it('values with and without a checksum lie side by side, and replace each other', async () => {
      const plain = await open()
      const sealing = await open({ prefix, checksums: true })
      const first = await commit(plain, put('/a', 'plain'))
      const second = await commit(sealing, put('/a', 'sealed', first))
      const reader = watch(plain, first - 1)
      const third = await commit(plain, put('/a', 'plain again', second))
      const changes = await reader.until(endOfCommit(third))
      expect(changes.map(({ value, previous }) => [text(value), text(previous?.value)])).toEqual([
        ['plain', undefined],
        ['sealed', 'plain'],
        ['plain again', 'sealed'],
      ])
    })

    it('a sealed value of which any byte was changed, or that lies elsewhere, is damaged and named', async () => {
      const storage = await open({ checksums: true })
      const revision = await commit(storage, put('/sealed', 'a value'))
      const raw = await rawGet(`${prefix}/sealed`)
      const damaged = async (key: string, value: Buffer): Promise<void> => {
        await otherHands({ type: 'put', key: Buffer.from(prefix + key), header: new Uint8Array(0), value })
        const { entry } = await storage.get(key)
        const note = damageOf(entry?.value ?? new Uint8Array())
        expect(note).toContain(`the stored value of ${key} at revision ${entry?.revision} is damaged: `)
      }
      for (let at = 0; at < raw.length; at++) {
        const value = Buffer.from(raw)
        value.writeUInt8((value[at] ?? 0) ^ 0xa5, at)
        await damaged('/sealed', value)
      }
      await damaged('/other', raw)
      const { entry } = await storage.get('/sealed', { at: revision })
      expect(text(entry?.value)).toBe('a value')
    })

    it("another application's writes move currentRevision, and a watch hears of it without one of ours", async () => {
      const storage = await open()
      const reader = watch(storage, await storage.currentRevision())
      await otherHands(rawPut('/another-application/key', '1'))
      const revision = await storage.currentRevision()
      expect(await reader.until(revision)).toEqual([])
    })

    it('two storages on one key space see the same changes with the same revisions', async () => {
      const one = await open()
      const two = await open({ prefix })
      const start = await one.currentRevision()
      const pending = Array.from({ length: 40 }, (_, i) =>
        (i % 2 ? one : two).commit({ guards: [], writes: [put(`/k${i % 7}/${i}`, '1')] }),
      )
      await Promise.all(pending.map((p) => p.done))
      const end = await one.currentRevision()
      const [seenByOne, seenByTwo] = await Promise.all([watch(one, start).until(end), watch(two, start).until(end)])
      expect(seenByOne).toHaveLength(40)
      expect(seenByTwo).toEqual(seenByOne)
    })

    it('of two storages that write the same expectation, one wins', async () => {
      const one = await open()
      const two = await open({ prefix })
      const revision = await commit(one, put('/n', '0'))
      const results = await Promise.all(
        [one, two].map((s, i) => s.commit({ guards: [], writes: [put('/n', `${i}`, revision)] }).done),
      )
      expect(results.filter((r) => r.ok)).toHaveLength(1)
    })

    it('a compaction by other hands is noticed', async () => {
      const one = await open()
      const two = await open({ prefix })
      const first = await commit(one, put('/a', '1'))
      const second = await commit(one, put('/a', '2', first))
      await two.compact(second)
      await expect(one.get('/a', { at: first })).rejects.toMatchObject({ code: 'compacted' })
      expect(await one.compactedRevision()).toBe(endOfCommit(second))
    })
  })

  it('resuming before a commit that has been compacted is refused by a fresh engine: deletes are gone', async () => {
    const one = await open()
    const first = await commit(one, put('/a', '1'))
    const gone = await commit(one, remove('/a', first))
    await (await open({ prefix })).compact(gone)
    expect(await watch(await open({ prefix }), endOfCommit(first)).end()).toMatchObject({ code: 'compacted' })
    const later = await commit(one, put('/b', '1'))
    const reader = watch(await open({ prefix }), endOfCommit(gone))
    expect((await reader.until(endOfCommit(later))).map((c) => c.key)).toEqual(['/b'])
  })

  it('resuming inside a commit that has been compacted is refused: its deletes may be gone', async () => {
    const one = await open()
    const first = await commit(one, put('/a', '1'))
    const both = await commit(one, put('/b', '1'), remove('/a', first))
    await commit(one, put('/c', '1'))
    await (await open({ prefix })).compact(both)
    const fresh = await open({ prefix })
    expect(await watch(fresh, both).end()).toMatchObject({ code: 'compacted' })
    const reader = watch(fresh, endOfCommit(both))
    expect((await reader.until(await fresh.currentRevision())).map((c) => c.key)).toEqual(['/c'])
  })

  describe('long backlogs', () => {
    it('a backlog of many megabytes arrives whole, in order, no commit split', async () => {
      const storage = await open()
      const start = await storage.currentRevision()
      const value = 'x'.repeat(20_000)
      const told: Revision[] = []
      for (let i = 0; i < 40; i++) {
        const first = await commit(storage, ...Array.from({ length: 10 }, (_, j) => put(`/k${i}/${j}`, value)))
        for (let j = 0; j < 10; j++) told.push(first + j)
      }
      const late = watch(await open({ prefix }), start)
      const changes = await late.until(endOfCommit(told.at(-1) ?? 0))
      expect(changes.map((c) => c.revision)).toEqual(told)
      for (const batch of late.batches) if (batch.type === 'changes') expect(batch.changes.length % 10).toBe(0)
    })
  })

  describe('broken connections', () => {
    it('a watch goes on where it was after the server was killed and came back', async () => {
      await using own = await EtcdServer.start()
      const faults: StorageError[] = []
      const onFault = (error: StorageError): unknown => faults.push(error)
      await using storage = await EtcdStorage.open({ endpoints: [own.endpoint], onFault, requestTimeoutMs: 2_000 })
      const start = await storage.currentRevision()
      const reader = watch(storage, start)
      const first = await commit(storage, put('/a', '1'))
      await reader.until(endOfCommit(first))
      await own.stop('SIGKILL')
      await expect(storage.commit({ guards: [], writes: [put('/b', '1')] }).done).rejects.toMatchObject({
        code: 'unavailable',
      })
      await expect(storage.get('/a')).rejects.toMatchObject({ code: 'unavailable' })
      await own.start()
      const second = await retried(() => commit(storage, put('/c', '1')))
      const changes = await reader.until(endOfCommit(second))
      expect(changes.map(({ key, revision }) => [key, revision])).toEqual([
        ['/a', first],
        ['/c', second],
      ])
      expect(faults.map((fault) => fault.code)).toContain('unavailable')
    })

    it(
      'when history is compacted away while the connection is broken, watches end with compacted and new ones ' +
        'work',
      async () => {
        await using proxy = await TcpProxy.start(portOf(server.endpoint))
        const near = await open()
        const far = await open({ prefix, endpoints: [`http://127.0.0.1:${proxy.port}`] })
        const reader = watch(far, await far.currentRevision())
        await reader.until(await far.currentRevision())
        proxy.cut()
        const first = await commit(near, put('/a', '1'))
        const second = await commit(near, put('/a', '2', first))
        await near.compact(second)
        const third = await commit(near, put('/b', '1'))
        proxy.mend()
        expect(await reader.end()).toMatchObject({ code: 'compacted' })
        const next = watch(far, endOfCommit(second))
        expect((await next.until(endOfCommit(third))).map((c) => c.revision)).toEqual([third])
      },
    )

    it('a delete that was compacted away while the connection was broken is not passed over', async () => {
      await using proxy = await TcpProxy.start(portOf(server.endpoint))
      const near = await open()
      const far = await open({ prefix, endpoints: [`http://127.0.0.1:${proxy.port}`] })
      const first = await commit(near, put('/a', '1'))
      const reader = watch(far, await far.currentRevision())
      await reader.until(endOfCommit(first))
      proxy.cut()
      const gone = await commit(near, remove('/a', first))
      await near.compact(gone)
      await commit(near, put('/b', '1'))
      proxy.mend()
      expect(await reader.end()).toMatchObject({ code: 'compacted' })
    })

    it('with several endpoints the next one is asked when one is gone', async () => {
      await using one = await TcpProxy.start(portOf(server.endpoint))
      await using two = await TcpProxy.start(portOf(server.endpoint))
      const endpoints = [one, two].map(({ port }) => `http://127.0.0.1:${port}`)
      const storage = await open({ endpoints })
      const reader = watch(storage, await storage.currentRevision())
      const seen: Revision[] = []
      for (const [i, gone] of [one, two, one].entries()) {
        seen.push(await retried(() => commit(storage, put(`/k${i}`, '1'))))
        for (const proxy of [one, two]) if (proxy !== gone) proxy.mend()
        gone.cut()
        seen.push(await retried(() => commit(storage, put(`/l${i}`, '1'))))
        expect((await reader.until(endOfCommit(seen.at(-1) ?? 0))).map((c) => c.revision)).toEqual(seen)
      }
    })

    it('an endpoint where nobody listens is named in the error', async () => {
      const proxy = await TcpProxy.start(1)
      const endpoint = `http://127.0.0.1:${proxy.port}`
      await proxy[Symbol.asyncDispose]()
      const error = await EtcdStorage.open({ endpoints: [endpoint] }).catch((e: unknown) => e)
      expect(isStorageError(error, 'unavailable')).toBe(true)
      expect(String(error)).toContain(endpoint)
      expect(String(error)).toContain('ECONNREFUSED')
    })

    it('a watch that waits for an absent etcd ends cleanly when its signal aborts', async () => {
      await using proxy = await TcpProxy.start(portOf(server.endpoint))
      const storage = await open({ endpoints: [`http://127.0.0.1:${proxy.port}`] })
      const start = await storage.currentRevision()
      proxy.cut()
      const reader = watch(storage, start - 2048)
      const ended = reader.end()
      reader.abort()
      expect(await ended).toBeUndefined()
    })
  })

  describe('TLS', () => {
    it('with client certificates both sides know each other; without, or with another CA, none speaks', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'borough-etcd-tls-'))
      keep({ [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) })
      const pki = await openPki(memoryPkiStore(), { clock: systemClock, names: ['127.0.0.1'] })
      const stranger = await openPki(memoryPkiStore(), { clock: systemClock, names: ['127.0.0.1'] })
      const files = { 'ca.crt': pki.caCert, 'server.crt': pki.serving.cert, 'server.key': pki.serving.key }
      for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
      await using secured = await EtcdServer.start({
        scheme: 'https',
        flags: [
          `--cert-file=${folder}/server.crt`,
          `--key-file=${folder}/server.key`,
          `--trusted-ca-file=${folder}/ca.crt`,
          '--client-cert-auth',
        ],
      })
      const { cert, key } = pki.mintClientCertificate({ user: 'borough', groups: [], durationMs: 3_600_000 })
      const known = { ca: Buffer.from(pki.caCert), cert: Buffer.from(cert), key: Buffer.from(key) }
      const connect = (tls: EtcdTls): Promise<EtcdStorage> => EtcdStorage.open({ endpoints: [secured.endpoint], tls })

      await using storage = await connect(known)
      const revision = await commit(storage, put('/a', '1'))
      expect((await storage.get('/a')).entry?.revision).toBe(revision)
      const reader = watch(storage, revision - 1)
      expect(await reader.until(endOfCommit(revision))).toHaveLength(1)

      await expect(connect({ ...known, serverName: 'elsewhere' })).rejects.toMatchObject({ code: 'unavailable' })
      await expect(connect({ ca: known.ca })).rejects.toMatchObject({ code: 'unavailable' })
      await expect(connect({ ...known, ca: Buffer.from(stranger.caCert) })).rejects.toMatchObject({
        code: 'unavailable',
        message: /certificate/,
      })
    })
  })

  it('an etcd at its quota is full', async () => {
    await using own = await EtcdServer.start({ flags: ['--quota-backend-bytes=8388608'] })
    await using storage = await EtcdStorage.open({ endpoints: [own.endpoint] })
    const value = new Uint8Array(1024 * 1024)
    const fill = async (): Promise<void> => {
      for (let i = 0; i < 40; i++) {
        const result = await storage.commit({ guards: [], writes: [{ key: `/k${i}`, value, expect: 'absent' }] }).done
        expect(result.ok).toBe(true)
      }
    }
    await expect(fill()).rejects.toMatchObject({ code: 'full' })
    expect((await storage.range(everything, { limit: 1 })).entries).toHaveLength(1)
  })
})

/**
 * A commit whose connection breaks is not repeated by the storage: nobody knows whether it was applied. Here it wasn't.
 */
async function retried<T>(action: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await action()
    } catch (error) {
      if (!isStorageError(error, 'unavailable') || attempt === 50) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
