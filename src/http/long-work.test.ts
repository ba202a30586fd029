import { afterEach, describe, expect, test } from 'vitest'
import { failure, refusal } from '../../test/support/refusal.ts'
import { andThen, type Eventual } from '../base/eventual.ts'
import { FakeClock } from '../base/fake-clock.ts'
import { silentLog } from '../base/log.ts'
import { Turns } from '../base/turns.ts'
import { anonymousUser } from '../kube/user.ts'
import type { ApiRequest, HeldSeat, RequestContext } from './api.ts'
import { LongWork } from './long-work.ts'
import { Defense } from './overload.ts'

const waitMs = 5000
const clientLeft = failure({
  message: 'Timeout: the client left before its request was answered',
  reason: 'Timeout',
  code: 504,
})
const clock = new FakeClock()
let defense: Defense
afterEach(() => defense[Symbol.dispose]())

function longWork(): LongWork {
  defense = new Defense({ clock, log: silentLog, heapUse: () => 0 })
  return new LongWork({ ...defense, turns: new Turns(), waitMs })
}

/** A request of a user, as far as long work looks at it; `seated` is whether it has its seat. */
class Asking implements HeldSeat {
  isSeated = true
  isBegun = false
  /** Settles when there is a seat for it again. */
  seat: Eventual<void> = undefined
  /** That its flow is charged. */
  bytes = 0
  readonly client = new AbortController()
  readonly context: RequestContext
  readonly #request: ApiRequest

  constructor(username: string, level: { name: string; isExempt: boolean } = { name: 'tenants', isExempt: false }) {
    const seats: HeldSeat[] = [this]
    this.context = { user: { ...anonymousUser, username }, seats, flow: { level } } as unknown as RequestContext
    const account = { charge: (bytes: number) => (this.bytes += bytes), give: (bytes: number) => (this.bytes -= bytes) }
    const { signal } = this.client
    this.#request = { remoteAddress: '127.0.0.1', signal, account } as unknown as ApiRequest
  }

  leave(): void {
    this.isSeated = false
  }

  retake(): Eventual<void> {
    return andThen(this.seat, () => {
      this.isSeated = true
    })
  }

  /** As the stage that ends places does it. */
  async begin(work: LongWork): Promise<void> {
    try {
      await work.begin(this.#request, this.context)
      this.isBegun = true
    } catch (error) {
      this.context.longPlace?.end()
      throw error
    }
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

async function begun(work: LongWork, all: readonly Asking[]): Promise<readonly boolean[]> {
  for (const one of all) void one.begin(work)
  for (let i = 0; i < all.length; i++) await settled()
  return all.map(({ isBegun }) => isBegun)
}

const many = (count: number, username: string): Asking[] => Array.from({ length: count }, () => new Asking(username))
const system = { name: 'system', isExempt: false }

describe('attack: many requests that take long', () => {
  test('of one user are worked on two at a time, and wait without their seats', async () => {
    const work = longWork()
    const all = many(4, 'mallory')
    expect(await begun(work, all)).toEqual([true, true, false, false])
    expect(all.map(({ isSeated }) => isSeated)).toEqual([true, true, false, false])
    all[1]?.context.longPlace?.end()
    await settled()
    expect(all.map(({ isBegun, isSeated }) => isBegun && isSeated)).toEqual([true, true, true, false])
  })

  test('do not keep others waiting', async () => {
    const work = longWork()
    await begun(work, many(40, 'mallory'))
    expect(await begun(work, [new Asking('dora')])).toEqual([true])
  })

  test('of many users are six at a time, the users one after the other', async () => {
    const work = longWork()
    const first = ['a', 'b', 'c'].flatMap((name) => many(2, name))
    expect(await begun(work, first)).toEqual(first.map(() => true))
    const late = [...many(3, 'e'), ...many(1, 'f')]
    expect(await begun(work, late)).toEqual([false, false, false, false])
    for (const one of first.slice(0, 2)) one.context.longPlace?.end()
    for (let i = 0; i < 4; i++) await settled()
    expect(late.map(({ isBegun }) => isBegun)).toEqual([true, false, false, true])
  })

  test('of many users leave places to other levels, which are served in turn', async () => {
    const work = longWork()
    const flood = Array.from({ length: 20 }, (_, i) => new Asking(`mallory-${i}`))
    await begun(work, flood)
    const others = Array.from({ length: 3 }, (_, i) => new Asking(`node-${i}`, system))
    expect(await begun(work, others)).toEqual([true, true, false])
    // The longest waiting level is served first, and then it is the other's turn.
    for (const one of flood.slice(0, 2)) one.context.longPlace?.end()
    for (let i = 0; i < 4; i++) await settled()
    expect(others[2]?.isBegun).toBe(true)
    expect(flood.filter(({ isBegun }) => isBegun)).toHaveLength(7)
  })

  test('of one user in two levels are two at a time', async () => {
    const work = longWork()
    const all = [...many(2, 'mallory'), new Asking('mallory', system)]
    expect(await begun(work, all)).toEqual([true, true, false])
  })

  test('keep nothing of an exempt level waiting', async () => {
    const work = longWork()
    await begun(
      work,
      Array.from({ length: 20 }, (_, i) => new Asking(`mallory-${i}`)),
    )
    const masters = Array.from({ length: 10 }, () => new Asking('root', { name: 'exempt', isExempt: true }))
    expect(await begun(work, masters)).toEqual(masters.map(() => true))
  })

  test('keep no place from others while they wait for their seats', async () => {
    const work = longWork()
    const first = ['a', 'b', 'c'].flatMap((name) => many(2, name))
    await begun(work, first)
    const seats = Promise.withResolvers<void>()
    const late = ['d', 'e', 'f'].flatMap((name) => many(2, name))
    for (const one of late) one.seat = seats.promise
    await begun(work, late)
    for (const one of first) one.context.longPlace?.end()
    await settled()
    // They have places and no seats. Of their own users others wait all the same.
    expect(await begun(work, [new Asking('dora'), new Asking('d')])).toEqual([true, false])
    seats.resolve()
    for (let i = 0; i < 8; i++) await settled()
    expect(late.map(({ isBegun }) => isBegun)).toEqual(late.map(() => true))
    // Seven are more than the level has: the next one waits until it is one less than six.
    const next = new Asking('emil')
    expect(await begun(work, [next])).toEqual([false])
    for (const one of late.slice(0, 1)) one.context.longPlace?.end()
    await settled()
    expect(next.isBegun).toBe(false)
    for (const one of late.slice(1, 3)) one.context.longPlace?.end()
    for (let i = 0; i < 3; i++) await settled()
    expect(next.isBegun).toBe(true)
  })

  test('give their place to others while they wait for something else', async () => {
    const work = longWork()
    const all = many(3, 'mallory')
    await begun(work, all)
    for (const seat of all[0]?.context.seats ?? []) seat.leave()
    await settled()
    expect(all.map(({ isBegun }) => isBegun)).toEqual([true, true, true])
    const again = all[0]?.context.seats[0]?.retake()
    all[2]?.context.longPlace?.end()
    await again
    all[0]?.context.longPlace?.end()
    expect(await begun(work, many(2, 'mallory'))).toEqual([true, false])
  })
})

describe('a request that waits for its place', () => {
  test('is refused by a deadline, and told', async () => {
    const work = longWork()
    const [first, , late] = many(3, 'mallory') as [Asking, Asking, Asking]
    await begun(work, [first])
    await begun(work, many(1, 'mallory'))
    const answer = refusal(late.begin(work))
    await clock.advance(waitMs - 1000)
    expect(late.bytes).toBeGreaterThan(0)
    await clock.advance(2000)
    expect(await answer).toEqual(
      failure({
        message: 'Too many requests, please try again later.',
        reason: 'TooManyRequests',
        details: { retryAfterSeconds: 1 },
        code: 429,
      }),
    )
    expect([late.isBegun, late.isSeated, late.bytes]).toEqual([false, false, 0])
    expect([...defense.incidents.counts]).toEqual([['long_work_deadline', 1]])
    // It has left the queue: the place is for who still waits.
    const next = new Asking('mallory')
    await begun(work, [next])
    first.context.longPlace?.end()
    await settled()
    expect(next.isBegun).toBe(true)
  })

  test('whose client leaves is over at once, and keeps nothing', async () => {
    const work = longWork()
    const [first, second, left] = many(3, 'mallory') as [Asking, Asking, Asking]
    await begun(work, [first, second])
    const answer = refusal(left.begin(work))
    await settled()
    left.client.abort()
    expect(await answer).toEqual(clientLeft)
    expect([left.isBegun, left.isSeated, left.bytes]).toEqual([false, false, 0])
    const next = new Asking('mallory')
    await begun(work, [next])
    first.context.longPlace?.end()
    await settled()
    expect(next.isBegun).toBe(true)
    expect([...defense.incidents.counts]).toEqual([])
    // No place was lost: two can be had when all are over.
    for (const one of [second, next]) one.context.longPlace?.end()
    expect(await begun(work, many(3, 'mallory'))).toEqual([true, true, false])
  })

  test('whose client has left before it waits is over at once', async () => {
    const work = longWork()
    await begun(work, many(2, 'mallory'))
    const left = new Asking('mallory')
    left.client.abort()
    expect(await refusal(left.begin(work))).toEqual(clientLeft)
  })
})
