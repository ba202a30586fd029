import { expect, test } from 'vitest'
import { configMaps } from '../../test/support/registry-fixture.ts'
import { TurnCounter } from '../../test/support/turn-counter.ts'
import { FakeClock } from '../base/fake-clock.ts'
import { silentLog } from '../base/log.ts'
import { sliceMs, Turns } from '../base/turns.ts'
import { MemoryStorage } from '../storage/memory/memory-storage.ts'
import { endOfCommit, type Revision, type Storage } from '../storage/storage.ts'
import { Deliveries, sessionsAtOnce } from './deliveries.ts'
import { watchAfter } from './open-watch.ts'
import { WatchCache } from './watch-cache.ts'
import { defaultSessionLimits, type WatchSession } from './watch-session.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Each look at it takes a slice. */
function slowClock(): FakeClock & { isSlow: boolean } {
  const clock = Object.assign(new FakeClock(), { isSlow: false })
  const { monotonic } = clock
  let elapsedMs = 0
  const looked = (): number => {
    if (clock.isSlow) elapsedMs += sliceMs
    return monotonic.call(clock) + elapsedMs
  }
  return Object.assign(clock, { monotonic: looked })
}

async function write(storage: Storage, names: readonly string[], n: number): Promise<Revision> {
  const writes = names.map(async (name) => {
    const key = `/registry/configmaps/team/${name}`
    const { entry } = await storage.get(key)
    const value = Buffer.from(`{"metadata":{"name":"${name}"},"n":${n}}`)
    return { key, value, expect: entry?.revision ?? ('absent' as const) }
  })
  const commit = await storage.commit({ guards: [], writes: await Promise.all(writes) }).done
  if (!commit.ok) throw new Error('lost')
  return commit.revision
}

/** A watch whose consumer takes whatever comes: the revisions of which it has heard. */
function follow(cache: WatchCache, flow: string, onHeard: () => void = () => {}): Revision[] {
  const request = {
    type: configMaps,
    scope: { namespace: 'team', name: '' },
    bookmarks: true,
    limits: defaultSessionLimits,
    turns: new Turns(),
    signal: new AbortController().signal,
    flow,
  }
  const watch = watchAfter(cache, request, cache.revision)
  const heard: Revision[] = []
  const read = async (): Promise<void> => {
    for await (const batch of watch) {
      onHeard()
      for (const event of batch) heard.push(event.type === 'BOOKMARK' ? event.revision : event.stored.revision)
    }
  }
  void read()
  return heard
}

const many = 10 * sessionsAtOnce
const numberThatHeard = (watches: readonly Revision[][], n = 1): number =>
  watches.filter((heard) => heard.length >= n).length

test('a change that many watches see holds nobody up, and what follows does not overtake it', async () => {
  const storage = new MemoryStorage()
  const clock = slowClock()
  await using cache = await WatchCache.start({ storage, clock, log: silentLog })
  const watches = Array.from({ length: many }, () => follow(cache, 'tenant'))
  await turn()
  clock.isSlow = true
  const first = await write(storage, ['x'], 1)
  await cache.applied(first)
  expect(numberThatHeard(watches)).toBeLessThanOrEqual(2 * sessionsAtOnce)
  const second = await write(storage, ['x'], 2)
  await cache.applied(second)
  expect(numberThatHeard(watches)).toBeLessThan(many)
  let turns = 0
  for (; numberThatHeard(watches, 2) < many; turns++) await turn()
  expect(turns).toBeGreaterThan(many / sessionsAtOnce / 2)
  expect(watches).toEqual(watches.map(() => [first, second]))
})

test('a client with one watch does not wait for those of a client with many', async () => {
  const storage = new MemoryStorage()
  const clock = slowClock()
  await using cache = await WatchCache.start({ storage, clock, log: silentLog })
  const watches = Array.from({ length: many }, () => follow(cache, 'tenant'))
  const other = follow(cache, 'other')
  await turn()
  clock.isSlow = true
  const revision = await write(storage, ['x'], 1)
  await cache.applied(revision)
  await Promise.resolve()
  expect(numberThatHeard(watches)).toBeLessThan(many)
  expect(other).toEqual([revision])
})

test('bookmarks of many watches come in slices too', async () => {
  const storage = new MemoryStorage()
  const clock = slowClock()
  await using cache = await WatchCache.start({ storage, clock, log: silentLog })
  const heardIn = new Set<number>()
  for (let i = 0; i < many; i++) follow(cache, 'tenant', () => heardIn.add(counter.turns))
  await turn()
  clock.isSlow = true
  const counter = new TurnCounter()
  await clock.advance(60_000)
  for (let i = 0; i < many; i++) await turn()
  counter.stop()
  expect(heardIn.size).toBe(many / sessionsAtOnce)
})

test('between two commits others have their turn, within one nobody has', async () => {
  const storage = new MemoryStorage()
  const clock = slowClock()
  await using cache = await WatchCache.start({ storage, clock, log: silentLog })
  await turn()
  clock.isSlow = true
  const seen: Revision[] = []
  const told: number[] = []
  cache.follow(() => {
    told.push(seen.length)
    // Before what is applied next.
    setImmediate(() => seen.push(cache.revision))
  })
  const names = ['x', 'y', 'z']
  const revisions = await Promise.all(
    [1, 2, 3].map((n) =>
      write(
        storage,
        names.map((name) => `${name}${n}`),
        n,
      ),
    ),
  )
  await cache.refresh()
  await turn()
  expect(told).toEqual([0, 0, 0, 3, 3, 3, 6, 6, 6])
  expect(new Set(seen)).toEqual(new Set(revisions.map(endOfCommit)))
})

test('a watch that ends while it waits to be handed something is passed over', () => {
  const deliveries = new Deliveries({ now: () => 0 })
  const place = deliveries.enter('tenant')
  const flushed: string[] = []
  const session = (name: string): WatchSession =>
    Object.assign(Object.create(null), { isLinked: false, flush: () => flushed.push(name) }) as WatchSession
  const [a, b] = [session('a'), session('b')]
  deliveries.enter('tenant')
  place.add(a)
  place.add(b)
  deliveries.leave(place, a)
  deliveries.start()
  expect(flushed).toEqual(['b'])
  place.add(b)
  deliveries.leave(place, b)
  deliveries.start()
  expect(flushed).toEqual(['b'])
  expect(deliveries.enter('tenant')).not.toBe(place)
})
