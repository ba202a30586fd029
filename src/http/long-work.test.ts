import { describe, expect, test } from 'vitest'
import { Turns } from '../base/turns.ts'
import { anonymousUser } from '../kube/user.ts'
import type { ApiRequest, HeldSeat, RequestContext } from './api.ts'
import { LongWork } from './long-work.ts'

/** A request of a user, as far as long work looks at it; `seated` is whether it has its seat. */
class Asking implements HeldSeat {
  isSeated = true
  isBegun = false
  readonly context: RequestContext
  readonly #request = { remoteAddress: '127.0.0.1', signal: new AbortController().signal } as ApiRequest

  constructor(username: string) {
    const seats: HeldSeat[] = [this]
    this.context = { user: { ...anonymousUser, username }, seats } as unknown as RequestContext
  }

  leave(): void {
    this.isSeated = false
  }

  retake(): void {
    this.isSeated = true
  }

  async begin(work: LongWork): Promise<void> {
    await work.begin(this.#request, this.context)
    this.isBegun = true
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

async function begun(work: LongWork, all: readonly Asking[]): Promise<readonly boolean[]> {
  for (const one of all) void one.begin(work)
  for (let i = 0; i < all.length; i++) await settled()
  return all.map(({ isBegun }) => isBegun)
}

const many = (count: number, username: string): Asking[] => Array.from({ length: count }, () => new Asking(username))

describe('attack: many requests that take long', () => {
  test('of one user are worked on two at a time, and wait without their seats', async () => {
    const work = new LongWork(new Turns())
    const all = many(4, 'mallory')
    expect(await begun(work, all)).toEqual([true, true, false, false])
    expect(all.map(({ isSeated }) => isSeated)).toEqual([true, true, false, false])
    all[1]?.context.longPlace?.end()
    await settled()
    expect(all.map(({ isBegun, isSeated }) => isBegun && isSeated)).toEqual([true, true, true, false])
  })

  test('do not keep others waiting', async () => {
    const work = new LongWork(new Turns())
    await begun(work, many(40, 'mallory'))
    expect(await begun(work, [new Asking('dora')])).toEqual([true])
  })

  test('of many users are eight at a time, the users one after the other', async () => {
    const work = new LongWork(new Turns())
    const first = ['a', 'b', 'c', 'd'].flatMap((name) => many(2, name))
    expect(await begun(work, first)).toEqual(first.map(() => true))
    const late = [...many(3, 'e'), ...many(1, 'f')]
    expect(await begun(work, late)).toEqual([false, false, false, false])
    for (const one of first.slice(0, 2)) one.context.longPlace?.end()
    for (let i = 0; i < 4; i++) await settled()
    expect(late.map(({ isBegun }) => isBegun)).toEqual([true, false, false, true])
  })

  test('give their place to others while they wait for something else', async () => {
    const work = new LongWork(new Turns())
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
