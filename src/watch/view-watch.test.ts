/**
 * What `test/namespaces/own-namespaces.property.test.ts` does not see: who is offered what, and what is left behind.
 */
import { expect, test } from 'vitest'
import { type Fixture, namespaces, startFixture } from '../../test/support/registry-fixture.ts'
import type { NameView, ViewListener } from '../kube/name-view.ts'
import { isExpired } from '../kube/status-error.ts'

/** A view of these names, changed by hand. */
class HandView implements NameView {
  readonly names_: Set<string>
  readonly listeners = new Set<ViewListener>()
  asked = 0

  constructor(...names: string[]) {
    this.names_ = new Set(names)
  }

  sees(name: string): boolean {
    this.asked++
    return this.names_.has(name)
  }

  names(): readonly string[] {
    return [...this.names_]
  }

  past(): undefined {
    return undefined
  }

  follow(listener: ViewListener): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  gain(name: string, revision: number): void {
    this.names_.add(name)
    for (const listener of this.listeners) {
      listener.changed({ name, gained: true, revision, concerns: (asked) => asked === name })
      listener.settled(revision)
    }
  }
}

const create = (f: Fixture, name: string) =>
  f.registry.create(f.scope(namespaces, ''), { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
const watch = (f: Fixture, view: NameView, signal: AbortSignal, more: object = {}) =>
  f.registry.watch(namespaces, { namespace: '', view, signal, ...more })

test('changes of names out of view are not even offered', async () => {
  await using f = await startFixture()
  const view = new HandView('mine')
  const stop = new AbortController()
  const events = (await watch(f, view, stop.signal))[Symbol.asyncIterator]()
  const first = events.next()
  const before = view.asked
  for (let i = 0; i < 50; i++) await create(f, `other-${i}`)
  expect(view.asked).toBe(before)
  await create(f, 'mine')
  expect((await first).value?.map((e: { type: string }) => e.type)).toEqual(['ADDED'])
  stop.abort()
})

test.each(['abort', 'leaving the loop', 'dispose'] as const)('%s leaves nothing behind', async (how) => {
  await using f = await startFixture()
  await create(f, 'mine')
  const view = new HandView('mine')
  const stop = new AbortController()
  const stream = await watch(f, view, stop.signal)
  expect([view.listeners.size, f.cache.type('namespaces').watchers.size]).toEqual([1, 1])
  if (how === 'abort') stop.abort()
  else if (how === 'dispose') await stream[Symbol.asyncDispose]()
  else for await (const _ of stream) break
  expect([view.listeners.size, f.cache.type('namespaces').watchers.size]).toEqual([0, 0])
})

test('a watcher that does not read is cut off by changes of rights as by any other, and forgotten', async () => {
  await using f = await startFixture({ deps: { watchLimits: { events: 3, sizeBytes: 1e9 } } })
  for (let i = 0; i < 5; i++) await create(f, `n${i}`)
  const view = new HandView()
  const stream = await watch(f, view, new AbortController().signal)
  for (let i = 0; i < 5; i++) view.gain(`n${i}`, f.cache.revision + 1 + i)
  expect(view.listeners.size).toBe(0)
  await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow()
})

test('a view that does not remember so far back is Expired, and nothing stays open', async () => {
  await using f = await startFixture()
  const after = String((await create(f, 'mine')).revision)
  await create(f, 'next')
  const view = new HandView('mine')
  const stream = await watch(f, view, new AbortController().signal, { resourceVersion: after })
  await expect(stream[Symbol.asyncIterator]().next()).rejects.toSatisfy(isExpired)
  expect([view.listeners.size, f.cache.type('namespaces').watchers.size]).toEqual([0, 0])
})

test('a change of rights that the watcher knows from another replica is no event, and counts from then', async () => {
  await using f = await startFixture()
  await create(f, 'old')
  const view = new HandView()
  const known = f.cache.revision
  const stop = new AbortController()
  const stream = await watch(f, view, stop.signal, { resourceVersion: String(known) })
  const next = stream[Symbol.asyncIterator]().next()
  view.gain('old', known - 1)
  stop.abort()
  expect((await next).done).toBe(true)
})
