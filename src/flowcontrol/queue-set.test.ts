/** The order in which waiting requests get seats, case by case. What holds in general is in fairness.test.ts. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  allUsersTo,
  patient,
  queuedLevel,
  requestOf,
  seatOf,
  type World,
  worldOf,
} from '../../test/support/flow-control.ts'
import type { Seat } from './flow-control.ts'
import { Queue, RequestSeat } from './queue.ts'
import { QueueHeap } from './queue-heap.ts'
import type { QueuingSpec } from './types.ts'

/** The width of a request is its name. Each user has one queue of its own unless said otherwise. */
class Level {
  readonly world: World
  readonly served: string[] = []
  readonly #seats = new Map<string, Seat>()

  constructor(seats: number, queuing: QueuingSpec = { queues: 1024, handSize: 1, queueLengthLimit: 100 }) {
    this.world = worldOf({
      seats,
      levels: [queuedLevel('level', queuing)],
      schemas: [allUsersTo('level')],
      estimateWork: ({ name }) => ({ initialSeats: Number(name), finalSeats: 0, additionalLatencyMs: 0 }),
    })
  }

  /** `label`: the user's name, and a number. */
  async send(label: string, width = 1, caller: { signal: AbortSignal } = patient): Promise<void> {
    const { apf, clock } = this.world
    const answer = apf.admit(requestOf(label.replace(/\d+$/, ''), { name: String(width) }, clock.now()), caller)
    void Promise.resolve(answer).then((admission) => {
      if (!admission.granted) return
      this.served.push(label)
      this.#seats.set(label, seatOf(admission))
    })
    await clock.advance(0)
  }

  async finish(label: string): Promise<void> {
    const seat = this.#seats.get(label)
    if (seat === undefined) throw new Error(`${label} has no seat`)
    seat.release()
    await this.world.clock.advance(0)
  }
}

describe('waiting requests', () => {
  test('are let through when the wide one leaves that they waited for', async () => {
    const level = new Level(10)
    for (let i = 0; i < 9; i++) await level.send(`holder${i}`)
    const client = new AbortController()
    await level.send('wide1', 5, client)
    await level.world.clock.advance(10)
    await level.send('narrow1')
    // The wide one is first, and nothing overtakes it: it would never find five seats free.
    expect(level.served).not.toContain('narrow1')
    client.abort()
    await level.world.clock.advance(0)
    expect(level.served).toContain('narrow1')
  })

  test('of a queue that has used little without ever being idle do not come in a burst', async () => {
    const level = new Level(2)
    await level.send('a1')
    await level.send('b1')
    for (let i = 2; i <= 6; i++) await level.send(`b${i}`)
    await level.world.clock.advance(1000)
    for (let i = 2; i <= 6; i++) await level.send(`a${i}`)
    await level.finish('b1')
    for (let served = 3; served < 7; served++) {
      await level.world.clock.advance(100)
      const last = level.served.at(-1)
      if (last !== undefined) await level.finish(last)
    }
    const next = level.served.slice(2, 7).map((label) => label[0])
    expect(next.filter((user) => user === 'a').length).toBeLessThanOrEqual(3)
    expect(next.filter((user) => user === 'b').length).toBeGreaterThanOrEqual(2)
  })

  test('go into the queue of their hand that holds least work', async () => {
    const level = new Level(10, { queues: 2, handSize: 2, queueLengthLimit: 100 })
    await level.send('holder1', 10)
    await level.send('a1', 6)
    for (let i = 2; i <= 17; i++) await level.send(`a${i}`)
    // The work of the holder, thirty, counts for its queue; the wide one is eighteen, each other one three.
    const pending = level.world.apf.dumpQueues().map((row) => Number(row['PendingRequests']))
    expect(pending.toSorted((a, b) => a - b)).toEqual([6, 11])
  })

  test('of queues that are equal take turns, the one first that was served longer ago', async () => {
    const level = new Level(1)
    await level.send('a1')
    await level.finish('a1')
    await level.send('holder1')
    await level.send('a2')
    await level.send('b1')
    await level.finish('holder1')
    expect(level.served).toEqual(['a1', 'holder1', 'b1'])
  })
})

test('the heap answers the queue that is done first, whatever has changed', () => {
  const flow = { schemaName: '', distinguisher: '', hand: [] } as unknown as RequestSeat['flow']
  const step = fc.record({
    queue: fc.nat(23),
    do: fc.constantFrom('add', 'add', 'move', 'drain'),
    by: fc.integer({ min: -500, max: 500 }),
  })
  fc.assert(
    fc.property(fc.array(step, { minLength: 50, maxLength: 300 }), (steps) => {
      const heap = new QueueHeap()
      const queues = Array.from({ length: 24 }, (_, index) => new Queue(index))
      for (const { queue: at, do: action, by } of steps) {
        const queue = queues[at]
        if (queue === undefined) continue
        const work = { initialSeats: 1 + Math.abs(by), finalSeats: 0, additionalLatencyMs: 0 }
        if (action === 'add') queue.waiting.push(new RequestSeat(flow, requestOf('x'), work, 0))
        else if (action === 'move') queue.nextStart += by
        else while (queue.waiting.first) queue.waiting.remove(queue.waiting.first)
        heap.update(queue)
        const waiting = queues.filter(({ waiting: { length } }) => length > 0)
        expect(heap.first?.nextFinish).toBe(
          waiting.length === 0 ? undefined : Math.min(...waiting.map(({ nextFinish }) => nextFinish)),
        )
      }
    }),
  )
})
