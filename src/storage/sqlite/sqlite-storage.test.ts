import { execFile, execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readdirSync, readlinkSync } from 'node:fs'
import { chmod, mkdtemp, open, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { damageOf } from '../damaged-value.ts'
import { endOfCommit, prefixSpan, type Revision, type Storage, type Ticket } from '../storage.ts'
import { SqliteStorage } from './sqlite-storage.ts'

const run = promisify(execFile)
const everything = prefixSpan('/')
let directory: string
beforeEach(async () => {
  directory = join(await mkdtemp(join(tmpdir(), 'borough-sqlite-')), 'store')
})
afterEach(async () => {
  await rm(join(directory, '..'), { recursive: true, force: true })
})

const bytes = (size: number, fill = 1): Uint8Array => new Uint8Array(size).fill(fill)

async function create(storage: Storage, key: string, value: Uint8Array = bytes(700)): Promise<Revision> {
  const result = await storage.commit({ guards: [], writes: [{ key, value, expect: 'absent' }] }).done
  if (!result.ok) throw new Error(`${key} is there already`)
  return result.revision
}

async function fill(count: number): Promise<void> {
  await using storage = await SqliteStorage.open({ directory })
  await Promise.all(Array.from({ length: count }, (_, i) => create(storage, `/k${i}`)))
}

describe('the files', () => {
  it('are for their owner alone', async () => {
    await using storage = await SqliteStorage.open({ directory })
    await create(storage, '/a')
    const modes = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8)
    expect(await modes(directory)).toBe('700')
    const files = (await readdir(directory)).sort()
    expect(files).toEqual(['acknowledged', 'owner.lock', 'state.db', 'state.db-shm', 'state.db-wal'])
    for (const file of files) expect(await modes(join(directory, file))).toBe('600')
  })

  it('are all closed when the store is, though the flush of a mark was under way', async () => {
    const openFiles = (): string[] =>
      readdirSync('/proc/self/fd')
        .flatMap((descriptor) => {
          try {
            return [readlinkSync(`/proc/self/fd/${descriptor}`)]
          } catch {
            // The one that lists them.
            return []
          }
        })
        .filter((path) => path.startsWith(directory))
        .map((path) => basename(path))
    const storage = await SqliteStorage.open({ directory })
    // A pipe without a writer keeps a thread for files: with all of them kept, no flush is done.
    const pipes = Array.from({ length: 4 }, (_, i) => join(directory, '..', `pipe${i}`))
    execFileSync('mkfifo', pipes)
    const readers = pipes.map((path) => open(path, 'r'))
    // Longer than marks are gathered.
    for (let i = 0, began = performance.now(); performance.now() - began < 300; i++) await create(storage, `/k${i}`)
    const left = storage[Symbol.asyncDispose]().then(openFiles)
    await expect.poll(openFiles).toEqual(['acknowledged'])
    await Promise.race([left, new Promise(setImmediate)])
    for (const path of pipes) closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK))
    for (const reader of await Promise.all(readers)) await reader.close()
    expect(await left).toEqual([])
  })

  it('can be read with sqlite by others while the store is in use, as docs/storage-format.md says', async () => {
    await using storage = await SqliteStorage.open({ directory })
    const created = await create(storage, '/a', bytes(3))
    const removal = { key: '/a', value: undefined, expect: created }
    const removed = await storage.commit({ guards: [], writes: [removal] }).done
    const again = await create(storage, '/a', bytes(0))
    const reader = new DatabaseSync(join(directory, 'state.db'), { readOnly: true })
    const log = reader
      .prepare('SELECT * FROM log ORDER BY revision')
      .all()
      .map((row) => ({ ...row }))
    const present = reader
      .prepare('SELECT * FROM present')
      .all()
      .map((row) => ({ ...row }))
    reader.close()
    const header = expect.any(Uint8Array)
    expect(log).toEqual([
      { revision: created, key: '/a', previous: null, value: bytes(3), header },
      { revision: removed.ok && removed.revision, key: '/a', previous: created, value: null, header },
      { revision: again, key: '/a', previous: null, value: bytes(0), header },
    ])
    expect(present).toEqual([{ key: '/a', revision: again }])
  })

  it('hold no more rows than the present after everything is compacted', async () => {
    await using storage = await SqliteStorage.open({ directory })
    const first = await create(storage, '/a')
    const write = { key: '/a', value: bytes(1), expect: first }
    const second = await storage.commit({ guards: [], writes: [write] }).done
    const gone = await create(storage, '/gone')
    await storage.commit({ guards: [], writes: [{ key: '/gone', value: undefined, expect: gone }] }).done
    await storage.compact(await storage.currentRevision())
    const reader = new DatabaseSync(join(directory, 'state.db'), { readOnly: true })
    expect(reader.prepare('SELECT revision FROM log').all()).toEqual([
      expect.objectContaining({ revision: second.ok && second.revision }),
    ])
    reader.close()
  })
})

describe('the writer', () => {
  it('knows what a transaction left behind until its sender knows it too', async () => {
    await using storage = await SqliteStorage.open({ directory })
    // One call per turn: groups are flushed, answered and formed while followers are under way.
    let expected: { asLeftBy: Ticket } | 'absent' = 'absent'
    const all: Promise<unknown>[] = []
    for (let i = 0; i < 400; i++) {
      const { ticket, done } = storage.commit({
        guards: [],
        writes: [{ key: '/n', value: bytes(i), expect: expected }],
      })
      expected = { asLeftBy: ticket }
      all.push(done)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await Promise.all(all)).toEqual(all.map(() => expect.objectContaining({ ok: true })))
  })

  it('sweeps in steps and commits in between', async () => {
    await fill(16_000)
    await using storage = await SqliteStorage.open({ directory })
    const swept = storage.compact(await storage.currentRevision())
    let committed = 0
    let sweeping = true
    const end = swept.then(() => {
      sweeping = false
    })
    while (sweeping) {
      await create(storage, `/during/${committed}`)
      committed++
    }
    await end
    expect(committed).toBeGreaterThan(1)
  })

  it('runs from the built JavaScript', { timeout: 120_000 }, async () => {
    const built = join(directory, '..', 'dist')
    const compiler = join(import.meta.dirname, '../../../node_modules/.bin/tsc')
    const sources = ['sqlite-storage.ts', 'writer.ts'].map((file) => join(import.meta.dirname, file))
    const options = [
      '--outDir',
      built,
      '--rootDir',
      join(import.meta.dirname, '../..'),
      '--noEmit',
      'false',
      '--declaration',
      'false',
    ]
    const flags = ['--module', 'nodenext', '--target', 'es2023', '--lib', 'es2024,esnext.disposable', '--types', 'node']
    const more = ['--ignoreConfig', '--rewriteRelativeImportExtensions', '--skipLibCheck', '--strict', '--typeRoots']
    const types = join(import.meta.dirname, '../../../node_modules/@types')
    await run(compiler, [...sources, ...options, ...flags, ...more, types])
    await writeFile(join(built, 'package.json'), '{"type":"module"}')
    const module = pathToFileURL(join(built, 'storage/sqlite/sqlite-storage.js')).href
    const program = `
      const { SqliteStorage } = await import(${JSON.stringify(module)})
      await using storage = await SqliteStorage.open({ directory: ${JSON.stringify(directory)} })
      const write = { key: '/a', value: Buffer.from('built'), expect: 'absent' }
      console.log((await storage.commit({ guards: [], writes: [write] }).done).ok)`
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program])
    expect(stdout.trim()).toBe('true')
    await using storage = await SqliteStorage.open({ directory })
    expect(Buffer.from((await storage.get('/a')).entry?.value ?? []).toString()).toBe('built')
  })
})

describe('history after a restart', () => {
  it('comes in pieces that never split a commit', async () => {
    const start = await (async () => {
      await using storage = await SqliteStorage.open({ directory })
      const before = await storage.currentRevision()
      const triple = (i: number) =>
        ['a', 'b', 'c'].map((name) => ({ key: `/${i}/${name}`, value: bytes(2), expect: 'absent' as const }))
      await Promise.all(Array.from({ length: 1700 }, (_, i) => storage.commit({ guards: [], writes: triple(i) }).done))
      return before
    })()
    await using storage = await SqliteStorage.open({ directory })
    let seen = 0
    for await (const batch of storage.watch(everything, start, new AbortController().signal)) {
      if (batch.type === 'progress') break
      expect(batch.changes.length % 3).toBe(0)
      seen += batch.changes.length
    }
    expect(seen).toBe(5100)
    expect((await storage.range(everything, { at: start + 10 * 1024 })).entries).toHaveLength(30)
  })

  it('still knows what was there before, when everything older is compacted', async () => {
    const { cut, last } = await (async () => {
      await using storage = await SqliteStorage.open({ directory })
      let revision = await create(storage, '/a', bytes(1, 0))
      const revisions = [revision]
      for (let i = 1; i < 6; i++) {
        const write = { key: '/a', value: bytes(1, i), expect: revision }
        const result = await storage.commit({ guards: [], writes: [write] }).done
        if (!result.ok) throw new Error('refused')
        revision = result.revision
        revisions.push(revision)
      }
      await storage.compact(revisions[2] ?? 0)
      return { cut: endOfCommit(revisions[2] ?? 0), last: revision }
    })()
    await using storage = await SqliteStorage.open({ directory })
    const seen: string[] = []
    for await (const batch of storage.watch(everything, cut, new AbortController().signal)) {
      if (batch.type === 'progress') break
      for (const change of batch.changes) seen.push(`${change.previous?.value} -> ${change.value}`)
    }
    expect(seen).toEqual(['2 -> 3', '3 -> 4', '4 -> 5'])
    expect((await storage.get('/a')).entry?.revision).toBe(last)
  })
})

describe('faults of the file', () => {
  it('a full disk refuses the commit as full, shows none of it, and goes on serving', async () => {
    const acknowledged: string[] = []
    const refusals = new Set<string>()
    const before = await (async () => {
      await using storage = await SqliteStorage.open({ directory, maxFileBytes: 400_000 })
      for (let i = 0; i < 40; i++) {
        const keys = Array.from({ length: 20 }, (_, j) => `/k${i}/${j}`)
        const outcomes = await Promise.allSettled(keys.map((key) => create(storage, key)))
        for (const [j, outcome] of outcomes.entries()) {
          if (outcome.status === 'fulfilled') acknowledged.push(keys[j] ?? '')
          else refusals.add(outcome.reason.code)
        }
        expect((await storage.range(everything)).entries).toHaveLength(acknowledged.length)
      }
      return (await storage.range(everything)).entries
    })()
    expect([...refusals]).toEqual(['full'])
    expect(acknowledged.length).toBeGreaterThan(100)
    expect(before.map((entry) => entry.key)).toEqual(acknowledged.toSorted())
    await using roomy = await SqliteStorage.open({ directory })
    expect((await roomy.range(everything)).entries).toEqual(before)
    await create(roomy, '/there is room again')
  })

  it('a follower of what was refused as full is refused', async () => {
    await using storage = await SqliteStorage.open({ directory, maxFileBytes: 200_000 })
    const first = storage.commit({ guards: [], writes: [{ key: '/large', value: bytes(400_000), expect: 'absent' }] })
    const write = { key: '/large', value: bytes(1), expect: { asLeftBy: first.ticket } }
    const second = storage.commit({ guards: [], writes: [write] })
    await expect(first.done).rejects.toMatchObject({ code: 'full' })
    expect(await second.done).toEqual({ ok: false, current: new Map([['/large', undefined]]) })
    await create(storage, '/small')
  })

  it('a store in use by somebody else is locked, and free once that one has ended', async () => {
    const first = await SqliteStorage.open({ directory })
    await expect(SqliteStorage.open({ directory })).rejects.toMatchObject({
      code: 'locked',
      message: `the store in ${directory} is in use by another process: stop that first`,
    })
    await create(first, '/a')
    await first[Symbol.asyncDispose]()
    await using second = await SqliteStorage.open({ directory })
    expect((await second.range(everything)).entries).toHaveLength(1)
  })

  it('a store in use by another process is locked, and free once that process is killed', async () => {
    const program = `
      const { SqliteStorage } = await import(${JSON.stringify(import.meta.resolve('./sqlite-storage.ts'))})
      globalThis.storage = await SqliteStorage.open({ directory: ${JSON.stringify(directory)} })
      console.log('open')`
    const child = execFile(process.execPath, ['--input-type=module', '-e', program])
    await new Promise((resolve) => child.stdout?.once('data', resolve))
    await expect(SqliteStorage.open({ directory })).rejects.toMatchObject({ code: 'locked' })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
    await using storage = await SqliteStorage.open({ directory })
    await create(storage, '/a')
  })

  it('a file locked for writing refuses commits as locked, until it is free', async () => {
    await using storage = await SqliteStorage.open({ directory, lockTimeoutMs: 20 })
    await create(storage, '/a')
    const other = new DatabaseSync(join(directory, 'state.db'))
    other.exec('BEGIN IMMEDIATE')
    const message = `${join(directory, 'state.db')} is locked by another program (sqlite3?): end it there`
    await expect(create(storage, '/b')).rejects.toMatchObject({ code: 'locked', message })
    expect((await storage.range(everything)).entries).toHaveLength(1)
    other.exec('ROLLBACK')
    other.close()
    await create(storage, '/b')
  })

  it('a log that somebody else has written to takes no more writes', async () => {
    await using storage = await SqliteStorage.open({ directory })
    const revision = await create(storage, '/a')
    const other = new DatabaseSync(join(directory, 'state.db'))
    other.prepare('INSERT INTO log (revision, key, value) VALUES (?, ?, ?)').run(revision + 1024, '/b', bytes(1))
    await expect(create(storage, '/c')).rejects.toMatchObject({ code: 'unavailable' })
    // The file is not left locked.
    other.exec('BEGIN IMMEDIATE; ROLLBACK')
    other.close()
    await expect(create(storage, '/d')).rejects.toThrow('no more writes are taken until a restart')
    expect((await storage.get('/a')).entry).toBeDefined()
  })

  it.runIf(process.getuid?.() !== 0)('a read-only file is unavailable', async () => {
    await fill(1)
    await chmod(join(directory, 'state.db'), 0o400)
    await expect(SqliteStorage.open({ directory })).rejects.toMatchObject({ code: 'unavailable' })
  })

  it.runIf(process.getuid?.() === 0)(
    'a read-only file is unavailable (tried as nobody: root may write all)',
    async () => {
      await fill(1)
      await chmod(join(directory, 'state.db'), 0o444)
      for (const path of [join(directory, '..'), directory]) await chmod(path, 0o777)
      await chmod(join(directory, 'owner.lock'), 0o666)
      const program = `
      process.setgid(65534)
      process.setuid(65534)
      const { SqliteStorage } = await import(${JSON.stringify(import.meta.resolve('./sqlite-storage.ts'))})
      const opening = SqliteStorage.open({ directory: ${JSON.stringify(directory)} })
      await opening.catch((e) => console.log(e.code, e.message))`
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program])
      expect(stdout.trim()).toBe(`unavailable ${join(directory, 'state.db')} is read-only for this process`)
    },
  )

  describe('damage', () => {
    const path = (): string => join(directory, 'state.db')
    const damages: { name: string; when: () => Promise<void> }[] = [
      { name: 'a file cut in half', when: async () => truncate(path(), Math.floor((await stat(path())).size / 2)) },
      { name: 'a file cut to nothing', when: () => truncate(path(), 0) },
      { name: 'a file that is gone', when: () => rm(path()) },
      { name: 'a file that is no database', when: () => writeFile(path(), 'not a database '.repeat(1000)) },
      {
        name: 'a database of somebody else',
        when: async () => {
          await rm(path())
          const other = new DatabaseSync(path())
          other.exec('CREATE TABLE recipes (name TEXT)')
          other.close()
        },
      },
    ]
    const readAll = async (): Promise<void> => {
      await using storage = await SqliteStorage.open({ directory })
      await storage.range(everything)
    }
    it.each(damages)('$name is reported as corrupt, in one clear message', async ({ when }) => {
      await fill(300)
      await when()
      const error = await readAll().catch((e: unknown) => e)
      expect(error).toMatchObject({ code: 'corrupt', message: expect.stringContaining(path()) })
      // The damaged file is not held: it can be replaced without a restart.
      await rm(directory, { recursive: true })
      await using storage = await SqliteStorage.open({ directory })
      await create(storage, '/a')
    })

    it('a page of zeroes is reported as corrupt, or names the values that lay there, wherever it lies', async () => {
      await fill(300)
      const told = async (): Promise<string[]> => {
        await using storage = await SqliteStorage.open({ directory })
        const { entries } = await storage.range(everything)
        expect(entries).toHaveLength(300)
        return entries.flatMap(({ value }) => damageOf(value) ?? [])
      }
      const outcomes = { refused: 0, named: 0 }
      const size = (await stat(path())).size
      for (let page = 1; page < size / 4096; page += 9) {
        const file = await open(path(), 'r+')
        const kept = Buffer.alloc(4096)
        await file.read(kept, 0, 4096, page * 4096)
        await file.write(Buffer.alloc(4096), 0, 4096, page * 4096)
        const found = await told().catch((e: unknown) => e)
        if (Array.isArray(found)) {
          outcomes.named++
          expect(found.length).toBeGreaterThan(0)
          const words =
            /^the stored value of \/\S+ at revision \d+ is damaged: \S+ is damaged \(database disk image is malformed\)/
          for (const note of found) expect(note).toMatch(words)
        } else {
          outcomes.refused++
          expect(found).toMatchObject({ code: 'corrupt' })
        }
        await file.write(kept, 0, 4096, page * 4096)
        await file.close()
      }
      expect(outcomes.named).toBeGreaterThan(0)
    })

    it('a file of a later format is refused, and left as it is', async () => {
      await fill(1)
      const database = new DatabaseSync(path())
      database.exec('PRAGMA user_version = 99')
      database.close()
      await expect(SqliteStorage.open({ directory })).rejects.toThrow(/format 99/)
    })
  })
})
