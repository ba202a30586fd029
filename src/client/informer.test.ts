import { describe, expect, test } from 'vitest'
import type { Clock } from '../base/clock.ts'
import { FakeClock } from '../base/fake-clock.ts'
import { Channel } from '../base/stream.ts'
import { expired } from '../kube/status-error.ts'
import type { KubeList, KubeObject } from '../kube/types.ts'
import type { ListOptions, Reader, WatchEvent, Watcher, WatchOptions } from './client.ts'
import { Informer } from './informer.ts'

const resource = { group: '', version: 'v1', resource: 'configmaps' } as const
const object = (name: string, resourceVersion: number): KubeObject => ({
  metadata: { name, namespace: 'ns', resourceVersion: String(resourceVersion) },
})

/** A server whose lists and watches the test writes down beforehand. */
class Script implements Reader, Watcher {
  lists: (KubeObject[] | Error)[] = []
  readonly asked: string[] = []
  watch$: Channel<WatchEvent> | undefined
  version = 100

  get(): Promise<never> {
    return Promise.reject(new Error('informers do not get'))
  }

  list<T extends KubeObject>(_resource: object, options: ListOptions = {}): Promise<KubeList<T>> {
    this.asked.push(options.continue === undefined ? 'list' : `list ${options.continue}`)
    const next = this.lists.shift() ?? []
    if (next instanceof Error) return Promise.reject(next)
    return Promise.resolve({
      apiVersion: 'v1',
      kind: 'List',
      metadata: { resourceVersion: String(this.version) },
      items: next as T[],
    })
  }

  watch(_resource: object, options: WatchOptions): Channel<WatchEvent> {
    this.asked.push(`watch ${options.resourceVersion}`)
    this.watch$ = new Channel<WatchEvent>({ limit: 100 })
    options.signal.addEventListener('abort', () => this.watch$?.close(), { once: true })
    return this.watch$
  }
}

function world(script: Script) {
  const clock = new FakeClock()
  const changes: string[] = []
  const errors: unknown[] = []
  const informer = new Informer({
    client: script,
    clock,
    resource,
    onChange: (next, old) =>
      changes.push(
        next === undefined
          ? `- ${old?.metadata.name}`
          : `${old === undefined ? '+' : '~'} ${next.metadata.name}@${next.metadata.resourceVersion}`,
      ),
    onError: (error) => errors.push(error),
  })
  const stop = new AbortController()
  const running = informer.run(stop.signal)
  return {
    informer,
    clock,
    changes,
    errors,
    async end() {
      stop.abort()
      await running
    },
  }
}

describe('an informer', () => {
  test('lists, then follows', async () => {
    const script = new Script()
    script.lists = [[object('a', 1), object('b', 2)]]
    const w = world(script)
    await w.informer.whenSynced()
    await w.clock.advance(0)
    script.watch$?.push({ type: 'MODIFIED', object: object('a', 101) })
    script.watch$?.push({ type: 'ADDED', object: object('c', 102) })
    script.watch$?.push({ type: 'DELETED', object: object('b', 103) })
    await w.clock.advance(0)
    expect(w.changes).toEqual(['+ a@1', '+ b@2', '~ a@101', '+ c@102', '- b'])
    expect([...w.informer.values()].map((o) => o.metadata.name)).toEqual(['a', 'c'])
    expect(script.asked).toEqual(['list', 'watch 100'])
    await w.end()
  })

  test('goes on from the last version it saw, bookmarks included, when the server ends the watch', async () => {
    const script = new Script()
    const w = world(script)
    await w.informer.whenSynced()
    await w.clock.advance(0)
    script.watch$?.push({ type: 'ADDED', object: object('a', 105) })
    script.watch$?.push({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '250' } } })
    script.watch$?.close()
    await w.clock.advance(0)
    expect(script.asked).toEqual(['list', 'watch 100', 'watch 250'])
    await w.end()
  })

  test('lists again when its version has expired, and tells only the differences', async () => {
    const script = new Script()
    script.lists = [
      [object('a', 1), object('b', 2), object('c', 3)],
      [object('a', 1), object('b', 7), object('d', 8)],
    ]
    const w = world(script)
    await w.informer.whenSynced()
    await w.clock.advance(0)
    w.changes.length = 0
    script.watch$?.close(expired('too old resource version: 100 (200)'))
    await w.clock.advance(0)
    expect(w.changes).toEqual(['~ b@7', '+ d@8', '- c'])
    expect(script.asked).toEqual(['list', 'watch 100', 'list', 'watch 100'])
    expect(w.errors).toEqual([])
    await w.end()
  })

  test('tries a failed list again after a while, and reports it', async () => {
    const script = new Script()
    script.lists = [new Error('no route'), [object('a', 1)]]
    const w = world(script)
    await w.clock.advance(0)
    expect(w.informer.synced).toBe(false)
    expect(w.errors).toHaveLength(1)
    await w.clock.advance(1000)
    expect(w.informer.synced).toBe(true)
    expect(w.changes).toEqual(['+ a@1'])
    await w.end()
  })

  test('ends when it is told to', async () => {
    const script = new Script()
    const w = world(script)
    await w.informer.whenSynced()
    await w.end()
    expect(script.watch$?.closed).toBe(true)
  })
})

test('what was listed, and what is missing in the next list, is told in turns, with other work between', async () => {
  const script = new Script()
  script.lists = [Array.from({ length: 20 }, (_, i) => object(`o-${i}`, i + 1))]
  let nowMs = 0
  const clock: Clock = Object.assign(new FakeClock(), { monotonic: () => nowMs })
  const told: number[] = []
  let gone = 0
  let turns = 0
  const informer = new Informer({
    client: script,
    clock,
    resource,
    onChange: (next) => {
      nowMs += 5
      told.push(turns)
      if (next === undefined) gone++
    },
  })
  const stop = new AbortController()
  const running = informer.run(stop.signal)
  const isTold = informer.whenSynced().then(() => true)
  const turn = (): Promise<false> => new Promise((resolve) => setImmediate(() => resolve(false)))
  while (!(await Promise.race([isTold, turn()]))) turns++
  expect(told).toHaveLength(20)
  script.watch$?.close(expired('too old'))
  for (; gone < 20; turns++) await turn()
  // Five milliseconds each: no more than a slice of ten at once, and a few over.
  for (const one of new Set(told)) expect(told.filter((t) => t === one).length).toBeLessThanOrEqual(4)
  stop.abort()
  await running
})
