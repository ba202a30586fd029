import { expect, test } from 'vitest'
import { Turns } from './turns.ts'
import { Walks } from './walks.ts'

/** Time that goes on by one with each step, and turns that are given by hand. */
class World implements AsyncDisposable {
  readonly errors: unknown[] = []
  readonly steps: string[] = []
  readonly #stop = new AbortController()
  #now = 0
  #soon: (() => void)[] = []
  readonly walks = new Walks(
    (error) => this.errors.push(error),
    new Turns({ now: () => this.#now, soon: (run) => this.#soon.push(run) }),
  )
  readonly #running = this.walks.run(this.#stop.signal)

  stop(): void {
    this.#stop.abort()
  }

  *walk(name: string, steps: number, ms = 1): Generator<void> {
    for (let i = 0; i < steps; i++) {
      this.#now += ms
      this.steps.push(`${name}${i}`)
      yield
    }
  }

  /** What is done in the next turn of the loop. */
  async turn(): Promise<string> {
    this.steps.length = 0
    for (const run of this.#soon.splice(0)) run()
    await new Promise(setImmediate)
    return this.steps.join(' ')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop()
    for (let i = 0; i < 3; i++) await this.turn()
    await this.#running
  }
}

test('a walk goes on for a slice in each turn of the loop, and several by turns', async () => {
  await using world = new World()
  world.walks.begin('a', world.walk('a', 5))
  world.walks.begin('b', world.walk('b', 4))
  const turns = [await world.turn(), await world.turn(), await world.turn(), await world.turn()]
  expect(turns).toEqual(['a0 a1 a2', 'b0 b1 b2', 'a3 a4 b3', ''])
})

test('one begun in place of another goes on from its own start, one again when the other has ended', async () => {
  await using world = new World()
  world.walks.begin('a', world.walk('old', 5))
  expect(await world.turn()).toBe('old0 old1 old2')
  world.walks.begin('a', world.walk('new', 4))
  expect(await world.turn()).toBe('new0 new1 new2')
  world.walks.again('a', world.walk('lost', 9))
  world.walks.again('a', world.walk('last', 2))
  expect(await world.turn()).toBe('new3 last0 last1')
})

test('a walk that fails ends, is told of, and keeps no other from going on', async () => {
  await using world = new World()
  const failure = new Error('no')
  const failing = function* (): Generator<void> {
    yield
    throw failure
  }
  world.walks.begin('a', failing())
  world.walks.begin('b', world.walk('b', 1))
  expect([await world.turn(), world.errors]).toEqual(['b0', [failure]])
})

test('none goes on once all are stopped, and none begins', async () => {
  await using world = new World()
  world.walks.begin('a', world.walk('a', 9))
  expect(await world.turn()).toBe('a0 a1 a2')
  world.stop()
  expect(await world.turn()).toBe('')
  world.walks.begin('b', world.walk('b', 1))
  expect([await world.turn(), await world.turn()]).toEqual(['', ''])
})
