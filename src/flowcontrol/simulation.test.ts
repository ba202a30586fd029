/**
 * A server with one main thread, in simulated time: requests are admitted, then worked on one after the other, as an
 * event loop does. An elephant keeps many costly requests under way, mice send a cheap one now and then.
 */
import { describe, expect, test } from 'vitest'
import { allUsersTo, patient, queuedLevel, requestOf, seatOf, worldOf } from '../../test/support/flow-control.ts'
import type { FakeClock } from '../base/fake-clock.ts'
import type { Admission, Seat } from './flow-control.ts'
import { PriorityAndFairness } from './priority-and-fairness.ts'
import { type EstimateWork, oneSeat } from './work-estimate.ts'

interface Population {
  readonly name: string
  readonly cpuMs: number
  /** Requests that it keeps under way. */
  readonly concurrency: number
  /** Between the answer and the next request. */
  readonly thinkMs: number
}

interface Outcome {
  readonly latenciesMs: number[]
  cpuMs: number
}

class SimulatedServer {
  readonly #apf: PriorityAndFairness
  readonly #clock: FakeClock
  readonly #charging: boolean
  readonly #ready: { readonly seat: Seat; readonly cpuMs: number; readonly done: () => void }[] = []
  #busy = false
  readonly outcomes = new Map<string, Outcome>()

  constructor({ apf, clock }: { readonly apf: PriorityAndFairness; readonly clock: FakeClock }, charging: boolean) {
    this.#apf = apf
    this.#clock = clock
    this.#charging = charging
  }

  join(population: Population): void {
    this.outcomes.set(population.name, { latenciesMs: [], cpuMs: 0 })
    for (let i = 0; i < population.concurrency; i++) this.#send(population)
  }

  #send(population: Population): void {
    const clock = this.#clock
    const sentAtMs = clock.now()
    const again = (): void => void clock.after(population.thinkMs, () => this.#send(population))
    const begin = (admission: Admission): void => {
      if (!admission.granted) return again()
      this.#ready.push({
        seat: seatOf(admission),
        cpuMs: population.cpuMs,
        done: () => {
          const outcome = this.outcomes.get(population.name)
          outcome?.latenciesMs.push(clock.now() - sentAtMs)
          if (outcome) outcome.cpuMs += population.cpuMs
          again()
        },
      })
      this.#work()
    }
    const answer = this.#apf.admit(requestOf(population.name, { verb: population.name }, sentAtMs), patient)
    if (answer instanceof Promise) void answer.then(begin)
    else begin(answer)
  }

  #work(): void {
    if (this.#busy) return
    const next = this.#ready.shift()
    if (next === undefined) return
    this.#busy = true
    this.#clock.after(next.cpuMs, () => {
      this.#busy = false
      next.seat.release(this.#charging ? next.cpuMs : 0)
      next.done()
      this.#work()
    })
  }
}

const level = queuedLevel('level', { queues: 128, handSize: 1, queueLengthLimit: 1000 })

async function simulate(
  populations: readonly Population[],
  options: { readonly seats: number; readonly charging: boolean; readonly estimateWork?: EstimateWork },
): Promise<ReadonlyMap<string, Outcome>> {
  const { seats, charging, estimateWork } = options
  const world = worldOf({
    seats,
    levels: [level],
    schemas: [allUsersTo('level')],
    waitLimitMs: 1e9,
    ...(estimateWork ? { estimateWork } : {}),
  })
  const server = new SimulatedServer(world, charging)
  for (const population of populations) server.join(population)
  await world.clock.advance(20_000)
  return server.outcomes
}

const worst = (outcome: Outcome | undefined): number =>
  Math.max(...(outcome?.latenciesMs ?? [Number.POSITIVE_INFINITY]))

describe('an elephant and mice', () => {
  const elephant: Population = { name: 'elephant', cpuMs: 40, concurrency: 100, thinkMs: 0 }
  const mice: Population = { name: 'mouse', cpuMs: 1, concurrency: 100, thinkMs: 0 }

  test('share the main thread, not the number of requests, when flows are charged what they took of it', async () => {
    const populations = [elephant, mice]
    const charged = await simulate(populations, { seats: 4, charging: true })
    const share = (outcomes: ReadonlyMap<string, Outcome>): number => {
      const of = (name: string): number => outcomes.get(name)?.cpuMs ?? 0
      return of('mouse') / (of('mouse') + of('elephant'))
    }
    // Not quite half: the seats that mice hold while an elephant has the thread are counted, too.
    expect(share(charged)).toBeGreaterThan(1 / 3)
    expect(share(charged)).toBeLessThan(0.6)
    // By seats alone, a cheap request waits as long for the thread as a costly one, and so costs its flow as much.
    const uncharged = await simulate(populations, { seats: 4, charging: false })
    expect(share(uncharged)).toBeLessThan(0.2)
  })

  test('a mouse waits for no more elephants than find seats, however many are queued', async () => {
    const mouse: Population = { ...mice, concurrency: 1, thinkMs: 97 }
    // By the bytes they read, two elephants fill the level.
    const estimateWork: EstimateWork = ({ verb }) => ({
      initialSeats: verb === 'elephant' ? 2 : 1,
      finalSeats: 0,
      additionalLatencyMs: 0,
    })
    const outcomes = await simulate([elephant, mouse], { seats: 4, charging: true, estimateWork })
    expect(outcomes.get('mouse')?.latenciesMs.length).toBeGreaterThan(50)
    // One elephant until a seat is free, and two that hold seats before it on the thread.
    expect(worst(outcomes.get('mouse'))).toBeLessThanOrEqual(3 * elephant.cpuMs + mouse.cpuMs)
    // Elephants get all that is left.
    expect(outcomes.get('elephant')?.cpuMs).toBeGreaterThan(0.9 * 20_000)
  })

  test('one user’s elephant does not hold up another user’s for longer than its share', async () => {
    const second: Population = { ...elephant, name: 'second', concurrency: 1 }
    const outcomes = await simulate([elephant, second], { seats: 2, charging: true })
    // With one request under way at a time it gets its turn after each one of the other.
    expect(worst(outcomes.get('second'))).toBeLessThanOrEqual(4 * elephant.cpuMs)
  })

  test('an elephant is forgiven what it took as fast as the thread could have worked it off', async () => {
    const { apf, clock } = worldOf({ seats: 1, levels: [level], schemas: [allUsersTo('level')] })
    const served: string[] = []
    const queue = (user: string): void => {
      const answer = apf.admit(requestOf(user, {}, clock.now()), patient)
      void Promise.resolve(answer).then((admission) => {
        served.push(user)
        clock.after(1, () => seatOf(admission).release())
      })
    }
    const first = seatOf(apf.admit(requestOf('elephant'), patient))
    const other = apf.admit(requestOf('mouse'), patient)
    first.release(5000)
    seatOf(await other).release(1)
    // Just charged: it comes after a flow that has used nothing, though it was there first.
    const holder = seatOf(apf.admit(requestOf('holder'), patient))
    queue('elephant')
    queue('mouse')
    holder.release()
    await clock.advance(10)
    expect(served).toEqual(['mouse', 'elephant'])
    // Of equal queues the one comes first that was served longer ago.
    seatOf(apf.admit(requestOf('mouse'), patient)).release()
    await clock.advance(5000)
    const next = seatOf(apf.admit(requestOf('holder'), patient))
    queue('elephant')
    queue('mouse')
    next.release()
    await clock.advance(10)
    expect(served.slice(2)).toEqual(['elephant', 'mouse'])
  })
})

describe('requests that are answered without a pause', () => {
  test('hold their seats until the turn ends, so that a flood of them queues and others get their turn', async () => {
    const ends: (() => void)[] = []
    const { apf, clock } = worldOf({
      seats: 4,
      levels: [level],
      schemas: [allUsersTo('level')],
      endOfTurn: (run) => ends.push(run),
    })
    let turn = 1
    const served: string[] = []
    const send = (user: string): void => {
      const answer = apf.admit(requestOf(user, {}, clock.now()), patient)
      const serve = (admission: Admission): void => {
        served.push(`${turn} ${user}`)
        seatOf(admission).release(1)
      }
      if (answer instanceof Promise) void answer.then(serve)
      else serve(answer)
    }
    const endTurn = async (): Promise<void> => {
      turn++
      expect(ends.length).toBe(1)
      ends.shift()?.()
      await clock.advance(0)
    }
    for (let i = 0; i < 9; i++) send('flood')
    send('mouse')
    expect(served).toEqual(Array(4).fill('1 flood'))
    await endTurn()
    expect(served.slice(4)).toEqual(['2 mouse', '2 flood', '2 flood', '2 flood'])
    await endTurn()
    expect(served.slice(8)).toEqual(['3 flood', '3 flood'])
    await endTurn()
    expect(ends).toEqual([])
    expect(apf.dumpPriorityLevels()).toContainEqual(
      expect.objectContaining({ PriorityLevelName: 'level', IsIdle: 'true', DispatchedRequests: '10' }),
    )
  })

  test('begin for 10 ms in one turn; the rest begin in the next, in fair order', async () => {
    const ends: (() => void)[] = []
    const { apf, hold } = heldWorld(ends)
    let turn = 1
    const served: string[] = []
    const serve = (user: string, admission: Admission): void => {
      served.push(`${turn} ${user}`)
      hold(4)
      seatOf(admission).release(4)
    }
    const send = (user: string): void => {
      const answer = apf.admit(requestOf(user, {}, 0), patient)
      if (answer instanceof Promise) void answer.then((admission) => serve(user, admission))
      else serve(user, answer)
    }
    const endTurn = async (): Promise<void> => {
      turn++
      ends.shift()?.()
      await new Promise(setImmediate)
    }
    for (let i = 0; i < 7; i++) send('flood')
    send('mouse')
    expect(served).toEqual(['1 flood', '1 flood', '1 flood'])
    await endTurn()
    expect(served.slice(3)).toEqual(['2 mouse', '2 flood', '2 flood'])
    // There are seats enough: it is the flow that has used nothing that comes first.
    send('late')
    await endTurn()
    expect(served.slice(6)).toEqual(['3 late', '3 flood', '3 flood'])
    await endTurn()
    expect([served.length, ends]).toEqual([9, []])
  })

  test('begin in the next turn, however many of another flow wait for turns, and few seats are in use', async () => {
    const ends: (() => void)[] = []
    const { apf, hold } = heldWorld(ends)
    let waiting = 0
    const served: string[] = []
    const send = (user: string): void => {
      waiting++
      const serve = (admission: Admission): void => {
        waiting--
        served.push(user)
        hold(1)
        seatOf(admission).release(1)
      }
      const answer = apf.admit(requestOf(user, {}, 0), patient)
      if (answer instanceof Promise) void answer.then(serve)
      else serve(answer)
    }
    // Ten requests begin in a turn, which lasts for twice as long: sockets are read, answers are written.
    const flood = async (turns: number): Promise<void> => {
      for (let i = 0; i < turns; i++) {
        while (waiting < 100) send('flood')
        hold(10)
        ends.shift()?.()
        await new Promise(setImmediate)
      }
    }
    await flood(20)
    for (let i = 0; i < 5; i++) {
      send('mouse')
      const before = served.length
      await flood(1)
      expect(served.slice(before)).toContain('mouse')
      await flood(3)
    }
  })
})

/** A level with more seats than are asked for. `hold`: the thread works for so long. */
function heldWorld(ends: (() => void)[]): { apf: PriorityAndFairness; hold: (ms: number) => void } {
  let heldMs = 0
  const apf = new PriorityAndFairness({
    clock: { now: () => heldMs, monotonic: () => heldMs, after: () => ({ cancel() {} }) },
    salt: '',
    serverSeats: 50,
    waitLimitMs: 15_000,
    estimateWork: () => oneSeat,
    endOfTurn: (run) => ends.push(run),
  })
  apf.configure([allUsersTo('level')], [level])
  for (const end of ends.splice(0)) end()
  return {
    apf,
    hold(ms) {
      heldMs += ms
    },
  }
}
