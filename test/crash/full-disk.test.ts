/**
 * A store whose disk, or largest size, is full: deletes and small changes go on, as do reads and watches; it can be
 * stopped and started; and when there is room again it takes everything, by itself.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openDataDir } from '../../src/datadir/data-dir.ts'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { prefixSpan, type Storage } from '../../src/storage/storage.ts'
import { type ServedStore, serveStore } from '../encryption/served-store.ts'

const mebibyte = 1024 * 1024
const everything = prefixSpan('/')
const value = (kibibytes: number): Uint8Array => new Uint8Array(kibibytes * 1024).fill(97)

async function write(storage: Storage, key: string, bytes: Uint8Array | undefined): Promise<string> {
  const { entry } = await storage.get(key)
  try {
    const writes = [{ key, value: bytes, expect: entry?.revision ?? ('absent' as const) }]
    return (await storage.commit({ guards: [], writes }).done).ok ? 'ok' : 'refused'
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
}

/** Answers the keys that were taken. */
async function fill(storage: Storage, kibibytes = 64): Promise<string[]> {
  const taken: string[] = []
  for (let i = 0; i < 4000; i++) {
    if ((await write(storage, `/k${i}`, value(kibibytes))) !== 'ok') return taken
    taken.push(`/k${i}`)
  }
  throw new Error('it was never full')
}

describe('a store of a largest size', () => {
  let directory: string
  const room = { maxFileBytes: 8 * mebibyte, reserveBytes: mebibyte }
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'borough-largest-'))
  })
  afterEach(async () => {
    await rm(directory, { recursive: true })
  })

  it('takes deletes and small changes when it is full, and everything once they have made room', async () => {
    await using storage = await SqliteStorage.open({ directory, ...room })
    const keys = await fill(storage)
    expect(storage.condition()).toMatchObject({
      writes: 'small',
      warnings: [`the store in ${directory} is full: only deletes and small changes are taken until there is room`],
    })
    expect(await write(storage, '/new', value(0))).toBe('full')
    expect(await write(storage, keys[0] ?? '', value(64))).toBe('ok')
    expect(await write(storage, keys[0] ?? '', value(66))).toBe('full')
    expect((await storage.range(everything)).entries).toHaveLength(keys.length)
    for (const key of keys.slice(10)) expect(await write(storage, key, undefined)).toBe('ok')
    await storage.compact(await storage.currentRevision())
    await expect.poll(() => storage.condition()?.writes, { timeout: 5000 }).toBe('all')
    expect(await write(storage, '/new', value(64))).toBe('ok')
    expect((await storage.range(everything)).entries).toHaveLength(11)
  })

  it('counts what was deleted as room, once history no longer needs it', async () => {
    await using storage = await SqliteStorage.open({ directory, ...room })
    const before = storage.condition()?.freeBytes ?? 0
    const keys: string[] = []
    for (; storage.condition()?.warnings.length === 0; keys.push(`/k${keys.length}`)) {
      expect(await write(storage, `/k${keys.length}`, value(32))).toBe('ok')
    }
    for (const key of keys) expect(await write(storage, key, undefined)).toBe('ok')
    await storage.compact(await storage.currentRevision())
    const { warnings, freeBytes = 0 } = storage.condition() ?? {}
    expect(warnings).toEqual([])
    expect(freeBytes).toBeGreaterThan(0.9 * before)
  })

  it('takes everything again soon after everything was deleted, as long as history may be', async () => {
    const dataDir = join(directory, 'data')
    await mkdir(dataDir, { mode: 0o700 })
    await using server = await serveStore(dataDir, undefined, { maxStoreBytes: 24 * mebibyte })
    const path = '/api/v1/namespaces/default/configmaps'
    const create = async (name: string): Promise<number> =>
      (await server.send('POST', path, { metadata: { name }, data: { text: 'x'.repeat(500_000) } })).status
    for (let i = 0; (await create(`c${i}`)) === 201; i++) if (i > 200) throw new Error('it was never full')
    expect((await server.send('DELETE', path)).status).toBe(200)
    await expect.poll(() => create('again'), { timeout: 60_000, interval: 500 }).toBe(201)
    expect((await server.send('GET', '/readyz?verbose')).text).toMatch(/^\[\+\]storage-room ok$/m)
  }, 120_000)

  it('tells that nothing is written any more after a fault, and goes on reading', async () => {
    await using storage = await SqliteStorage.open({ directory, ...room })
    expect(await write(storage, '/a', value(1))).toBe('ok')
    // A row that another program wrote: what this one knows of the file can't be trusted.
    const foreign = new DatabaseSync(join(directory, 'state.db'))
    foreign.exec("INSERT INTO log (revision, key) VALUES (9000000, '/b')")
    foreign.close()
    expect(await write(storage, '/a', value(1))).toBe('unavailable')
    await expect.poll(() => storage.condition()?.writes).toBe('none')
    expect(storage.condition()?.warnings).toEqual([
      `another program has written into ${join(directory, 'state.db')}; no more writes are taken until a restart`,
    ])
    expect((await storage.get('/a')).entry?.value).toHaveLength(1024)
  })

  it('that is closed has no condition that metrics could ask for', async () => {
    const storage = await SqliteStorage.open({ directory, ...room })
    await storage[Symbol.asyncDispose]()
    expect(storage.condition()).toBeUndefined()
  })

  it('tells before it happens', async () => {
    await using storage = await SqliteStorage.open({ directory, ...room })
    expect(storage.condition()?.warnings).toEqual([])
    for (let i = 0; storage.condition()?.warnings.length === 0; i++) {
      expect(await write(storage, `/k${i}`, value(32))).toBe('ok')
    }
    expect(storage.condition()).toMatchObject({
      writes: 'all',
      warnings: [expect.stringMatching(/^the store in \S+ has little room left: \d MiB$/)],
    })
  })
})

/** Of SQLite's log, pages that can still be written to it without more of the disk. */
function freeFrames(path: string): number {
  const log = readFileSync(path)
  const [header, frame] = [32, 24 + 4096]
  const isOfNow = (at: number): boolean => log.compare(log, 16, 24, at + 8, at + 16) === 0
  let end = header
  while (end + frame <= log.length && isOfNow(end)) end += frame
  return Math.floor((log.length - end) / frame)
}

/** A file system of 40 MiB, where this machine lets us mount one. */
const mounted = ((): boolean => {
  try {
    const place = join(tmpdir(), 'borough-may-mount')
    execFileSync('mkdir', ['-p', place])
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', place], { stdio: 'ignore' })
    execFileSync('umount', [place])
    return true
  } catch {
    return false
  }
})()

describe.skipIf(!mounted)(`a full disk${mounted ? '' : ' (skipped: nothing may be mounted here)'}`, () => {
  let disk: string
  let dataDir: string
  let ballast: string
  beforeAll(async () => {
    disk = await mkdtemp(join(tmpdir(), 'borough-disk-'))
  })
  afterAll(async () => {
    await rm(disk, { recursive: true })
  })
  beforeEach(async () => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=40m', 'tmpfs', disk])
    dataDir = join(disk, 'data')
    ballast = join(disk, 'ballast')
    await mkdir(dataDir, { mode: 0o700 })
  })
  afterEach(() => {
    execFileSync('umount', [disk])
  })

  const freeBytes = (): number => {
    const { bavail, bsize } = statfsSync(disk)
    return bavail * bsize
  }
  /** All that is left, to the last byte. */
  const fillDisk = (): void => {
    for (let bytes = freeBytes(); bytes > 0; bytes = freeBytes()) {
      try {
        writeFileSync(ballast, Buffer.alloc(Math.min(bytes, mebibyte)), { flag: 'a' })
      } catch {
        return
      }
    }
  }
  const configMaps = '/api/v1/namespaces/default/configmaps'
  const create = (server: ServedStore, name: string) =>
    server.send('POST', configMaps, { metadata: { name }, data: { text: 'x'.repeat(100_000) } })
  const reserved = (): boolean => freeBytes() < 34 * mebibyte

  it('is served for reads and deletes, over a restart, and takes everything when there is room again', async () => {
    {
      await using server = await serveStore(dataDir)
      for (let i = 0; i < 20; i++) expect((await create(server, `c${i}`)).status).toBe(201)
      await expect.poll(reserved, { timeout: 5000 }).toBe(true)
      fillDisk()
      let refused = await create(server, 'first')
      for (let i = 0; refused.status === 201 && i < 400; i++) refused = await create(server, `more${i}`)
      expect(refused.status).toBe(507)
      expect(refused.body.message).toBe(
        'the store is full: at most deletes and small changes are taken until there is room',
      )
      const names = ((await server.send('GET', configMaps)).text.match(/"name":"c\d+"/g) ?? []).length
      expect(names).toBe(20)
      for (let i = 0; i < 5; i++) expect((await server.send('DELETE', `${configMaps}/c${i}`)).status).toBe(200)
      expect((await create(server, 'again')).status).toBe(507)
      expect((await server.send('GET', '/readyz')).status).toBe(200)
      expect((await server.send('GET', '/readyz?verbose')).text).toMatch(
        /\[\+\]storage-room ok, with 1 warnings\nwarn: the store in \S+ is full: only deletes and small changes/,
      )
      const metrics = await server.metrics()
      expect(metrics).toContain('borough_storage_writes_limited 1\n')
      expect(metrics).toMatch(/^borough_storage_free_bytes \d+$/m)
    }
    fillDisk()
    await using server = await serveStore(dataDir)
    expect((await server.send('GET', `${configMaps}/c7`)).status).toBe(200)
    expect((await server.send('GET', '/readyz')).status).toBe(200)
    rmSync(ballast)
    await expect.poll(async () => (await create(server, 'room')).status, { timeout: 10_000 }).toBe(201)
    expect((await server.send('GET', '/readyz?verbose')).text).not.toContain('is full')
    await expect.poll(async () => (await server.metrics()).includes('borough_storage_writes_limited 0\n')).toBe(true)
  })

  const reserve = { reserveBytes: 4 * mebibyte }
  const storeDir = (): string => join(dataDir, 'store')
  const held = (): boolean => existsSync(join(storeDir(), 'reserve'))

  it('that the store alone filled takes as much again after deletes, again and again, and over a restart', async () => {
    const counts: number[] = []
    for (let round = 0; round < 2; round++) {
      await using storage = await SqliteStorage.open({ directory: storeDir(), ...reserve })
      if (round === 0) await expect.poll(held, { timeout: 30_000 }).toBe(true)
      for (let again = 0; again < 2; again++) {
        const keys = await fill(storage)
        counts.push(keys.length)
        expect(storage.condition()?.writes).toBe('small')
        for (const key of keys) expect(await write(storage, key, undefined)).toBe('ok')
        await storage.compact(await storage.currentRevision())
        await expect.poll(() => storage.condition()?.writes, { timeout: 30_000 }).toBe('all')
        expect(storage.condition()?.warnings.join()).not.toContain('is full')
      }
    }
    const first = counts[0] ?? 0
    expect(first).toBeGreaterThan(400)
    for (const count of counts) expect(count).toBeGreaterThan(0.95 * first)
  })

  it('that clients filled is emptied by them: everything is taken again, and the state is told', async () => {
    await using server = await serveStore(dataDir)
    const large = (name: string) =>
      server.send('POST', configMaps, { metadata: { name }, data: { text: 'x'.repeat(500_000) } })
    let answer = await large('c')
    for (let i = 0; answer.status === 201 && i < 200; i++) answer = await large(`c${i}`)
    expect(answer.status).toBe(507)
    expect((await server.send('DELETE', configMaps)).status).toBe(200)
    await expect.poll(async () => (await large('again')).status, { timeout: 60_000, interval: 500 }).toBe(201)
    expect((await server.send('GET', '/readyz?verbose')).text).toMatch(/^\[\+\]storage-room ok$/m)
    expect(await server.metrics()).toContain('borough_storage_writes_limited 0\n')
  }, 120_000)

  it('is written within the file, however much others have taken of the disk', async () => {
    await using storage = await SqliteStorage.open({ directory: storeDir(), ...reserve })
    await expect.poll(held, { timeout: 30_000 }).toBe(true)
    const freeBytes = (): number => storage.condition()?.freeBytes ?? 0
    const freeBefore = freeBytes()
    const keys = await fill(storage)
    for (const key of keys) expect(await write(storage, key, undefined)).toBe('ok')
    await storage.compact(await storage.currentRevision())
    await expect.poll(() => storage.condition()?.writes, { timeout: 30_000 }).toBe('all')
    // Everything is taken before all that was deleted is swept.
    await expect.poll(freeBytes, { timeout: 30_000 }).toBeGreaterThanOrEqual(freeBefore)
    fillDisk()
    expect(storage.condition()?.warnings).toEqual([
      expect.stringMatching(
        /^the disk of the store in \S+ has little room left: 0 MiB; the store goes on in [23]\d MiB of its own file$/,
      ),
    ])
    const again = await fill(storage)
    expect(again.length).toBeGreaterThan(0.8 * keys.length)
    for (const key of again) expect(await write(storage, key, undefined)).toBe('ok')
  })

  it('is one for a store with room in its file only while a reading keeps its log from beginning anew', async () => {
    await using storage = await SqliteStorage.open({ directory: storeDir(), ...reserve })
    await expect.poll(held, { timeout: 30_000 }).toBe(true)
    const keys = await fill(storage)
    for (const key of keys) expect(await write(storage, key, undefined)).toBe('ok')
    await storage.compact(await storage.currentRevision())
    await expect.poll(() => storage.condition()?.freeBytes ?? 0, { timeout: 30_000 }).toBeGreaterThan(25 * mebibyte)
    fillDisk()
    const reading = (): Disposable => {
      const database = new DatabaseSync(join(storeDir(), 'state.db'), { readOnly: true })
      database.exec('BEGIN')
      database.prepare('SELECT count(*) FROM log').get()
      return { [Symbol.dispose]: () => database.close() }
    }
    {
      using _ = reading()
      await fill(storage)
      expect(storage.condition()?.writes).toBe('small')
    }
    await expect.poll(() => storage.condition()?.writes, { timeout: 10_000 }).toBe('all')
    // One that ends in time is none to the writer: it tries once more.
    {
      using _ = reading()
      for (let i = 0; freeFrames(join(storeDir(), 'state.db-wal')) >= 17; i++) {
        const kibibytes = freeFrames(join(storeDir(), 'state.db-wal')) > 40 ? 64 : 1
        expect(await write(storage, `/up-to-the-end${i}`, value(kibibytes))).toBe('ok')
      }
    }
    expect(await write(storage, '/after', value(64))).toBe('ok')
    expect(storage.condition()?.writes).toBe('all')
  })

  it('that others filled in one blow, before the log was copied, is one where deletes are taken', async () => {
    await using storage = await SqliteStorage.open({ directory: storeDir(), reserveBytes: 2 * mebibyte })
    await expect.poll(held, { timeout: 30_000 }).toBe(true)
    const keys: string[] = []
    for (let i = 0; i < 150; i++) {
      expect(await write(storage, `/k${i}`, value(64))).toBe('ok')
      keys.push(`/k${i}`)
    }
    fillDisk()
    const more = await fill(storage, 16)
    expect(storage.condition()?.writes).toBe('small')
    for (const key of keys.slice(0, 40)) expect(await write(storage, key, undefined)).toBe('ok')
    rmSync(ballast)
    await expect.poll(() => storage.condition()?.writes, { timeout: 30_000 }).toBe('all')
    expect((await storage.range(everything)).entries).toHaveLength(
      keys.length + more.filter((k) => !keys.includes(k)).length - 40,
    )
  })

  it('a start without any room is one for reads', async () => {
    {
      await using server = await serveStore(dataDir)
      expect((await create(server, 'c')).status).toBe(201)
      await expect.poll(reserved, { timeout: 5000 }).toBe(true)
    }
    fillDisk()
    expect(freeBytes()).toBe(0)
    await using server = await serveStore(dataDir)
    expect((await server.send('GET', `${configMaps}/c`)).status).toBe(200)
    expect((await server.send('DELETE', `${configMaps}/c`)).status).toBe(200)
    truncateSync(ballast)
  })
})

describe.skipIf(!mounted)('a file system that is read-only', () => {
  it('is said to be so, by the lock of the directory and by the store', async () => {
    const disk = await mkdtemp(join(tmpdir(), 'borough-read-only-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=40m,mode=700', 'tmpfs', disk])
    try {
      const directory = join(disk, 'store')
      {
        await using dataDir = await openDataDir(disk)
        await using storage = await SqliteStorage.open({ directory, reserveBytes: mebibyte })
        expect(await write(storage, '/a', value(1))).toBe('ok')
        await expect.poll(() => existsSync(join(directory, 'reserve')), { timeout: 30_000 }).toBe(true)
        expect(dataDir.path).toBe(disk)
      }
      execFileSync('mount', ['-o', 'remount,ro', disk])
      await expect(openDataDir(disk)).rejects.toThrow(`can't write ${join(disk, 'lock')} (EROFS)`)
      await using storage = await SqliteStorage.open({ directory, reserveBytes: mebibyte })
      expect((await storage.get('/a')).entry?.value).toHaveLength(1024)
      expect(await write(storage, '/a', value(1))).toBe('readOnly')
      const why = `${join(directory, 'state.db')} is read-only for this process: the store is only read`
      const warnings = [`${why}, and no more writes are taken until a restart`]
      expect(storage.condition()).toMatchObject({ writes: 'none', warnings })
    } finally {
      execFileSync('umount', [disk])
      await rm(disk, { recursive: true })
    }
  })
})
