/**
 * Bounds the work: how long one request may take, and how many are worked on at once, reads and writes apart, so that a
 * flood of one can't starve the other. Watches, our own controllers and requests that wait (for a body, a revision, an
 * initializer; see `places.ts`) do not count: they hold no CPU while they wait. Nor do answers while they are sent.
 */
import { andFinally } from '../../base/eventual.ts'
import { Link, LinkedList } from '../../base/linked-list.ts'
import type { Sweeper } from '../../base/sweeper.ts'
import { timeout, tooManyRequests } from '../../kube/status-error.ts'
import { anonymousUser } from '../../kube/user.ts'
import type { ApiRequest, ApiResponse, Handler, Place, RequestContext, Stage } from '../api.ts'
import type { Incidents } from '../incidents.ts'

export interface InFlightLimits {
  readonly reads: number
  readonly writes: number
  /** Of either kind, over the address that is kept for administrators. */
  readonly reserved: number
}

/** kube-apiserver's defaults. */
export const defaultInFlightLimits: InFlightLimits = { reads: 400, writes: 200, reserved: 20 }

/** Requests without credentials share these few places, so that they can't take the places of known users. */
export const maxAnonymousInFlight = 40

export function limitAnonymous(limit: number = maxAnonymousInFlight): Stage {
  const places = new Places(limit, 'Too many requests without credentials are being worked on, please try again later.')
  return (next) => {
    const counted = inPlace(next, places)
    return (request, context) =>
      context.user.username === anonymousUser.username ? counted(request, context) : next(request, context)
  }
}

export function limitInFlight(limits: InFlightLimits): Stage {
  const busy = 'The server is busy: too many requests are being worked on, please try again later.'
  const reads = new Places(limits.reads, busy)
  const writes = new Places(limits.writes, busy)
  const reserved = new Places(limits.reserved, busy)
  return (next) => {
    const reading = inPlace(next, reads)
    const writing = inPlace(next, writes)
    const reservedly = inPlace(next, reserved)
    return (request, context) => {
      if (request.localUser !== undefined || context.info.verb === 'watch') return next(request, context)
      if (request.reserved) return reservedly(request, context)
      return request.method === 'GET' || request.method === 'HEAD'
        ? reading(request, context)
        : writing(request, context)
    }
  }
}

/** A number of places, and how many of them are taken. */
class Places {
  readonly #limit: number
  readonly #refusal: string
  #taken = 0

  constructor(limit: number, refusal: string) {
    this.#limit = limit
    this.#refusal = refusal
  }

  /** @throws StatusError TooManyRequests */
  take(): void {
    if (this.#taken >= this.#limit) throw tooManyRequests(this.#refusal, 1)
    this.#taken++
  }

  give(): void {
    this.#taken--
  }
}

class TakenPlace implements Place {
  readonly #places: Places
  #isTaken = true

  constructor(places: Places) {
    places.take()
    this.#places = places
  }

  leave(): void {
    if (!this.#isTaken) return
    this.#isTaken = false
    this.#places.give()
  }

  retake(): void {
    if (this.#isTaken) return
    this.#places.take()
    this.#isTaken = true
  }
}

function inPlace(next: Handler, places: Places): Handler {
  return (request, context) => {
    const place = new TakenPlace(places)
    context.places.push(place)
    return andFinally(
      () => next(request, context),
      () => place.leave(),
    )
  }
}

export interface TimeLimit {
  readonly handlerMs: number
  readonly sweeper: Sweeper
  readonly incidents: Incidents
}

/**
 * As kube-apiserver's timeout filter: 504, and nothing waits for the work that still goes on. The request may have been
 * carried out or not, as after any lost answer.
 *
 * The time runs while the request holds its place: not while its body comes in or it is held for an initializer, which
 * have deadlines of their own, and not for watches.
 */
export function limitTime({ handlerMs, sweeper, incidents }: TimeLimit): Stage {
  const underWay = new LinkedList<Work>()
  sweeper.add((nowMs) => {
    for (const work of underWay) {
      if (nowMs - work.sinceMs < handlerMs) continue
      incidents.happened('handler_deadline', work.flow)
      work.expire()
    }
    return !underWay.isEmpty
  })
  return (next) => (request, context) => {
    if (request.localUser !== undefined || context.info.verb === 'watch') return next(request, context)
    const work = new Work(underWay, sweeper, request, context)
    context.places.push(work)
    const answer = next(request, context)
    return answer instanceof Promise ? work.follow(answer) : answer
  }
}

class Work extends Link implements Place {
  readonly #underWay: LinkedList<Work>
  readonly #sweeper: Sweeper
  readonly #request: ApiRequest
  readonly #context: RequestContext
  sinceMs = 0
  #isWaiting = false
  #reject: ((error: unknown) => void) | undefined

  constructor(underWay: LinkedList<Work>, sweeper: Sweeper, request: ApiRequest, context: RequestContext) {
    super()
    this.#underWay = underWay
    this.#sweeper = sweeper
    this.#request = request
    this.#context = context
  }

  get flow(): string {
    return `user ${this.#context.user.username}`
  }

  leave(): void {
    this.#isWaiting = true
    this.#underWay.remove(this)
  }

  retake(): void {
    this.#isWaiting = false
    this.#begin()
  }

  follow(answer: Promise<ApiResponse>): Promise<ApiResponse> {
    if (!this.#isWaiting) this.#begin()
    return new Promise((resolve, reject) => {
      this.#reject = reject
      answer.then(
        (response) => {
          this.#underWay.remove(this)
          resolve(response)
        },
        (error: unknown) => {
          this.#underWay.remove(this)
          reject(error)
        },
      )
    })
  }

  expire(): void {
    this.#underWay.remove(this)
    this.#request.abandon?.()
    this.#reject?.(timeout('request did not complete within the allotted timeout', {}))
  }

  #begin(): void {
    this.#sweeper.wake()
    this.sinceMs = this.#sweeper.nowMs
    this.#underWay.add(this)
  }
}
