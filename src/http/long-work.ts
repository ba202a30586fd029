/**
 * Requests that take long: with a long body, or about a large object. What these become takes tens of milliseconds of
 * the main thread and many times its bytes of memory, in slices (`turns.ts`). Forty at once would each get every
 * fortieth slice, keep their seats for as long, and have all other requests of their level wait for one. So two of a
 * flow and eight in all are worked on, the flows one after the other; the others wait, without seats and before
 * anything is made of what they sent.
 */
import { andThen, type Eventual } from '../base/eventual.ts'
import type { Slice, Turns } from '../base/turns.ts'
import type { ApiRequest, HeldSeat, RequestContext } from './api.ts'
import { flowOfCaller } from './flow-of.ts'
import { beginRequestSlice } from './request-slice.ts'
import { awaitOutside } from './seats.ts'

const maxOfFlow = 2
const maxInAll = 8

export class LongWork {
  readonly #turns: Turns
  /** The first flow is served next. */
  readonly #waiting = new Map<string, (() => void)[]>()
  readonly #underWay = new Map<string, number>()
  #inAll = 0

  constructor(turns: Turns) {
    this.#turns = turns
  }

  /**
   * The slice of the request, when it is its turn. Its place ends with `context.longPlace`.
   * @throws StatusError TooManyRequests
   */
  begin(request: ApiRequest, context: RequestContext): Eventual<Slice> {
    if (context.slice !== undefined) return context.slice
    return andThen(this.#place(request, context), () =>
      andThen(beginRequestSlice(this.#turns, request, context), (slice) => {
        context.slice = slice
        return slice
      }),
    )
  }

  #place(request: ApiRequest, context: RequestContext): Eventual<void> {
    const flow = flowOfCaller(context.user.username, request.remoteAddress)
    const place = new Place(this, flow)
    context.longPlace = place
    // First: it is waited for without a seat.
    context.seats.unshift(place)
    if (!place.tryTake()) return awaitOutside(request, context, place.retake())
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

/** Of one request; it has none until it is taken. */
class Place implements HeldSeat {
  readonly #work: LongWork
  readonly #flow: string
  #isTaken = false
  #isOver = false

  constructor(work: LongWork, flow: string) {
    this.#work = work
    this.#flow = flow
  }

  tryTake(): boolean {
    this.#isTaken = this.#work.tryTake(this.#flow)
    return this.#isTaken
  }

  async retake(): Promise<void> {
    if (this.#isTaken || this.#isOver) return
    await this.#work.take(this.#flow)
    this.#isTaken = true
    if (this.#isOver) this.leave()
  }

  leave(): void {
    if (!this.#isTaken) return
    this.#isTaken = false
    this.#work.release(this.#flow)
  }

  /** The request is over. */
  end(): void {
    this.#isOver = true
    this.leave()
  }
}
