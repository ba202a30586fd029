/** The watch cache over a store that was opened again, and readers that take their time. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { configMaps } from '../../test/support/registry-fixture.ts'
import { FakeClock } from '../base/fake-clock.ts'
import { silentLog } from '../base/log.ts'
import { objectKey } from '../kube/object-key.ts'
import { MemoryStorage } from '../storage/memory/memory-storage.ts'
import { SqliteStorage } from '../storage/sqlite/sqlite-storage.ts'
import type { Revision, Storage } from '../storage/storage.ts'
import type { ObjectVersion } from './stored-object.ts'
import { spanOf } from './type-cache.ts'
import { WatchCache } from './watch-cache.ts'

async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc')
  // What was looked at through a weak reference lives until the turn has ended.
  await new Promise((resolve) => setImmediate(resolve))
  runInNewContext('gc')()
}

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'borough-cache-'))
})

afterEach(() => rm(directory, { recursive: true, force: true }))

/** Its own name stands in it, so that bytes of another object are recognised. */
const textOf = (name: string, n: number): string =>
  `{"metadata":{"name":"${name}"},"n":${n},"pad":"${name.repeat(n % 97)}"}`

async function put(storage: Storage, name: string, n: number): Promise<Revision> {
  const key = objectKey('configmaps', 'team', name)
  const { entry } = await storage.get(key)
  const write = { key, value: Buffer.from(textOf(name, n)), expect: entry?.revision ?? ('absent' as const) }
  const commit = await storage.commit({ guards: [], writes: [write] }).done
  if (!commit.ok) throw new Error('lost')
  return commit.revision
}

async function remove(storage: Storage, name: string): Promise<Revision> {
  const key = objectKey('configmaps', 'team', name)
  const { entry } = await storage.get(key)
  if (!entry) return storage.currentRevision()
  const write = { key, value: undefined, expect: entry.revision }
  const commit = await storage.commit({ guards: [], writes: [write] }).done
  return commit.ok ? commit.revision : 0
}

const startOn = (storage: Storage): Promise<WatchCache> =>
  WatchCache.start({ storage, clock: new FakeClock(), log: silentLog, parsedBytes: 2000 })

it('a start reads keys alone; a value is read from the file when it is asked for, and then stays', async () => {
  await using first = await SqliteStorage.open({ directory })
  for (const name of ['a', 'b', 'c', 'd']) await put(first, name, 1)
  const last = await put(first, 'b', 2)
  await first[Symbol.asyncDispose]()

  await using storage = await SqliteStorage.open({ directory })
  await using cache = await startOn(storage)
  const maps = cache.type('configmaps')
  expect(cache.memory()).toMatchObject({ objects: 4, unfetched: 4, bytes: { values: 0 } })
  expect(maps.collect(spanOf('team')).values.map((version) => version.key)).toEqual(
    ['a', 'b', 'c', 'd'].map((name) => `team/${name}`),
  )
  expect(cache.contentOf('team')).toEqual(new Map([['configmaps', 4]]))
  expect(maps.find('team', 'b')?.revision).toBe(last)
  expect(String(maps.find('team', 'b')?.bytes)).toBe(textOf('b', 2))
  expect(maps.find('team', 'b')?.as(configMaps).object).toMatchObject({ n: 2 })
  expect(cache.memory()).toMatchObject({ unfetched: 3, bytes: { values: textOf('b', 2).length } })

  const known = textOf('b', 2).length
  expect(maps.sizeOf('team')).toEqual({ objectCount: 4, totalBytes: 4 * known })
  expect(maps.sizeOf('')).toEqual({ objectCount: 4, totalBytes: 4 * known })

  // What replaces a value that was never read, and what it replaced.
  const told: (string | undefined)[] = []
  cache.follow((_, next, old) => told.push(next && String(next.bytes), old && String(old.bytes)))
  await cache.applied(await put(storage, 'c', 3))
  await cache.applied(await remove(storage, 'd'))
  expect(told).toEqual([textOf('c', 3), textOf('c', 1), undefined, textOf('d', 1)])
  expect(cache.memory()).toMatchObject({ objects: 3, unfetched: 1 })
  expect(String(maps.find('team', 'a')?.bytes)).toBe(textOf('a', 1))
  const totalBytes = textOf('a', 1).length + textOf('b', 2).length + textOf('c', 3).length
  expect(maps.sizeOf('team')).toEqual({ objectCount: 3, totalBytes })
  expect(maps.sizeOf('other')).toEqual({ objectCount: 0, totalBytes: 0 })
})

it('a store that was written to before it is read is read as ever', async () => {
  await using first = await SqliteStorage.open({ directory })
  await put(first, 'a', 1)
  await first[Symbol.asyncDispose]()
  await using storage = await SqliteStorage.open({ directory })
  await put(storage, 'b', 1)
  await using cache = await startOn(storage)
  expect(cache.memory()).toMatchObject({ objects: 2, unfetched: 0 })
})

it('a value that the file does not hold any more is damaged from the moment it is asked for', async () => {
  await using first = await SqliteStorage.open({ directory })
  const revision = await put(first, 'a', 1)
  await first[Symbol.asyncDispose]()
  await using storage = await SqliteStorage.open({ directory })
  await using cache = await startOn(storage)
  const other = new DatabaseSync(join(directory, 'state.db'))
  other.prepare('DELETE FROM log WHERE revision = ?').run(revision)
  other.close()
  const found = cache.type('configmaps').find('team', 'a')
  const damage = `the stored value of /registry/configmaps/team/a at revision ${revision} is damaged: it is missing`
  expect([...cache.damaged.all()]).toEqual([])
  expect(found?.damage).toBe(damage)
  expect([...cache.damaged.all()]).toEqual([damage])
  expect(() => found?.as(configMaps)).toThrow(damage)
  expect([...cache.type('configmaps').glances(10)]).toEqual([[]])
})

it('no version that a reader holds, however long, ever shows bytes of another object', async () => {
  const names = ['a', 'b', 'c', 'd', 'e']
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), name: fc.constantFrom(...names) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), name: fc.constantFrom(...names) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('list' as const), name: fc.constant('') }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('parse' as const), name: fc.constantFrom(...names) }) },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (script) => {
      const storage = new MemoryStorage()
      await using cache = await startOn(storage)
      const maps = cache.type('configmaps')
      const present = new Map<string, string>()
      const held: { readonly version: ObjectVersion; readonly text: string }[] = []
      const hold = (version: ObjectVersion): void => {
        held.push({ version, text: present.get(version.name) ?? 'nothing' })
      }
      cache.follow((_, next, old) => {
        for (const version of [next, old]) if (version) held.push({ version, text: String(version.bytes) })
      })
      for (const [n, { do: what, name }] of script.entries()) {
        if (what === 'put') {
          await cache.applied(await put(storage, name, n))
          present.set(name, textOf(name, n))
        } else if (what === 'remove') {
          await cache.applied(await remove(storage, name))
          present.delete(name)
        } else if (what === 'list') for (const version of maps.collect(spanOf('')).values) hold(version)
        else {
          const version = maps.find('team', name)
          if (version === undefined) continue
          hold(version)
          expect(version.as(configMaps).object).toMatchObject({ metadata: { name } })
        }
      }
      for (const { version, text } of held) {
        expect(String(version.bytes)).toBe(text)
        expect(text).toContain(`"name":"${version.name}"`)
        const copied = Buffer.alloc(version.sizeBytes)
        expect([version.copyTo(copied, 0, 0), String(copied)]).toEqual([text.length, text])
      }
      await storage[Symbol.asyncDispose]()
    }),
    { numRuns: 60 },
  )
})

it('what is kept parsed keeps nothing else alive', async () => {
  const storage = new MemoryStorage()
  await using cache = await startOn(storage)
  await cache.applied(await put(storage, 'quiet', 1))
  for (let n = 0; n < 300; n++) await cache.applied(await put(storage, `busy-${n % 5}`, n))
  const quiet = cache.type('configmaps').find('team', 'quiet')?.as(configMaps)
  expect(quiet?.object.metadata.name).toBe('quiet')
  // The epoch in which it was asked for saves until it ends, and is gone when it is collected.
  for (let n = 0; n < 300; n++) await cache.applied(await put(storage, `busy-${n % 5}`, n))
  await collectGarbage()
  for (let n = 0; n < 300; n++) await cache.applied(await put(storage, `busy-${n % 5}`, n))
  expect(cache.memory().replaced).toBe(0)
  expect(quiet?.object).toBe(cache.type('configmaps').find('team', 'quiet')?.as(configMaps).object)
})
