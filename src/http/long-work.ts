/**
 * Requests that take long: with a long body, or about a large object. What these become takes tens of milliseconds of
 * the main thread and many times its bytes of memory, in slices (`turns.ts`). Forty at once would each get every
 * fortieth slice, keep their seats for as long, and have all other requests of their level wait for one. So they have
 * places (`places.ts`); those that find none wait, without seats and before anything is made of what they sent.
 *
 * A wait ends with the client, and by a deadline. Requests of an exempt level have a place at once.
 */
import { andThen, type Eventual } from '../base/eventual.ts'
import { Link, LinkedList } from '../base/linked-list.ts'
import type { Sweeper } from '../base/sweeper.ts'
import type { Slice, Turns } from '../base/turns.ts'
import { tooManyRequests } from '../kube/status-error.ts'
import { readerLeft } from '../registry/errors.ts'
import type { ApiRequest, HeldSeat, RequestContext } from './api.ts'
import { flowOfCaller } from './flow-of.ts'
import type { Incidents } from './incidents.ts'
import { type PlaceAsked, Places } from './places.ts'
import { beginRequestSlice } from './request-slice.ts'
import { awaitOutside } from './seats.ts'

export interface LongWorkOptions {
  readonly turns: Turns
  readonly sweeper: Sweeper
  readonly incidents: Pick<Incidents, 'happened'>
  /** For how long a request waits for its place. */
  readonly waitMs: number
}

export class LongWork {
  readonly #options: LongWorkOptions
  readonly #places = new Places<Waiting>()
  /** In the order in which they came. */
  readonly #waiting = new LinkedList<Waiting>()

  constructor(options: LongWorkOptions) {
    this.#options = options
    options.sweeper.add((nowMs) => {
      for (const waiting of this.#waiting) {
        if (nowMs - waiting.sinceMs < options.waitMs) break
        options.incidents.happened('long_work_deadline', waiting.place.flow)
        waiting.refuse(tooManyRequests('Too many requests, please try again later.', 1))
      }
      return !this.#waiting.isEmpty
    })
  }

  /**
   * The slice of the request, when it is its turn. Its place ends with `context.longPlace`.
   * @throws StatusError TooManyRequests, also when it has waited too long; Timeout when the client has left
   */
  begin(request: ApiRequest, context: RequestContext): Eventual<Slice> {
    if (context.slice !== undefined) return context.slice
    return andThen(this.#place(request, context), () =>
      andThen(beginRequestSlice(this.#options.turns, request, context), (slice) => {
        context.slice = slice
        return slice
      }),
    )
  }

  #place(request: ApiRequest, context: RequestContext): Eventual<void> {
    const level = context.flow?.level
    if (level?.isExempt) return
    const flow = flowOfCaller(context.user.username, request.remoteAddress)
    const place = new Place(this, { level: level?.name ?? '', flow }, request)
    context.longPlace = place
    // First: it is waited for without a seat.
    context.seats.unshift(place)
    if (!place.tryTake()) return awaitOutside(request, context, place.retake())
  }

  /** True: there was a place. */
  tryTake(asked: PlaceAsked): boolean {
    return this.#places.tryTake(asked)
  }

  /** Settles `waiting` with the place taken, or without one. */
  wait(waiting: Waiting): void {
    const { sweeper } = this.#options
    sweeper.wake()
    waiting.sinceMs = sweeper.nowMs
    this.#waiting.add(waiting)
    this.#places.queue(waiting.place, waiting)
  }

  /** It waits no longer, for whatever reason. */
  forget(waiting: Waiting): void {
    this.#waiting.remove(waiting)
    this.#places.leaveQueue(waiting.place, waiting)
  }

  release(asked: PlaceAsked): void {
    this.#places.release(asked)?.grant()
  }

  rest(asked: PlaceAsked): void {
    this.#places.rest(asked)?.grant()
  }

  resume(asked: PlaceAsked): void {
    this.#places.resume(asked)
  }
}

/** One wait of one request. */
class Waiting extends Link {
  readonly place: PlaceAsked
  sinceMs = 0
  readonly #work: LongWork
  readonly #signal: AbortSignal
  readonly #settled = Promise.withResolvers<void>()
  readonly #left = (): void => this.refuse(readerLeft())

  constructor(work: LongWork, place: PlaceAsked, signal: AbortSignal) {
    super()
    this.#work = work
    this.place = place
    this.#signal = signal
  }

  begin(): Promise<void> {
    this.#work.wait(this)
    if (this.#signal.aborted) this.#left()
    else this.#signal.addEventListener('abort', this.#left, { once: true })
    return this.#settled.promise
  }

  grant(): void {
    this.#end()
    this.#settled.resolve()
  }

  refuse(error: Error): void {
    this.#end()
    this.#settled.reject(error)
  }

  #end(): void {
    this.#work.forget(this)
    this.#signal.removeEventListener('abort', this.#left)
  }
}

/** Of one request; it has none until it is taken. */
class Place implements HeldSeat {
  readonly #work: LongWork
  readonly #asked: PlaceAsked
  readonly #request: Pick<ApiRequest, 'signal'>
  #waiting: Waiting | undefined
  #isTaken = false
  #isResting = false
  #isOver = false

  constructor(work: LongWork, asked: PlaceAsked, request: Pick<ApiRequest, 'signal'>) {
    this.#work = work
    this.#asked = asked
    this.#request = request
  }

  tryTake(): boolean {
    this.#isTaken = this.#work.tryTake(this.#asked)
    return this.#isTaken
  }

  /** @throws StatusError TooManyRequests, Timeout */
  async retake(): Promise<void> {
    if (this.#isTaken || this.#isOver || this.tryTake()) return
    this.#waiting = new Waiting(this.#work, this.#asked, this.#request.signal)
    await this.#waiting.begin()
    this.#waiting = undefined
    this.#isTaken = true
    if (this.#isOver) this.leave()
  }

  rest(): void {
    if (!this.#isTaken) return
    this.#isResting = true
    this.#work.rest(this.#asked)
  }

  resume(): void {
    if (!this.#isResting) return
    this.#isResting = false
    this.#work.resume(this.#asked)
  }

  leave(): void {
    if (!this.#isTaken) return
    this.resume()
    this.#isTaken = false
    this.#work.release(this.#asked)
  }

  /** The request is over. */
  end(): void {
    this.#isOver = true
    this.#waiting?.refuse(readerLeft())
    this.leave()
  }
}
