import { describe, expect, it } from 'vitest'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import type { Change, ChangeBatch, Entry, Revision } from '../storage.ts'
import { endOfCommit, positionsPerCommit, prefixSpan, StorageError } from '../storage.ts'
import { MemoryPresent } from './present.ts'
import { VersionedStore } from './versioned-store.ts'

const everything = prefixSpan('/')
const value = (n: number): Uint8Array => Uint8Array.of(n)

function emptyStore(options: { watchLimit?: number } = {}): { store: VersionedStore; clock: FakeClock } {
  const clock = new FakeClock()
  const watchLimit = options.watchLimit ?? 100
  const store = new VersionedStore({ clock, watchLimit, head: endOfCommit(0), compacted: endOfCommit(0) })
  return { store, clock }
}

function write(store: VersionedStore, key: string, n = 1): Change[] {
  const changes = store.apply(store.head + 1, [{ key, value: value(n) }])
  store.publish(changes)
  return changes
}

/** The stream's next batch, or undefined while there is none. */
async function soon(next: Promise<IteratorResult<ChangeBatch>>): Promise<ChangeBatch | undefined> {
  return Promise.race([next.then((r) => r.value), new Promise<undefined>((r) => setImmediate(() => r(undefined)))])
}

describe('VersionedStore', () => {
  it('what waits for a busy consumer comes as one batch', async () => {
    const { store } = emptyStore()
    const stream = store.watch(everything, store.head, new AbortController().signal)[Symbol.asyncIterator]()
    await stream.next()
    for (let i = 0; i < 5; i++) write(store, `/k${i}`)
    const { value: batch } = await stream.next()
    expect(batch?.type === 'changes' && batch.changes.map((c: Change) => c.key)).toEqual([
      '/k0',
      '/k1',
      '/k2',
      '/k3',
      '/k4',
    ])
    expect(await stream.next()).toEqual({ value: { type: 'progress', revision: store.head }, done: false })
  })

  it('idle watches hear of the first commit at once, then at most every 25 ms, or when somebody asks', async () => {
    const { store, clock } = emptyStore()
    const stream = store.watch(prefixSpan('/none/'), store.head, new AbortController().signal)[Symbol.asyncIterator]()
    await stream.next()
    await clock.advance(1000)
    write(store, '/a')
    expect(await soon(stream.next())).toEqual({ type: 'progress', revision: store.head })
    const next = stream.next()
    write(store, '/b')
    write(store, '/c')
    expect(await soon(next)).toBeUndefined()
    await clock.advance(25)
    expect(await soon(next)).toEqual({ type: 'progress', revision: store.head })
    const asked = stream.next()
    write(store, '/d')
    expect(await soon(asked)).toBeUndefined()
    store.currentRevision()
    expect(await soon(asked)).toEqual({ type: 'progress', revision: store.head })
  })

  it('a watch that catches up on a long history gets all of it, in whole commits, and is not cut off', async () => {
    const { store } = emptyStore({ watchLimit: 10 })
    const start = store.head
    for (let i = 0; i < 3000; i++) {
      store.apply(
        store.head + 1,
        Array.from({ length: 5 }, (_, j) => ({
          key: `/${j % 2 ? 'odd' : 'even'}/${i}`.concat(`/${j}`),
          value: value(j),
        })),
      )
    }
    let seen = 0
    for await (const batch of store.watch(prefixSpan('/even/'), start, new AbortController().signal)) {
      if (batch.type === 'progress') break
      expect(batch.changes.length % 3).toBe(0)
      seen += batch.changes.length
    }
    expect(seen).toBe(9000)
  })

  it('compaction while a watch catches up ends it as compacted, not with a gap', async () => {
    const { store } = emptyStore()
    const start = store.head
    for (let i = 0; i < 20_000; i++) store.apply(store.head + 1, [{ key: `/${i}`, value: value(1) }])
    const stream = store.watch(everything, start, new AbortController().signal)[Symbol.asyncIterator]()
    await stream.next()
    store.beginCompaction(store.head)
    await store.sweep()
    await expect(stream.next()).rejects.toMatchObject({ code: 'compacted' })
  })

  it('compaction frees the history, and other work runs in between', async () => {
    const { store } = emptyStore()
    for (let i = 0; i < 20_000; i++) store.apply(store.head + 1, [{ key: `/${i % 100}`, value: value(1) }])
    expect(store.historyBytes).toBeGreaterThan(20_000)
    store.beginCompaction(store.head)
    let turns = 0
    const count = (): void => {
      turns++
      handle = setImmediate(count)
    }
    let handle = setImmediate(count)
    await store.sweep()
    clearImmediate(handle)
    expect(turns).toBeGreaterThan(10)
    expect(store.historyBytes).toBe(0)
    expect((await store.range(everything)).entries).toHaveLength(100)
  })

  describe('with history still to be fetched', () => {
    /** Ten commits on three keys; the store starts at the last one and fetches `step` commits at a time. */
    function partial(step: number): { store: VersionedStore; states: Map<Revision, string[]>; loads: Revision[] } {
      const source = emptyStore().store
      const states = new Map<Revision, string[]>()
      const changes: Change[] = []
      for (let i = 1; i <= 10; i++) {
        const written = i % 4 === 0 ? { key: '/b', value: undefined } : { key: i % 2 ? '/a' : '/b', value: value(i) }
        changes.push(...source.apply(source.head + 1, [written]))
        states.set(
          source.head,
          ['/a', '/b'].flatMap((k) => source.find(k) ?? []).map((e: Entry) => `${e.key}${e.value}`),
        )
      }
      const loads: Revision[] = []
      const compacted = endOfCommit(0)
      const present = new MemoryPresent()
      for (const key of ['/a', '/b']) {
        const entry = source.find(key)
        if (entry) present.put(key, entry.value, entry.revision)
      }
      const store: VersionedStore = new VersionedStore({
        clock: new FakeClock(),
        watchLimit: 100,
        head: source.head,
        present,
        compacted,
        loadHistory: async (to) => {
          while (store.historyBase > to) {
            await Promise.resolve()
            const base = Math.max(compacted, store.historyBase - step * positionsPerCommit)
            loads.push(base)
            store.addHistory(
              changes.filter((c) => c.revision > base && c.revision <= store.historyBase),
              base,
            )
          }
        },
      })
      return { store, states, loads }
    }

    it.each([1, 3, 20])('reads at every revision are right, fetching %d commits at a time', async (step) => {
      for (const backwards of [true, false]) {
        const { store, states } = partial(step)
        const revisions = backwards ? [...states.keys()].reverse() : [...states.keys()]
        for (const at of revisions) {
          const { entries } = await store.range(everything, { at })
          expect(entries.map((e) => `${e.key}${e.value}`)).toEqual(states.get(at))
        }
      }
    })

    it('only as much is fetched as is asked for', async () => {
      const { store, loads } = partial(1)
      await store.range(everything, { at: store.head })
      expect(loads).toEqual([])
      await store.range(everything, { at: store.head - 2 * positionsPerCommit })
      expect(loads).toHaveLength(2)
    })

    it('a watch from before the start goes on seamlessly with what is written meanwhile', async () => {
      const { store } = partial(2)
      const stream = store.watch(everything, endOfCommit(0), new AbortController().signal)[Symbol.asyncIterator]()
      const first = stream.next()
      write(store, '/new')
      const revisions: Revision[] = []
      for (let batch = await first; batch.value?.type === 'changes'; batch = await stream.next()) {
        for (const change of batch.value.changes) revisions.push(change.revision)
      }
      expect(revisions).toEqual(Array.from({ length: 11 }, (_, i) => (i + 1) * positionsPerCommit))
    })

    it('history that can not be fetched ends the watch with the reason', async () => {
      const store = new VersionedStore({
        clock: new FakeClock(),
        watchLimit: 100,
        head: endOfCommit(9 * positionsPerCommit),
        compacted: endOfCommit(0),
        loadHistory: () => Promise.reject(new StorageError('corrupt', 'the log is damaged')),
      })
      const stream = store.watch(everything, endOfCommit(0), new AbortController().signal)[Symbol.asyncIterator]()
      await expect(stream.next()).rejects.toMatchObject({ code: 'corrupt' })
      await expect(store.range(everything, { at: endOfCommit(0) })).rejects.toMatchObject({ code: 'corrupt' })
    })
  })

  it('attack: many reads of a past that holds little of what is there now: each in turns of its own', async () => {
    const { store } = emptyStore()
    write(store, '/k0000')
    const at = store.head
    for (let i = 1; i < 3500; i++) write(store, `/k${String(i).padStart(4, '0')}`, i % 200)
    const counter = new TurnCounter()
    const found = await Promise.all(Array.from({ length: 20 }, () => store.range(everything, { at })))
    counter.stop()
    expect(new Set(found.map(({ entries }) => entries.map(({ key }) => key).join()))).toEqual(new Set(['/k0000']))
    expect(counter.turns).toBeGreaterThanOrEqual(19)
  })

  it.each([1, 999, 1000, 1001, 2500, 5000])('a past of 3,000 keys, some changed since, %d at most', async (limit) => {
    const { store } = emptyStore()
    const keys = Array.from({ length: 3000 }, (_, i) => `/k${String(i).padStart(4, '0')}`)
    for (const key of keys) write(store, key, 1)
    const at = store.head
    for (const [i, key] of keys.entries()) {
      if (i % 3 === 0) store.apply(store.head + 1, [{ key, value: i % 2 === 0 ? value(2) : undefined }])
      write(store, `${key}x`, 3)
    }
    const { entries, more } = await store.range(everything, { at, limit })
    expect(entries.map(({ key }) => key)).toEqual(keys.slice(0, limit))
    expect(entries.every((entry) => entry.value[0] === 1)).toBe(true)
    expect(more).toBe(limit < 3000)
  })

  it('attack: a past over large values that are read from a file: not more than 512 KiB in one piece', async () => {
    let pieces = 0
    const present = new (class extends MemoryPresent {
      override walk<T>(...args: Parameters<typeof MemoryPresent.prototype.walk<T>>): T {
        pieces++
        return super.walk(...args)
      }
    })()
    const options = {
      clock: new FakeClock(),
      watchLimit: 100,
      head: endOfCommit(0),
      compacted: endOfCommit(0),
      present,
    }
    const store = new VersionedStore(options)
    const large = new Uint8Array(64 * 1024)
    write(store, '/past')
    const at = store.head
    for (let i = 0; i < 80; i++) store.publish(store.apply(store.head + 1, [{ key: `/k${i}`, value: large }]))
    expect((await store.range(everything, { at })).entries.map(({ key }) => key)).toEqual(['/past'])
    expect(pieces).toBe(11)
  })

  it('a past that is compacted while it is read is compacted', async () => {
    const { store } = emptyStore()
    write(store, '/a')
    const at = store.head
    write(store, '/b')
    const reading = store.range(everything, { at })
    store.beginCompaction(store.head)
    await expect(Promise.all([reading, store.range(everything, { at })])).rejects.toMatchObject({ code: 'compacted' })
  })
})
