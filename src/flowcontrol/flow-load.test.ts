/**
 * What a flow may have under way while others are served, and what that means for a write beside a flood: an event loop
 * in simulated time, whose writes are flushed together, as a store does.
 */
import { describe, expect, test } from 'vitest'
import { allUsersTo, patient, queuedLevel, requestOf, worldOf } from '../../test/support/flow-control.ts'
import type { Clock } from '../base/clock.ts'
import type { Admission } from './flow-control.ts'
import { FlowLoad, PresentFlows } from './flow-load.ts'
import { PriorityAndFairness } from './priority-and-fairness.ts'

interface Population {
  readonly user: string
  /** Of the main thread: before the flush and after it; an answer without a flush has nothing after it. */
  readonly cpuMs: readonly [before: number, after?: number]
  readonly seats: number
  readonly clients: number
  readonly thinkMs: number
}

const flushMs = 2
const level = queuedLevel('level', { queues: 128, handSize: 6, queueLengthLimit: 50 })

class SimulatedLoop {
  #nowMs = 0
  #timers: { readonly atMs: number; readonly run: () => void }[] = []
  #came: (() => void)[] = []
  #ends: (() => void)[] = []
  #written: (() => void)[] = []
  #flush: { readonly atMs: number; readonly done: readonly (() => void)[] } | undefined
  readonly #apf: PriorityAndFairness
  readonly latenciesMs = new Map<string, number[]>()

  constructor(seats: number) {
    const now = (): number => this.#nowMs
    const after: Clock['after'] = (ms, run) => {
      const timer = { atMs: now() + ms, run }
      this.#timers.push(timer)
      return { cancel: () => void (this.#timers = this.#timers.filter((other) => other !== timer)) }
    }
    this.#apf = new PriorityAndFairness({
      clock: { now, monotonic: now, after } as Clock,
      salt: '',
      serverSeats: seats,
      waitLimitMs: 15_000,
      estimateWork: ({ name }) => ({ initialSeats: Number(name), finalSeats: 0, additionalLatencyMs: 0 }),
      endOfTurn: (run) => this.#ends.push(run),
    })
    this.#apf.configure([allUsersTo('level')], [level])
  }

  join(population: Population): void {
    this.latenciesMs.set(population.user, [])
    for (let i = 0; i < population.clients; i++) this.#send(population, this.#nowMs)
  }

  /** Timers, sockets, the end of the turn, what was flushed: in the order of Node's loop. */
  async run(untilMs: number): Promise<void> {
    while (this.#nowMs < untilMs) {
      const startMs = this.#nowMs
      const due = this.#timers.filter(({ atMs }) => atMs <= startMs)
      this.#timers = this.#timers.filter(({ atMs }) => atMs > startMs)
      for (const { run } of due) run()
      for (const begin of this.#came.splice(0)) begin()
      await new Promise(setImmediate)
      for (const end of this.#ends.splice(0)) end()
      await new Promise(setImmediate)
      this.#flushWritten()
      if (this.#nowMs === startMs) this.#nowMs += 0.1
    }
  }

  /** In milliseconds, of all but the first second. */
  p99(user: string): number {
    const sorted = (this.latenciesMs.get(user) ?? []).toSorted((a, b) => a - b)
    expect(sorted.length).toBeGreaterThan(100)
    return sorted[Math.floor(sorted.length * 0.99)] ?? Number.POSITIVE_INFINITY
  }

  #flushWritten(): void {
    if (this.#flush !== undefined && this.#flush.atMs <= this.#nowMs) {
      const { done } = this.#flush
      this.#flush = undefined
      for (const answer of done) answer()
    }
    if (this.#flush !== undefined || this.#written.length === 0) return
    this.#flush = { atMs: this.#nowMs + flushMs, done: this.#written }
    this.#written = []
  }

  #send(population: Population, sentMs: number): void {
    const { user, seats, thinkMs } = population
    const again = (waitMs: number): void => {
      const atMs = this.#nowMs + waitMs
      this.#timers.push({ atMs, run: () => this.#send(population, atMs) })
    }
    this.#came.push(() => {
      const request = requestOf(user, { name: String(seats) }, this.#nowMs)
      const begin = (admission: Admission): void => {
        if (!admission.granted) return again(1000)
        this.#work(population, (cpuMs) => {
          admission.release(cpuMs)
          if (this.#nowMs > 1000) this.latenciesMs.get(user)?.push(this.#nowMs - sentMs)
          again(thinkMs)
        })
      }
      const admission = this.#apf.admit(request, patient)
      if (admission instanceof Promise) void admission.then(begin)
      else begin(admission)
    })
  }

  #work({ cpuMs: [before, after] }: Population, answer: (cpuMs: number) => void): void {
    this.#nowMs += before
    if (after === undefined) return answer(before)
    this.#written.push(() => {
      this.#nowMs += after
      answer(before + after)
    })
  }
}

const patches: Population = { user: 'patches', cpuMs: [0.5, 0.3], seats: 3, clients: 2, thinkMs: 10 }
const reads: Population = { user: 'reads', cpuMs: [0.15], seats: 1, clients: 2, thinkMs: 10 }

async function besides(flood: Omit<Population, 'user' | 'thinkMs'>): Promise<SimulatedLoop> {
  const loop = new SimulatedLoop(250)
  loop.join(patches)
  loop.join(reads)
  loop.join({ ...flood, user: 'flood', thinkMs: 0.5 })
  await loop.run(2500)
  return loop
}

describe('beside a flood of one user', () => {
  test.each([
    { flood: 'small writes', cpuMs: [0.15, 0.12], seats: 3, clients: 400, patchMs: 15, readMs: 6 },
    { flood: 'namespaces', cpuMs: [1.5, 0.8], seats: 6, clients: 400, patchMs: 16, readMs: 8 },
    { flood: 'small reads', cpuMs: [0.12], seats: 1, clients: 300, patchMs: 22, readMs: 10 },
  ] as const)('of $flood, a patch and a read wait for a few milliseconds of work', async (given) => {
    const loop = await besides(given)
    expect(loop.p99('patches')).toBeLessThan(given.patchMs)
    expect(loop.p99('reads')).toBeLessThan(given.readMs)
    // The flood has most of the thread all the same.
    const [before, after = 0] = given.cpuMs
    expect((loop.latenciesMs.get('flood')?.length ?? 0) * (before + after)).toBeGreaterThan(0.5 * 1500)
  })
})

describe('a flow that has 8 ms of work under way', () => {
  /** Ten requests of a flow that takes 2.1 ms for each; which of them are worked on. */
  async function begunOf(endOfTurn: boolean, besideOthers: boolean): Promise<{ begun: number; end: () => void }> {
    const ends: (() => void)[] = []
    const { apf } = worldOf({
      seats: 100,
      levels: [level],
      schemas: [allUsersTo('level')],
      ...(endOfTurn ? { endOfTurn: (run: () => void) => ends.push(run) } : {}),
    })
    const settle = async (): Promise<void> => {
      while (ends.length > 0) {
        for (const end of ends.splice(0)) end()
        await new Promise(setImmediate)
      }
    }
    const seats: Admission[] = []
    const send = (user: string): void => {
      const admission = apf.admit(requestOf(user), patient)
      if (admission instanceof Promise) void admission.then((seat) => seats.push(seat))
      else seats.push(admission)
    }
    for (let i = 0; i < 50; i++) {
      send('wide')
      for (const seat of seats.splice(0)) if (seat.granted) seat.release(2.1)
      await settle()
    }
    if (besideOthers) send('other')
    seats.length = 0
    for (let i = 0; i < 10; i++) send('wide')
    await settle()
    const begun = seats.length
    return { begun, end: () => seats.forEach((seat) => seat.granted && seat.release(2.1)) }
  }

  test('begins no more while others are served', async () => {
    expect((await begunOf(true, true)).begun).toBe(4)
  })

  test('is not held back where it is alone, or where there is no loop to share', async () => {
    expect((await begunOf(true, false)).begun).toBe(10)
    expect((await begunOf(false, true)).begun).toBe(10)
  })
})

describe('the work of a flow', () => {
  test('is what its last requests took, for those that are under way', () => {
    const load = new FlowLoad()
    load.underWay = 7
    expect(load.isFull).toBe(false)
    load.underWay = 8
    expect(load.isFull).toBe(true)
    for (let i = 0; i < 100; i++) {
      load.underWay++
      load.end(0.1)
    }
    load.underWay = 79
    expect(load.isFull).toBe(false)
    load.underWay = 82
    expect(load.isFull).toBe(true)
  })

  test('is never too much for two requests, however costly: one is flushed while the other is decided', () => {
    const load = new FlowLoad()
    load.underWay = 2
    load.end(1000)
    expect(load.isFull).toBe(false)
    load.underWay = 2
    expect(load.isFull).toBe(true)
  })
})

test('a flow has others beside it for a second after their last request', () => {
  const [a, b] = [{}, {}]
  const present = new PresentFlows<object>()
  expect(present.hasOthers(a, 0)).toBe(false)
  present.see(a, 0)
  expect([present.hasOthers(a, 0), present.hasOthers(b, 0)]).toEqual([false, true])
  present.see(b, 500)
  present.see(a, 900)
  present.see(a, 1400)
  expect([present.hasOthers(a, 1499), present.hasOthers(a, 1500)]).toEqual([true, false])
  expect(present.hasOthers(b, 2399)).toBe(true)
})
