import { expect, test } from 'vitest'
import { FakeClock } from '../../base/fake-clock.ts'
import type { ServedKind } from '../../client/client.ts'
import { AwaitedKinds } from './awaited-kinds.ts'

const widget = 'ex.io/v1/Widget'
const served: ServedKind = {
  ...{ group: 'ex.io', version: 'v1', resource: 'widgets', kind: 'Widget' },
  ...{ namespaced: true, verbs: [] },
}

/** Asked each half second of the clock, until the test is over. */
class World implements AsyncDisposable {
  readonly clock = new FakeClock()
  readonly asked: string[] = []
  readonly arrived: string[] = []
  readonly wanted: Set<string> = new Set([widget])
  answer: ServedKind | 'refused' | undefined
  readonly #stop = new AbortController()
  readonly awaited: AwaitedKinds = new AwaitedKinds({
    clock: this.clock,
    find: async (kind) => {
      this.asked.push(kind)
      return this.answer
    },
    isWanted: (kind) => this.wanted.has(kind),
    onServed: (kind) => this.arrived.push(kind),
  })
  readonly #running: Promise<void> = this.awaited.run(this.#stop.signal)

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
  }
}

test('a kind that is not served is told of within half a second of being served, and once', async () => {
  await using world = new World()
  world.awaited.add(widget)
  await world.clock.advance(500)
  expect(world.arrived).toEqual([])
  world.answer = served
  await world.clock.advance(500)
  expect(world.arrived).toEqual([widget])
  await world.clock.advance(5000)
  expect(world.asked).toHaveLength(2)
})

test('a server that does not answer is asked again', async () => {
  await using world = new World()
  world.awaited.add(widget)
  world.answer = 'refused'
  await world.clock.advance(500)
  expect(world.arrived).toEqual([])
  world.answer = served
  await world.clock.advance(500)
  expect(world.arrived).toEqual([widget])
})

test('nothing is asked of a kind that no template holds any more, nor while none is awaited', async () => {
  await using world = new World()
  await world.clock.advance(5000)
  world.awaited.add(widget)
  world.wanted.delete(widget)
  await world.clock.advance(5000)
  expect(world.asked).toEqual([])
})
