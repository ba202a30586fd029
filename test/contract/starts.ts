/**
 * What a store answers right after a start, whatever is asked first: what an engine hands over when it is opened, and
 * what stands between it and the server on the way (encryption, the relay to another process), is used by nothing else,
 * and most of it only by the first reader. So each way of reading is the first one after a start of its own, and all
 * others follow it. What they answer is compared with what was written, byte by byte.
 *
 * Part of the contract of every engine that keeps something; and by itself for what wraps one.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { type Entry, endOfCommit, prefixSpan, type Revision, type Storage } from '../../src/storage/storage.ts'
import type { ObjectVersion } from '../../src/watch/stored-object.ts'
import { spanOf, type TypeCache } from '../../src/watch/type-cache.ts'
import { WatchCache } from '../../src/watch/watch-cache.ts'
import type { Opened, OpenOptions } from './storage.ts'
import { applyChanges, bytes, text, WatchReader } from './storage-reader.ts'

const everything = prefixSpan('/')
const typed = ['secrets', 'configmaps'] as const
/** So many that the cache reads them in one go, and notes which they were. */
const ofEach = 300
const ofTransaction = 100

/** By key: `value@revision`. */
type State = Readonly<Record<string, string>>

const stateOf = (entries: Iterable<Entry>): State =>
  Object.fromEntries(Array.from(entries, ({ key, value, revision }) => [key, `${text(value)}@${revision}`]))

interface Written {
  readonly first: Revision
  readonly state: State
  readonly keys: readonly string[]
  readonly storage: Storage
}

/** `whole` false: of the objects of `typed` alone. */
interface Reading {
  readonly name: string
  readonly whole: boolean
  /** undefined: this store has no such way. */
  read(written: Written): Promise<State | undefined>
}

const withCache = async (storage: Storage, read: (type: TypeCache) => Iterable<ObjectVersion>): Promise<State> => {
  await using cache = await WatchCache.start({ storage, clock: systemClock, log: silentLog })
  return cachedState(cache, read)
}

const cachedState = (cache: WatchCache, read: (type: TypeCache) => Iterable<ObjectVersion>): State =>
  Object.assign(
    {},
    ...typed.map((name) => {
      const versions = [...read(cache.type(name))]
      return stateOf(versions.map((v) => ({ key: `/registry/${name}/${v.key}`, value: v.bytes, revision: v.revision })))
    }),
  ) as State

const names = Array.from({ length: ofEach }, (_, i) => `n${String(i).padStart(3, '0')}`)

const readings: readonly Reading[] = [
  {
    name: 'a get of each key',
    whole: true,
    async read({ storage, keys }) {
      const found: Entry[] = []
      for (const key of keys) {
        const { entry } = await storage.get(key)
        if (entry !== undefined) found.push(entry)
      }
      return stateOf(found)
    },
  },
  {
    name: 'a range',
    whole: true,
    read: async ({ storage }) => stateOf((await storage.range(everything)).entries),
  },
  {
    name: 'a range page by page, at one revision',
    whole: true,
    async read({ storage }) {
      const found: Entry[] = []
      let page = await storage.range(everything, { limit: 70 })
      for (const { revision } = page; ; ) {
        for (const entry of page.entries) found.push(entry)
        const last = page.entries.at(-1)
        if (!page.more || last === undefined) return stateOf(found)
        page = await storage.range({ start: `${last.key}\0`, end: everything.end }, { at: revision, limit: 70 })
      }
    },
  },
  {
    name: 'a watch from the beginning',
    whole: true,
    async read({ storage }) {
      const reader = new WatchReader(storage, everything, await storage.compactedRevision())
      const changes = await reader.until(await storage.currentRevision())
      await reader.stop()
      const known = new Map<string, string | undefined>()
      for (const { key, value, previous } of changes) {
        expect(text(previous?.value), `what ${key} was before`).toBe(known.get(key))
        known.set(key, text(value))
      }
      return stateOf(applyChanges([], changes))
    },
  },
  {
    name: 'what is handed over: the keys, then values one by one',
    whole: true,
    async read({ storage }) {
      const opened = storage.takeOpened?.()
      if (opened === undefined) return undefined
      expect(storage.takeOpened?.(), 'it is handed over once').toBeUndefined()
      const found: Entry[] = []
      for (const { keys, numbers } of opened.pieces) {
        for (let i = 0, start = 0; i * 2 < numbers.length; i++) {
          const [revision = 0, end = 0] = numbers.subarray(i * 2, i * 2 + 2)
          const key = text(keys.subarray(start, end)) ?? ''
          found.push({ key, revision, value: opened.valueAt(key, revision) })
          start = end
        }
      }
      return stateOf(found)
    },
  },
  {
    name: 'what is handed over: the values of a span',
    whole: true,
    read: async ({ storage }) => {
      const opened = storage.takeOpened?.()
      return opened === undefined ? undefined : stateOf(opened.valuesIn(everything))
    },
  },
  {
    name: 'a cache: each object',
    whole: false,
    read: ({ storage }) => withCache(storage, (type) => names.flatMap((name) => type.find('default', name) ?? [])),
  },
  {
    name: 'a cache: each object, not kept',
    whole: false,
    read: ({ storage }) => withCache(storage, (type) => names.flatMap((name) => type.glance('default', name) ?? [])),
  },
  {
    name: 'a cache: a list',
    whole: false,
    read: ({ storage }) => withCache(storage, (type) => type.snapshot(spanOf('')).values),
  },
  {
    name: 'a cache: a list of some',
    whole: false,
    read: ({ storage }) => withCache(storage, (type) => type.collect(spanOf('default')).values),
  },
  {
    name: 'a cache: all of a type, in steps',
    whole: false,
    read: ({ storage }) => withCache(storage, (type) => [...type.glances(50)].flat()),
  },
  {
    name: 'a cache: a listener',
    whole: false,
    read: ({ storage }) =>
      withCache(storage, (type) => {
        const told: ObjectVersion[] = []
        const stop = type.subscribe((next) => void (next && told.push(next)))
        stop()
        return told
      }),
  },
]

export function describeStartContract(name: string, open: (options: OpenOptions) => Promise<Opened>): void {
  describe(`starts: ${name}`, () => {
    let storage: Storage
    let written: Written

    beforeEach(async () => {
      const opened = await open({})
      storage = opened.storage
      if (opened.reopen === undefined) throw new Error('what keeps nothing is not started again')
      written = await write(storage)
      storage = await opened.reopen()
      written = { ...written, storage }
    })
    afterEach(() => storage[Symbol.asyncDispose]())

    const wanted = ({ whole }: Reading): State =>
      whole
        ? written.state
        : Object.fromEntries(
            Object.entries(written.state).filter(([key]) => typed.some((t) => key.startsWith(`/registry/${t}/`))),
          )

    it.each(readings)('$name, first', async (first) => {
      const found = await first.read(written)
      if (found !== undefined) expect(found).toEqual(wanted(first))
      for (const other of readings) {
        const afterwards = await other.read(written)
        if (afterwards !== undefined) expect(afterwards, other.name).toEqual(wanted(other))
      }
    })

    it('a refused commit, first, tells what is there', async () => {
      const { keys, state, first } = written
      const some = keys.filter((_, i) => i % 20 === 0)
      const writes = some.map((key) => ({ key, value: bytes('never'), expect: first - 1 }))
      const commit = await storage.commit({ guards: [], writes }).done
      if (commit.ok) throw new Error('it was taken')
      const current = [...commit.current.values()].flatMap((entry) => entry ?? [])
      expect(stateOf(current)).toEqual(Object.fromEntries(some.map((key) => [key, state[key]])))
    })

    it('a read of an earlier revision, first, tells what was there', async () => {
      const { entries } = await storage.range(everything, { at: written.first })
      expect(entries.map(({ value }) => text(value))).toEqual([valueOf(keyOf('secrets', names[0] ?? ''), 0)])
    })

    it('what was handed over is there once it was changed, as it was and as it is', async ({ skip }) => {
      const opened = storage.takeOpened?.()
      if (opened === undefined) return skip('nothing is handed over')
      const key = keyOf('secrets', names[7] ?? '')
      const [value = '', revision = ''] = written.state[key]?.split('@') ?? []
      const writes = [{ key, value: bytes(valueOf(key, 9)), expect: Number(revision) }]
      const commit = await storage.commit({ guards: [], writes }).done
      if (!commit.ok) throw new Error('refused')
      expect(text(opened.valueAt(key, Number(revision)))).toBe(value)
      expect(text(opened.valueAt(key, commit.revision))).toBe(valueOf(key, 9))
      expect(stateOf(opened.valuesIn(prefixSpan(key)))).toEqual({ [key]: `${valueOf(key, 9)}@${commit.revision}` })
    })

    it('a cache that was started before a change has it, and the rest as it was', async () => {
      await using cache = await WatchCache.start({ storage, clock: systemClock, log: silentLog })
      const key = keyOf('secrets', names[3] ?? '')
      const revision = Number(written.state[key]?.split('@')[1])
      const commit = await storage.commit({
        guards: [],
        writes: [{ key, value: bytes(valueOf(key, 9)), expect: revision }],
      }).done
      if (!commit.ok) throw new Error('refused')
      await cache.applied(commit.revision)
      const found = cachedState(cache, (type) => type.snapshot(spanOf('')).values)
      expect(found).toEqual({ ...wanted(cacheReading), [key]: `${valueOf(key, 9)}@${commit.revision}` })
    })
  })
}

const cacheReading = readings.find(({ whole }) => !whole) as Reading

const keyOf = (type: string, name: string): string => `/registry/${type}/default/${name}`
const valueOf = (key: string, n: number): string => `{"metadata":{"name":"${key.split('/').at(-1)}"},"n":${n}}`

/** Created, changed, deleted; of two types, without a type, and empty. */
async function write(storage: Storage): Promise<Written> {
  let state: Record<string, string> = {}
  const commit = async (changes: readonly { readonly key: string; readonly value: string | undefined }[]) => {
    const writes = changes.map(({ key, value }) => ({
      key,
      value: value === undefined ? undefined : bytes(value),
      expect: state[key] === undefined ? ('absent' as const) : Number(state[key]?.split('@')[1]),
    }))
    const result = await storage.commit({ guards: [], writes }).done
    if (!result.ok) throw new Error('refused')
    for (const [i, { key, value }] of changes.entries()) {
      const { [key]: _, ...others } = state
      state = value === undefined ? others : { ...others, [key]: `${value}@${result.revision + i}` }
    }
    return endOfCommit(result.revision)
  }
  const all = typed.flatMap((type) => names.map((name) => keyOf(type, name)))
  const put = (key: string, n: number) => ({ key, value: valueOf(key, n) })
  const first = await commit([put(all[0] ?? '', 0)])
  const rest = all.slice(1)
  for (let i = 0; i < rest.length; i += ofTransaction)
    await commit(rest.slice(i, i + ofTransaction).map((key) => put(key, 0)))
  await commit([put(all[3] ?? '', 1), put(all[ofEach + 3] ?? '', 1), { key: '/borough/own', value: 'of the server' }])
  await commit([
    { key: all[5] ?? '', value: undefined },
    { key: '/borough/empty', value: '' },
  ])
  return { first, state, keys: [...all, '/borough/own', '/borough/empty'], storage }
}
