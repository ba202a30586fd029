/** What holds of priority and fairness whatever clients do. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  allUsersTo,
  metricOf,
  patient,
  queuedLevel,
  requestOf,
  seatOf,
  userNamed,
  type World,
  worldOf,
} from '../../test/support/flow-control.ts'
import type { Admission, Seat } from './flow-control.ts'
import type { WorkEstimate } from './work-estimate.ts'

const seats = 6
const waitLimitMs = 500
const users = ['a', 'b', 'c', 'd']

/** The width of a request is its name here. */
const estimateWork = ({ name }: { readonly name: string }): WorkEstimate => {
  const [initialSeats = 1, finalSeats = 0, additionalLatencyMs = 0] = name.split(' ').map(Number)
  return { initialSeats, finalSeats, additionalLatencyMs }
}

interface Client {
  readonly user: string
  readonly width: number
  readonly abort: AbortController
  /** Answered at once, or later. */
  admission: Admission | undefined
  released: boolean
  settled: number
}

type Step =
  | { readonly do: 'arrive'; readonly user: string; readonly width: number; readonly latencyMs: number }
  | { readonly do: 'finish' | 'abort' | 'charge' | 'finish twice'; readonly pick: number; readonly cpuMs: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'configure'; readonly shares: number; readonly queues: number; readonly handSize: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('arrive' as const),
      user: fc.constantFrom(...users, 'root'),
      width: fc.integer({ min: 1, max: 8 }),
      latencyMs: fc.constantFrom(0, 0, 0, 5, 50),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'finish' as const,
        'finish' as const,
        'abort' as const,
        'charge' as const,
        'finish twice' as const,
      ),
      pick: fc.nat(1000),
      cpuMs: fc.integer({ min: 0, max: 100 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 200 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('configure' as const),
      shares: fc.integer({ min: 0, max: 100_000 }),
      queues: fc.integer({ min: 2, max: 8 }),
      handSize: fc.integer({ min: 1, max: 2 }),
    }),
  },
)

const queueLengthLimit = 4
const levelOf = (queues: number, handSize: number, shares = 100_000) =>
  queuedLevel('level', { queues, handSize, queueLengthLimit }, { shares })

class Run {
  readonly #world: World
  readonly clients: Client[] = []

  constructor() {
    this.#world = worldOf({ seats, levels: [levelOf(4, 1)], schemas: [allUsersTo('level')], estimateWork, waitLimitMs })
  }

  async take(action: Step): Promise<void> {
    const { apf, clock } = this.#world
    if (action.do === 'arrive') this.#arrive(action.user, action.width, action.latencyMs)
    else if (action.do === 'configure') {
      const { queues, handSize, shares } = action
      apf.configure([allUsersTo('level')], [levelOf(queues, handSize, shares)])
    } else if (action.do === 'wait') await clock.advance(action.ms)
    else {
      const open = this.clients.filter((client) => !client.released && client.admission?.granted !== false)
      const client = open[action.pick % Math.max(1, open.length)]
      if (client) this.#act(client, action)
    }
    await clock.advance(0)
    this.check()
  }

  /** All requests end, and all that waited for them is served or times out. */
  async finish(): Promise<void> {
    const { clock } = this.#world
    for (let i = 0; i <= this.clients.length; i++) {
      for (const client of this.clients) if (client.admission?.granted) this.#release(client, 1)
      // As long as a seat is held for watchers.
      await clock.advance(50)
      this.check()
    }
    await clock.advance(waitLimitMs)
    this.check()
  }

  check(): void {
    const { apf } = this.#world
    const of = (name: string) => metricOf(apf, name, { priority_level: 'level', flow_schema: 'to-level' }) ?? 0
    const mine = this.clients.filter(({ user }) => user !== 'root')
    const executing = mine.filter(({ admission, released }) => admission?.granted && !released)
    const waiting = mine.filter(({ admission }) => admission === undefined)
    expect(of('current_executing_requests')).toBe(executing.length)
    expect(of('current_inqueue_requests')).toBe(waiting.length)
    expect(of('current_inqueue_seats')).toBe(sum(waiting))
    // Seats may be held a while longer than requests, for the watchers of a change; never shorter.
    expect(of('current_executing_seats')).toBeGreaterThanOrEqual(sum(executing))
    expect(this.clients.every(({ settled }) => settled <= 1)).toBe(true)
    for (const row of apf.dumpQueues()) expect(Number(row['PendingRequests'])).toBeLessThanOrEqual(queueLengthLimit)
    for (const { user, admission } of this.clients) if (user === 'root') expect(admission?.granted).toBe(true)
  }

  seatsInUse(): number {
    return metricOf(this.#world.apf, 'current_executing_seats', { priority_level: 'level' }) ?? 0
  }

  #arrive(user: string, width: number, latencyMs: number): void {
    const { apf, clock } = this.#world
    const abort = new AbortController()
    const client: Client = { user, width, abort, admission: undefined, released: false, settled: 0 }
    this.clients.push(client)
    const who = user === 'root' ? userNamed('root', 'system:masters') : userNamed(user)
    const before = this.seatsInUse()
    const name = latencyMs > 0 ? `1 ${width} ${latencyMs}` : `${width}`
    const answer = apf.admit(requestOf(who, { name, verb: 'patch' }, clock.now()), abort)
    const settle = (admission: Admission): void => {
      client.admission = admission
      client.settled++
    }
    if (answer instanceof Promise) void answer.then(settle)
    else settle(answer)
    // No seat is given beyond the limit, but to one that has the level for itself.
    const limit = metricOf(apf, 'current_limit_seats', { priority_level: 'level' }) ?? 0
    if (user !== 'root' && !(answer instanceof Promise) && answer.granted) {
      expect(before + width <= limit || before === 0).toBe(true)
    }
  }

  #act(client: Client, action: { readonly do: string; readonly cpuMs: number }): void {
    const { admission, abort } = client
    if (action.do === 'abort') abort.abort()
    else if (!admission?.granted) return
    else if (action.do === 'charge') admission.charge(action.cpuMs)
    else {
      this.#release(client, action.cpuMs)
      if (action.do === 'finish twice') admission.release(action.cpuMs)
    }
  }

  #release(client: Client, cpuMs: number): void {
    if (!client.admission?.granted || client.released) return
    client.released = true
    client.admission.release(cpuMs)
  }
}

const sum = (clients: readonly Client[]): number => clients.reduce((total, { width }) => total + width, 0)

describe('whatever clients do', () => {
  test('seats are conserved, limits and queue lengths hold, exempt requests never wait', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const run = new Run()
        for (const action of steps) await run.take(action)
        await run.finish()
        expect(run.clients.every(({ settled }) => settled === 1)).toBe(true)
        expect(run.seatsInUse()).toBe(0)
      }),
      { numRuns: 60 },
    )
  })

  test('the requests of a flow with one queue are served in the order of their arrival', async () => {
    const arrivals = fc.array(fc.record({ user: fc.constantFrom(...users), width: fc.integer({ min: 1, max: 6 }) }), {
      minLength: 8,
      maxLength: 40,
    })
    await fc.assert(
      fc.asyncProperty(arrivals, fc.infiniteStream(fc.nat(100)), async (list, random) => {
        const level = queuedLevel('level', { queues: 64, handSize: 1, queueLengthLimit: 100 })
        const { apf, clock } = worldOf({ seats, levels: [level], schemas: [allUsersTo('level')], estimateWork })
        const served: { readonly user: string; readonly nr: number; readonly seat: Seat }[] = []
        for (const [nr, { user, width }] of list.entries()) {
          const answer = apf.admit(requestOf(user, { name: `${width}` }, clock.now()), patient)
          if (answer instanceof Promise)
            void answer.then((admission) => served.push({ user, nr, seat: seatOf(admission) }))
          else served.push({ user, nr, seat: seatOf(answer) })
          await clock.advance(random.next().value ?? 0)
        }
        for (let i = 0; i < served.length; i++) {
          served[i]?.seat.release(random.next().value)
          await clock.advance(1)
        }
        expect(served.length).toBe(list.length)
        for (const user of users) {
          const order = served.filter((s) => s.user === user).map(({ nr }) => nr)
          expect(order).toEqual(order.toSorted((a, b) => a - b))
        }
      }),
      { numRuns: 60 },
    )
  })
})

describe('a flood in one flow', () => {
  /** How many requests of the flood are granted between the arrival of a request of another flow and its grant. */
  async function overtaken(queued: number, handSize: number, serviceMs: number): Promise<number> {
    const level = queuedLevel('level', { queues: 64, handSize, queueLengthLimit: 1000 })
    const { apf, clock } = worldOf({ levels: [level], schemas: [allUsersTo('level')] })
    let granted = 0
    let victimServed = false
    const serve = (admission: Admission): void => {
      granted++
      const seat = seatOf(admission)
      clock.after(serviceMs, () => seat.release())
    }
    const flood = (): void => {
      const answer = apf.admit(requestOf('flood', {}, clock.now()), patient)
      if (answer instanceof Promise) void answer.then(serve)
      else serve(answer)
    }
    for (let i = 0; i < queued; i++) {
      flood()
      if (i % 10 === 0) await clock.advance(serviceMs / 10)
    }
    await clock.advance(10 * serviceMs)
    for (let i = 0; i < queued; i++) flood()
    const before = granted
    const answer = apf.admit(requestOf('victim', {}, clock.now()), patient)
    expect(answer).toBeInstanceOf(Promise)
    void Promise.resolve(answer).then(() => (victimServed = true))
    while (!victimServed) await clock.advance(1)
    return granted - before
  }

  test('overtakes a request of another flow by at most two rounds of seats per queue of its hand', async () => {
    const seatCount = 10
    const sizes = fc.record({
      queued: fc.integer({ min: 40, max: 400 }),
      handSize: fc.integer({ min: 1, max: 4 }),
      serviceMs: fc.integer({ min: 1, max: 50 }),
    })
    await fc.assert(
      fc.asyncProperty(sizes, async ({ queued, handSize, serviceMs }) => {
        expect(await overtaken(queued, handSize, serviceMs)).toBeLessThanOrEqual(2 * seatCount * handSize)
      }),
      { numRuns: 30 },
    )
  })

  test('is refused when its own queues are full, while another flow finds room', () => {
    const level = queuedLevel('level', { queues: 128, handSize: 6, queueLengthLimit: 5 })
    const { apf } = worldOf({ levels: [level], schemas: [allUsersTo('level')] })
    const answers = Array.from({ length: 200 }, () => apf.admit(requestOf('flood'), patient))
    const refused = answers.filter((answer) => !(answer instanceof Promise) && !answer.granted)
    expect(refused.length).toBe(200 - 10 - 6 * 5)
    expect(apf.admit(requestOf('victim'), patient)).toBeInstanceOf(Promise)
  })
})
