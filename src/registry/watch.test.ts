import { expect, test } from 'vitest'
import { failure, invalidObject, refusal } from '../../test/support/refusal.ts'
import { configMap, configMaps, type Fixture, namespaces, startFixture } from '../../test/support/registry-fixture.ts'
import type { Stream } from '../base/stream.ts'
import { findStatusError } from '../kube/status-error.ts'
import type { KubeObject, Status } from '../kube/types.ts'
import type { RegistryEvent, Transform, WatchQuery } from './registry.ts'

type Events = AsyncIterator<readonly RegistryEvent[]>

const show = (e: RegistryEvent): string =>
  e.type === 'BOOKMARK'
    ? `BOOKMARK${e.initialEventsEnd ? ' end' : ''}`
    : `${e.type} ${e.stored.name} ${JSON.stringify((e.stored.object as { data?: unknown }).data ?? {})}`

async function open(f: Fixture, query: Partial<WatchQuery> = {}): Promise<Events> {
  const stream: Stream<readonly RegistryEvent[]> = await f.registry.watch(configMaps, {
    namespace: 'ns',
    signal: new AbortController().signal,
    ...query,
  })
  return stream[Symbol.asyncIterator]()
}

/** Exactly `count` events, as they come. */
async function take(events: Events, count: number): Promise<RegistryEvent[]> {
  const taken: RegistryEvent[] = []
  while (taken.length < count) {
    const next = await events.next()
    if (next.done) throw new Error(`the stream ended after ${taken.length} of ${count} events`)
    taken.push(...next.value)
  }
  expect(taken).toHaveLength(count)
  return taken
}

const setData =
  (data: Record<string, string>, labels?: Record<string, string>): Transform =>
  (o) => ({ ...(o as KubeObject), data, metadata: { ...o?.metadata, ...(labels ? { labels } : {}) } })

const create = (f: Fixture, name: string, labels: Record<string, string> = {}): Promise<unknown> =>
  f.registry.create(f.scope(configMaps, ''), configMap(name, {}, { labels }))
const update = (f: Fixture, name: string, transform: Transform): Promise<unknown> =>
  f.registry.update(f.scope(configMaps, name), transform)
const remove = (f: Fixture, name: string): Promise<unknown> => f.registry.delete(f.scope(configMaps, name), {})

test('without a version: what is there, then what changes; DELETED carries its own revision', async () => {
  await using f = await startFixture()
  await create(f, 'a')
  const events = await open(f)
  expect((await take(events, 1)).map(show)).toEqual(['ADDED a {}'])
  await create(f, 'b')
  await update(f, 'b', setData({ k: '1' }))
  const { revision } = await f.registry.get(configMaps, 'ns', 'b')
  await remove(f, 'b')
  const seen = await take(events, 3)
  expect(seen.map(show)).toEqual(['ADDED b {}', 'MODIFIED b {"k":"1"}', 'DELETED b {"k":"1"}'])
  const last = seen[2]
  if (last?.type !== 'DELETED') throw new Error('no DELETED')
  expect(last.stored.revision).toBeGreaterThan(revision)
  expect(last.stored.object.metadata.resourceVersion).toBe(String(last.stored.revision))
})

test('after a version: only what came later, each once', async () => {
  await using f = await startFixture()
  await create(f, 'a')
  const { revision } = await f.registry.list(configMaps, { namespace: 'ns' })
  await create(f, 'b')
  const events = await open(f, { resourceVersion: String(revision) })
  await create(f, 'c')
  expect((await take(events, 2)).map(show)).toEqual(['ADDED b {}', 'ADDED c {}'])
})

test('sendInitialEvents=false without a version begins now', async () => {
  await using f = await startFixture()
  await create(f, 'a')
  const events = await open(f, { sendInitialEvents: false, resourceVersionMatch: 'NotOlderThan' })
  await create(f, 'b')
  expect((await take(events, 1)).map(show)).toEqual(['ADDED b {}'])
})

test('sendInitialEvents=true ends the initial events with a marked bookmark', async () => {
  await using f = await startFixture()
  await create(f, 'a')
  await create(f, 'b')
  const events = await open(f, {
    sendInitialEvents: true,
    resourceVersionMatch: 'NotOlderThan',
    allowWatchBookmarks: true,
  })
  const initial = await take(events, 3)
  expect(initial.map(show)).toEqual(['ADDED a {}', 'ADDED b {}', 'BOOKMARK end'])
  expect(initial[2]).toMatchObject({ revision: f.cache.revision })
})

test('entering a selection is ADDED, leaving it is DELETED with the old content and the new revision', async () => {
  await using f = await startFixture()
  await create(f, 'a', { app: 'x' })
  const events = await open(f, { labelSelector: 'app=x' })
  expect((await take(events, 1)).map(show)).toEqual(['ADDED a {}'])
  await update(f, 'a', setData({ k: '1' }, { app: 'y' }))
  await update(f, 'a', setData({ k: '2' }, { app: 'y' }))
  await update(f, 'a', setData({ k: '3' }, { app: 'x' }))
  await create(f, 'other', { app: 'y' })
  await remove(f, 'other')
  await remove(f, 'a')
  expect((await take(events, 3)).map(show)).toEqual(['DELETED a {}', 'ADDED a {"k":"3"}', 'DELETED a {"k":"3"}'])
})

test('visibility is a selection too', async () => {
  await using f = await startFixture()
  const visible = (o: KubeObject): boolean => o.metadata.annotations?.['ready'] === 'yes'
  const stream = await f.registry.watch(namespaces, { namespace: '', visible, signal: new AbortController().signal })
  const events = stream[Symbol.asyncIterator]()
  for (const name of ['early', 'hidden']) await f.registry.create(f.scope(namespaces, ''), { metadata: { name } })
  await f.registry.delete(f.scope(namespaces, 'hidden'), {})
  await f.registry.update(f.scope(namespaces, 'early'), (o) => ({
    ...(o as KubeObject),
    metadata: { ...o?.metadata, annotations: { ready: 'yes' } },
  }))
  expect((await take(events, 1)).map((e) => e.type === 'ADDED' && e.stored.name)).toEqual(['early'])
})

test('a single name is watched by name', async () => {
  await using f = await startFixture()
  const events = await open(f, { fieldSelector: 'metadata.name=b' })
  for (const name of ['a', 'b', 'c']) await create(f, name)
  await remove(f, 'b')
  expect((await take(events, 2)).map(show)).toEqual(['ADDED b {}', 'DELETED b {}'])
})

test('other namespaces do not show', async () => {
  await using f = await startFixture()
  const events = await open(f)
  await f.registry.create(f.scope(configMaps, '', { namespace: 'else' }), configMap('x'))
  await create(f, 'a')
  expect((await take(events, 1)).map(show)).toEqual(['ADDED a {}'])
})

test('events of one change are one object for all who see it alike', async () => {
  await using f = await startFixture()
  const [a, b] = [await open(f), await open(f, { labelSelector: 'app=x' })]
  await create(f, 'a', { app: 'x' })
  const [first] = await take(a, 1)
  const [second] = await take(b, 1)
  expect(first).toBe(second)
})

test('bookmarks come each minute, and two seconds before the end', async () => {
  await using f = await startFixture()
  const events = await open(f, { allowWatchBookmarks: true, timeoutMs: 90_000 })
  const quiet = await open(f, { timeoutMs: 90_000 })
  await f.clock.advance(60_000)
  expect(await take(events, 1)).toEqual([{ type: 'BOOKMARK', revision: f.cache.revision, initialEventsEnd: false }])
  await f.registry.create(f.scope(namespaces, ''), { metadata: { name: 'elsewhere' } })
  await f.clock.advance(28_000)
  expect(await take(events, 1)).toEqual([{ type: 'BOOKMARK', revision: f.cache.revision, initialEventsEnd: false }])
  await f.clock.advance(2000)
  expect(await events.next()).toEqual({ done: true, value: undefined })
  expect(await quiet.next()).toEqual({ done: true, value: undefined })
})

test('a signal ends the stream cleanly and leaves nothing behind', async () => {
  await using f = await startFixture()
  const stop = new AbortController()
  const events = await open(f, { signal: stop.signal })
  expect(f.cache.type('configmaps').watchers.size).toBe(1)
  const next = events.next()
  stop.abort()
  expect(await next).toEqual({ done: true, value: undefined })
  expect(f.cache.type('configmaps').watchers.size).toBe(0)
})

test('leaving the loop ends the session', async () => {
  await using f = await startFixture()
  await create(f, 'a')
  const stream = await f.registry.watch(configMaps, { namespace: 'ns', signal: new AbortController().signal })
  for await (const batch of stream) {
    expect(batch).toHaveLength(1)
    break
  }
  expect(f.cache.type('configmaps').watchers.size).toBe(0)
})

test('a watcher that does not read is cut off, and nobody waits for it', async () => {
  await using f = await startFixture({ deps: { watchLimits: { events: 10, sizeBytes: 1_000_000 } } })
  const events = await open(f)
  const other = await open(f)
  for (let i = 0; i < 11; i++) await create(f, `c${i}`)
  const refused = findStatusError(await events.next().catch((e: unknown) => e))
  expect(refused?.toStatus()).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'the watch fell 11 events behind and was cut off; go on from the resourceVersion that was seen last',
    reason: 'TooManyRequests',
    details: { retryAfterSeconds: 1 },
    code: 429,
  })
  await expect(other.next()).rejects.toThrow('behind')
  expect(f.cache.type('configmaps').watchers.size).toBe(0)
})

test('what the window has dropped is replayed from the store, then it goes on live', async () => {
  await using f = await startFixture({ cache: { window: { changes: 3, sizeBytes: 1e9, ageMs: 1e9 } } })
  const { revision } = await f.registry.list(configMaps, { namespace: 'ns' })
  for (let i = 0; i < 10; i++) await create(f, `c${i}`)
  const events = await open(f, { resourceVersion: String(revision) })
  const seen = await take(events, 10)
  expect(seen.map(show)).toEqual(Array.from({ length: 10 }, (_, i) => `ADDED c${i} {}`))
  await create(f, 'live')
  expect((await take(events, 1)).map(show)).toEqual(['ADDED live {}'])
  await events.return?.()
  expect(f.cache.type('configmaps').watchers.size).toBe(0)
})

test('a replayed watch gets its bookmarks like any other', async () => {
  await using f = await startFixture({ cache: { window: { changes: 1, sizeBytes: 1e9, ageMs: 1e9 } } })
  const { revision } = await f.registry.list(configMaps, { namespace: 'ns' })
  for (const name of ['a', 'b', 'c']) await create(f, name)
  const events = await open(f, { resourceVersion: String(revision), allowWatchBookmarks: true, timeoutMs: 90_000 })
  await take(events, 3)
  const next = take(events, 1)
  for (let i = 0; i < 50; i++) await Promise.resolve()
  await f.clock.advance(60_000)
  expect(await next).toEqual([{ type: 'BOOKMARK', revision: f.cache.revision, initialEventsEnd: false }])
  await f.clock.advance(28_000)
  expect((await take(events, 1)).map(show)).toEqual(['BOOKMARK'])
})

test('a restarted process resumes where the watcher was', async () => {
  await using a = await startFixture()
  await create(a, 'a')
  const { revision } = await a.registry.list(configMaps, { namespace: 'ns' })
  await create(a, 'b')
  await using b = await startFixture({ storage: a.storage, clock: a.clock })
  const events = await open(b, { resourceVersion: String(revision) })
  await create(b, 'c')
  expect((await take(events, 2)).map(show)).toEqual(['ADDED b {}', 'ADDED c {}'])
})

test('forgotten history is Expired, in the stream', async () => {
  await using a = await startFixture()
  await create(a, 'a')
  const { revision } = await a.registry.list(configMaps, { namespace: 'ns' })
  await create(a, 'b')
  const kept = a.cache.revision
  await a.storage.compact(kept)
  await create(a, 'c')
  await using b = await startFixture({ storage: a.storage, clock: a.clock })
  const events = await open(b, { resourceVersion: String(revision - 1024) })
  expect(b.cache.revision).toBeGreaterThan(kept)
  expect(await refusal(events.next())).toEqual(
    failure({ message: `too old resource version: ${revision - 1024} (${kept})`, reason: 'Expired', code: 410 }),
  )
})

test('a version that this store has not come to is Expired, in the stream: it is of another store', async () => {
  await using f = await startFixture()
  const asked = f.cache.revision + 1024
  const events = await open(f, { resourceVersion: String(asked) })
  const message = `too large resource version: ${asked} (${f.cache.revision}), which this store has never given out`
  expect(await refusal(events.next())).toEqual(failure({ message, reason: 'Expired', code: 410 }))
})

test('a version that another process was told, and this one has not seen, is no version of the future', async () => {
  await using a = await startFixture()
  await using b = await startFixture({ storage: a.storage, clock: a.clock })
  await create(b, 'there')
  const events = await open(a, { resourceVersion: String(b.cache.revision) })
  await create(b, 'next')
  expect((await take(events, 1)).map(show)).toEqual(['ADDED next {}'])
})

const refused: { name: string; given: Partial<WatchQuery>; want: Status }[] = [
  {
    name: 'a match without sendInitialEvents',
    given: { resourceVersionMatch: 'NotOlderThan' },
    want: invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, [
      'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents ' +
        'is provided',
    ]),
  },
  {
    name: 'sendInitialEvents without a match',
    given: { sendInitialEvents: true },
    want: invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, [
      'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    ]),
  },
  {
    name: 'sendInitialEvents with another match',
    given: { sendInitialEvents: true, resourceVersionMatch: 'Exact' },
    want: invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, [
      'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      'resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"',
    ]),
  },
  {
    name: 'a version that is no number',
    given: { resourceVersion: 'abc' },
    want: failure({
      message: 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
      code: 500,
    }),
  },
  {
    name: 'an unknown field',
    given: { fieldSelector: 'spec.x=1' },
    want: failure({
      message: '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
      reason: 'BadRequest',
      code: 400,
    }),
  },
]
for (const { name, given, want } of refused) {
  test(`refused before the stream begins: ${name}`, async () => {
    await using f = await startFixture()
    expect(await refusal(open(f, given))).toEqual(want)
  })
}
