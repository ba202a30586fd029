/** Damage that shows up while the cache is in use: an etcd tells of a value that another program has spoiled. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { configMaps } from '../../test/support/registry-fixture.ts'
import { FakeClock } from '../base/fake-clock.ts'
import { silentLog } from '../base/log.ts'
import { Turns } from '../base/turns.ts'
import { damageNote } from '../storage/damaged-value.ts'
import { MemoryStorage } from '../storage/memory/memory-storage.ts'
import type { Revision } from '../storage/storage.ts'
import { type WatchRequest, watchAfter, watchState } from './open-watch.ts'
import { WatchCache } from './watch-cache.ts'
import type { WatchEvent } from './watch-event.ts'
import { defaultSessionLimits } from './watch-session.ts'

const key = '/registry/configmaps/ns/a'
const sound = Buffer.from('{"metadata":{"name":"a"}}')
const refusal = { code: 'damaged', message: 'the value of a is spoiled' }

let storage: MemoryStorage
let cache: WatchCache
let revision: Revision | 'absent'
let logged: string[]
beforeEach(async () => {
  storage = new MemoryStorage()
  logged = []
  const log = { ...silentLog, error: (_: object, message: string) => void logged.push(message) }
  cache = await WatchCache.start({ storage, clock: new FakeClock(), log })
  revision = 'absent'
})
afterEach(async () => {
  await cache[Symbol.asyncDispose]()
  await storage[Symbol.asyncDispose]()
})

/** undefined removes. */
async function write(value: Uint8Array | undefined): Promise<Revision> {
  const commit = await storage.commit({ guards: [], writes: [{ key, value, expect: revision }] }).done
  if (!commit.ok) throw new Error('lost')
  revision = value === undefined ? 'absent' : commit.revision
  await cache.applied(commit.revision)
  return commit.revision
}

const spoil = (): Promise<Revision> => write(damageNote(refusal.message))

const requestFor = (namespace: string, name = ''): WatchRequest => ({
  type: configMaps,
  scope: { namespace, name },
  bookmarks: false,
  limits: defaultSessionLimits,
  turns: new Turns({ now: () => 0 }),
  signal: new AbortController().signal,
})

it('ends the watches that cover it, and no others', async () => {
  await write(sound)
  const covering = ['', 'ns'].map((namespace) => watchState(cache, requestFor(namespace), false))
  const named = watchState(cache, requestFor('ns', 'a'), false)
  const others = [watchState(cache, requestFor('other'), false), watchState(cache, requestFor('ns', 'b'), false)]
  await spoil()
  for (const watch of [...covering, named]) {
    const events = watch[Symbol.asyncIterator]()
    expect((await events.next()).value).toMatchObject([{ type: 'ADDED' }])
    await expect(events.next()).rejects.toMatchObject(refusal)
  }
  expect(others.map(({ closed }) => closed)).toEqual([false, false])
})

it('refuses watches that would begin with it, or behind it', async () => {
  await spoil()
  for (const begin of [
    () => watchState(cache, requestFor('ns'), false),
    () => watchAfter(cache, requestFor('', ''), cache.revision),
    () => watchAfter(cache, requestFor('ns', 'a'), cache.revision),
  ]) {
    expect(begin).toThrow(expect.objectContaining(refusal))
  }
  expect(watchState(cache, requestFor('other'), false).closed).toBe(false)
})

it('is told to no follower, who hears what became of it as a change of the last sound version', async () => {
  const told: string[] = []
  cache.type('configmaps').subscribe((next, old) => told.push(`${old?.key ?? '-'} → ${next?.key ?? '-'}`))
  await write(sound)
  await spoil()
  expect(told).toEqual(['- → ns/a'])
  expect([...cache.damaged.all()]).toEqual([refusal.message])
  await write(sound)
  expect(told).toEqual(['- → ns/a', 'ns/a → ns/a'])
  expect(cache.damaged.size).toBe(0)
  await spoil()
  await spoil()
  await write(undefined)
  expect(told).toEqual(['- → ns/a', 'ns/a → ns/a', 'ns/a → -'])
  expect(cache.damaged.size).toBe(0)
  await spoil()
  await write(undefined)
  expect(told).toHaveLength(3)
})

it('lets a watch go on that begins after it was mended', async () => {
  await spoil()
  await write(sound)
  const watch = watchState(cache, requestFor('ns'), false)
  const { value } = await watch[Symbol.asyncIterator]().next()
  expect((value as readonly WatchEvent[]).map(({ type }) => type)).toEqual(['ADDED'])
})

const line = `${refusal.message}; see 'borough storage repair'`

it('is logged when it is met, not at each read, and anew once it was sound', async () => {
  await write(sound)
  await spoil()
  const request = requestFor('ns')
  for (let reads = 0; reads < 3; reads++) expect(() => watchState(cache, request, false)).toThrow(refusal.message)
  expect(logged).toEqual([line])
  await write(sound)
  await spoil()
  expect(logged).toEqual([line, line])
})

it('is not logged without end', async () => {
  for (let i = 0; i < 300; i++) await write(damageNote(`the value of a is spoiled, ${i}`))
  expect(logged).toHaveLength(101)
  expect(logged.at(-1)).toBe('others that are damaged are not logged any more: /readyz?verbose names them')
})
