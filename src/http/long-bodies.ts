/**
 * Requests with long bodies, few of each flow at a time. What such a body becomes takes tens of milliseconds of the
 * main thread and many times its bytes of memory, in slices (`turns.ts`). Forty at once would each get every fortieth
 * slice, keep their seats for as long, and have all other requests of their level wait for one. So two of a flow and
 * eight in all are worked on, the flows one after the other; the others wait, without seats and before they are parsed.
 */
import type { HeldSeat } from './api.ts'

const maxOfFlow = 2
const maxInAll = 8

export class LongBodies {
  /** The first flow is served next. */
  readonly #waiting = new Map<string, (() => void)[]>()
  readonly #underWay = new Map<string, number>()
  #inAll = 0

  /** A place among those that are worked on, or a promise of one. */
  place(flow: string): LongBody {
    return new LongBody(this, flow)
  }

  /** True: there was a place. */
  tryTake(flow: string): boolean {
    const ofFlow = this.#underWay.get(flow) ?? 0
    if (this.#inAll >= maxInAll || ofFlow >= maxOfFlow) return false
    this.#inAll++
    this.#underWay.set(flow, ofFlow + 1)
    return true
  }

  /** Resolves with the place taken. */
  async take(flow: string): Promise<void> {
    if (!this.#waiting.has(flow) && this.tryTake(flow)) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const ofFlow = this.#waiting.get(flow)
    if (ofFlow === undefined) this.#waiting.set(flow, [resolve])
    else ofFlow.push(resolve)
    await promise
  }

  release(flow: string): void {
    this.#inAll--
    const left = (this.#underWay.get(flow) ?? 1) - 1
    if (left > 0) this.#underWay.set(flow, left)
    else this.#underWay.delete(flow)
    this.#serve()
  }

  #serve(): void {
    for (const [flow, ofFlow] of this.#waiting) {
      if (!this.tryTake(flow)) continue
      const next = ofFlow.shift()
      // Behind the others.
      this.#waiting.delete(flow)
      if (ofFlow.length > 0) this.#waiting.set(flow, ofFlow)
      next?.()
      return
    }
  }
}

/** The place of one request; without one until it is taken. */
export class LongBody implements HeldSeat {
  readonly #all: LongBodies
  readonly #flow: string
  #isTaken = false
  #isOver = false

  constructor(all: LongBodies, flow: string) {
    this.#all = all
    this.#flow = flow
  }

  tryTake(): boolean {
    this.#isTaken = this.#all.tryTake(this.#flow)
    return this.#isTaken
  }

  async retake(): Promise<void> {
    if (this.#isTaken || this.#isOver) return
    await this.#all.take(this.#flow)
    this.#isTaken = true
    if (this.#isOver) this.leave()
  }

  leave(): void {
    if (!this.#isTaken) return
    this.#isTaken = false
    this.#all.release(this.#flow)
  }

  /** The request is over. */
  end(): void {
    this.#isOver = true
    this.leave()
  }
}
