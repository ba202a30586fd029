import { expect, test } from 'vitest'
import { configMaps } from '../../test/support/registry-fixture.ts'
import { FakeClock } from '../base/fake-clock.ts'
import { silentLog } from '../base/log.ts'
import { Channel, type Stream } from '../base/stream.ts'
import { Turns } from '../base/turns.ts'
import { MemoryStorage } from '../storage/memory/memory-storage.ts'
import { type ChangeBatch, type Revision, type Span, type Storage, StorageError } from '../storage/storage.ts'
import { watchAfter, watchState } from './open-watch.ts'
import { spanOf } from './type-cache.ts'
import { WatchCache } from './watch-cache.ts'
import { defaultSessionLimits } from './watch-session.ts'

const value = (name: string, n = 0): Uint8Array => Buffer.from(`{"metadata":{"name":"${name}"},"n":${n}}`)

async function put(storage: Storage, key: string, n = 0): Promise<Revision> {
  const { entry } = await storage.get(key)
  const name = key.slice(key.lastIndexOf('/') + 1)
  const writes = [{ key, value: value(name, n), expect: entry?.revision ?? ('absent' as const) }]
  const commit = await storage.commit({ guards: [], writes }).done
  if (!commit.ok) throw new Error('lost')
  return commit.revision
}

async function remove(storage: Storage, key: string): Promise<void> {
  const { entry } = await storage.get(key)
  if (!entry) throw new Error(`no ${key}`)
  await storage.commit({ guards: [], writes: [{ key, value: undefined, expect: entry.revision }] }).done
}

const start = (storage: Storage, clock = new FakeClock()): Promise<WatchCache> =>
  WatchCache.start({ storage, clock, log: silentLog })

const keys = (cache: WatchCache, namespace = ''): string[] =>
  cache
    .type('configmaps')
    .collect(spanOf(namespace))
    .values.map((v) => v.key)

/** A storage whose watch can be broken at will, and made to miss what happens meanwhile. */
class Breakable {
  readonly inner: MemoryStorage = new MemoryStorage()
  readonly watches: { readonly after: Revision; readonly channel: Channel<ChangeBatch> }[] = []
  /** While true, new watches wait. */
  held: Promise<void> = Promise.resolve()
  readonly storage: Storage

  constructor() {
    const watch = (span: Span, after: Revision, signal: AbortSignal): Stream<ChangeBatch> => {
      const stop = new AbortController()
      const channel = new Channel<ChangeBatch>({ limit: 1000, onClose: () => stop.abort() })
      signal.addEventListener('abort', () => channel.close(), { once: true })
      this.watches.push({ after, channel })
      const held = this.held
      void (async () => {
        await held
        try {
          for await (const batch of this.inner.watch(span, after, stop.signal)) channel.push(batch)
        } catch (e) {
          channel.close(e)
        }
      })()
      return channel
    }
    this.storage = new Proxy<Storage>(this.inner, {
      get(target, property) {
        if (property === 'watch') return watch
        const member = Reflect.get(target, property, target)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
  }

  /** Until `resume` is called, changes happen that the next watch has to catch up with. */
  break(error: Error): () => void {
    let resume: () => void = () => {}
    this.held = new Promise((resolve) => {
      resume = resolve
    })
    this.watches[this.watches.length - 1]?.channel.close(error)
    return resume
  }
}

test('everything stored is there when it has started, in key order, whatever the number of pages', async () => {
  const storage = new MemoryStorage()
  const wanted: string[] = []
  for (let i = 0; i < 2500; i++) {
    const key = `ns${i % 3}/c${String(i).padStart(4, '0')}`
    wanted.push(key)
    await put(storage, `/registry/configmaps/${key}`)
  }
  await put(storage, '/registry/namespaces/ns1')
  await put(storage, '/borough/not-an-object')
  await using cache = await start(storage)
  expect(keys(cache)).toEqual(wanted.sort())
  expect(keys(cache, 'ns1')).toEqual(wanted.filter((k) => k.startsWith('ns1/')))
  expect(cache.type('namespaces').find('', 'ns1')?.name).toBe('ns1')
  expect(cache.type('configmaps').find('ns0', 'c0000')).toMatchObject({ namespace: 'ns0', name: 'c0000' })
  expect([...cache.contentOf('ns1')]).toEqual([['configmaps', 833]])
})

test('a listener is told what is there, then every change, before anyone can wait for it', async () => {
  const storage = new MemoryStorage()
  await put(storage, '/registry/configmaps/a/x')
  await using cache = await start(storage)
  const told: string[] = []
  const stop = cache.type('configmaps').subscribe((next, old) => {
    told.push(`${old?.revision ?? '-'}>${next?.revision ?? '-'}`)
    expect(cache.type('configmaps').find('a', (next ?? old)?.name ?? '')?.revision).toBe(next?.revision)
  })
  const first = cache.type('configmaps').find('a', 'x')?.revision
  const second = await put(storage, '/registry/configmaps/a/x', 1)
  await cache.applied(second)
  await remove(storage, '/registry/configmaps/a/x')
  await cache.refresh()
  stop()
  await put(storage, '/registry/configmaps/a/y')
  await cache.refresh()
  expect(told).toEqual([`->${first}`, `${first}>${second}`, `${second}>-`])
})

test('a listener that throws is logged, and harms nobody else', async () => {
  const storage = new MemoryStorage()
  const faults: unknown[] = []
  const log = { ...silentLog, error: (fields: Readonly<Record<string, unknown>>) => faults.push(fields['error']) }
  await using cache = await WatchCache.start({ storage, clock: new FakeClock(), log })
  const bad = new Error('bad listener')
  cache.type('configmaps').subscribe(() => {
    throw bad
  })
  const told: string[] = []
  cache.type('configmaps').subscribe((next) => told.push(next?.name ?? ''))
  await cache.applied(await put(storage, '/registry/configmaps/a/x'))
  await cache.applied(await put(storage, '/registry/configmaps/a/y'))
  expect(told).toEqual(['x', 'y'])
  expect(faults).toEqual([bad, bad])
})

test('when compaction overtakes the loading, it begins again', async () => {
  const inner = new MemoryStorage()
  for (let i = 0; i < 2100; i++) await put(inner, `/registry/configmaps/a/c${i}`)
  let reads = 0
  const storage = new Proxy<Storage>(inner, {
    get(target, property) {
      const member = Reflect.get(target, property, target)
      if (property !== 'range') return typeof member === 'function' ? member.bind(target) : member
      return async (...args: Parameters<Storage['range']>) => {
        if (reads++ === 1) {
          await put(inner, '/registry/configmaps/a/late')
          await inner.compact(await inner.currentRevision())
        }
        return target.range(...args)
      }
    },
  })
  await using cache = await start(storage)
  expect(cache.type('configmaps').size).toBe(2101)
  expect([...cache.contentOf('a')]).toEqual([['configmaps', 2101]])
})

test('refresh shows what was acknowledged before it was asked, not before an earlier question', async () => {
  const storage = new MemoryStorage()
  await using cache = await start(storage)
  const early = cache.refresh()
  const revision = put(storage, '/registry/configmaps/a/x')
  await revision
  const late = cache.refresh()
  expect(await late).toBeGreaterThanOrEqual(await revision)
  await early
  expect(cache.type('configmaps').find('a', 'x')?.revision).toBe(await revision)
})

test('a broken watch goes on where it stopped, and nothing is missed or told twice', async () => {
  const breakable = new Breakable()
  const clock = new FakeClock()
  await using cache = await start(breakable.storage, clock)
  const told: number[] = []
  cache.type('configmaps').subscribe((next) => told.push(next?.revision ?? 0))
  const revisions = [await put(breakable.inner, '/registry/configmaps/a/x')]
  await cache.applied(revisions[0] ?? 0)
  for (const error of [new StorageError('overflow', 'slow'), new Error('the line is dead')]) {
    const resume = breakable.break(error)
    revisions.push(await put(breakable.inner, `/registry/configmaps/a/${error.message.slice(0, 4)}`))
    resume()
    const caughtUp = cache.refresh()
    for (let i = 0; i < 50; i++) await clock.advance(100)
    await caughtUp
  }
  expect(told).toEqual(revisions)
})

test('when history is gone all is read again: listeners hear the difference, sessions end as compacted', async () => {
  const breakable = new Breakable()
  await using cache = await start(breakable.storage)
  await put(breakable.inner, '/registry/configmaps/a/stays')
  await put(breakable.inner, '/registry/configmaps/a/changes')
  await put(breakable.inner, '/registry/configmaps/a/goes')
  await cache.refresh()
  const told: string[] = []
  cache
    .type('configmaps')
    .subscribe((next, old) => told.push(`${(next ?? old)?.name} ${old ? (next ? 'changed' : 'gone') : 'new'}`))
  told.length = 0
  const request = {
    type: configMaps,
    scope: { namespace: 'a', name: '' },
    bookmarks: false,
    limits: defaultSessionLimits,
    turns: new Turns(),
    signal: new AbortController().signal,
  }
  const old = cache.revision
  const session = watchAfter(cache, request, old)[Symbol.asyncIterator]()
  const next = session.next()
  const resume = breakable.break(new StorageError('overflow', 'slow'))
  await put(breakable.inner, '/registry/configmaps/a/changes', 1)
  await remove(breakable.inner, '/registry/configmaps/a/goes')
  await put(breakable.inner, '/registry/configmaps/a/comes')
  await breakable.inner.compact(await breakable.inner.currentRevision())
  resume()
  await expect(next).rejects.toMatchObject({ code: 'compacted' })
  await cache.refresh()
  expect(told.sort()).toEqual(['changes changed', 'comes new', 'goes gone'])
  expect(keys(cache)).toEqual(['a/changes', 'a/comes', 'a/stays'])
  expect([...cache.contentOf('a')]).toEqual([['configmaps', 3]])
  const late = watchAfter(cache, request, old)[Symbol.asyncIterator]()
  await expect(late.next()).rejects.toMatchObject({ code: 'compacted' })
})

test('closing rejects who waits and ends every session', async () => {
  const storage = new MemoryStorage()
  const cache = await start(storage)
  const waiting = cache.applied(cache.revision + 5000)
  const session = watchState(
    cache,
    {
      type: configMaps,
      scope: { namespace: '', name: '' },
      bookmarks: true,
      limits: defaultSessionLimits,
      turns: new Turns(),
      signal: new AbortController().signal,
    },
    false,
  )
  const next = session[Symbol.asyncIterator]().next()
  const rejected = expect(waiting).rejects.toMatchObject({ code: 'closed' })
  await cache[Symbol.asyncDispose]()
  await rejected
  expect((await next).done).toBe(true)
})

test('a wait can be given up', async () => {
  await using cache = await start(new MemoryStorage())
  const stop = new AbortController()
  const waiting = cache.applied(cache.revision + 5000, stop.signal)
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
})

test('parsed forms are kept within their budget and made again when asked for', async () => {
  const storage = new MemoryStorage()
  for (const name of ['a', 'b', 'c']) await put(storage, `/registry/configmaps/ns/${name}`)
  await using cache = await WatchCache.start({ storage, clock: new FakeClock(), log: silentLog, parsedBytes: 60 })
  const [a, b, c] = cache
    .type('configmaps')
    .collect(spanOf(''))
    .values.map((v) => v.as(configMaps))
  const first = a?.object
  expect(a?.object).toBe(first)
  void b?.object
  void c?.object
  expect(a?.object).not.toBe(first)
  expect(a?.object).toEqual(first)
})

test('what is announced while it is stored is not parsed by those who see it as the same type', async () => {
  const storage = new MemoryStorage()
  await using cache = await start(storage)
  const spec = { of: 'the object, not of its bytes' }
  const specs: unknown[] = []
  const other = { ...configMaps }
  const written: unknown[] = []
  cache.type('configmaps').subscribe((next) => written.push(next?.written?.['spec']))
  cache
    .type('configmaps')
    .subscribe((next) => specs.push(next?.as(other).object['spec'], next?.as(configMaps).object['spec']))
  const store = async (bytes: Uint8Array, name: string): Promise<void> => {
    const write = { key: `/registry/configmaps/ns/${name}`, value: bytes, expect: 'absent' as const }
    const commit = await storage.commit({ guards: [], writes: [write] }).done
    if (commit.ok) await cache.applied(commit.revision)
  }
  const bytes = value('a')
  cache.pool.announce(bytes, configMaps, { metadata: { name: 'a' }, spec })
  await store(bytes, 'a')
  expect(specs.splice(0)).toEqual([undefined, spec])
  const seen = cache.type('configmaps').find('ns', 'a')?.as(configMaps).object
  expect(seen?.metadata).toEqual({ name: 'a', resourceVersion: String(cache.type('configmaps').lastChange) })
  cache.pool.recall(bytes)
  await store(bytes, 'b')
  expect(specs).toEqual([undefined, undefined])
  expect(written).toEqual([spec, undefined])
})

test('a client that begins many watches is sent a few beginnings at a time, others do not wait', async () => {
  const storage = new MemoryStorage()
  for (let i = 0; i < 3; i++) await put(storage, `/registry/configmaps/team/m${i}`)
  await using cache = await start(storage)
  const request = {
    type: configMaps,
    scope: { namespace: 'team', name: '' },
    bookmarks: false,
    limits: defaultSessionLimits,
    turns: new Turns({ now: () => 0 }),
  }
  let begun = 0
  const stops: AbortController[] = []
  const open = (flow: string): { readonly events: AsyncIterator<unknown>; readonly first: Promise<unknown> } => {
    const stop = new AbortController()
    stops.push(stop)
    const session = watchState(cache, { ...request, flow, signal: stop.signal }, false)
    const events = session[Symbol.asyncIterator]()
    const first = events.next().then((batch) => {
      if (batch.done !== true) begun++
      return batch
    })
    return { events, first }
  }
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

  const mine = Array.from({ length: 100 }, () => open('mine'))
  await settled()
  const atOnce = begun
  expect(atOnce).toBeGreaterThan(0)
  expect(atOnce).toBeLessThan(100)
  await open('other').first
  expect(begun).toBe(atOnce + 1)

  // The first has read its beginning; the second is given up, and so is one that waits.
  void mine[0]?.events.next()
  stops[1]?.abort()
  stops[99]?.abort()
  await settled()
  expect(begun).toBe(atOnce + 3)
  await expect(mine[99]?.first).resolves.toMatchObject({ done: true })

  await put(storage, '/registry/configmaps/team/m9')
  for (let i = 2; i < 98; i++) void mine[i]?.events.next()
  for (let i = 0; i < 5; i++) await settled()
  await Promise.all(mine.map(({ first }) => first))
})
