/**
 * Bounds how long one request may take. Watches, our own controllers and requests that wait (for a body, a revision, an
 * initializer; see `seats.ts`) are not timed: they have deadlines of their own. Nor are answers while they are sent.
 */
import { isPending } from '../../base/eventual.ts'
import { Link, LinkedList } from '../../base/linked-list.ts'
import type { Sweeper } from '../../base/sweeper.ts'
import { timeout } from '../../kube/status-error.ts'
import type { ApiRequest, ApiResponse, HeldSeat, RequestContext, Stage } from '../api.ts'
import type { Incidents } from '../incidents.ts'

export interface TimeLimit {
  readonly handlerMs: number
  readonly sweeper: Sweeper
  readonly incidents: Incidents
}

/**
 * As kube-apiserver's timeout filter: 504, and nothing waits for the work that still goes on. The request may have been
 * carried out or not, as after any lost answer.
 *
 * The time runs while the request holds its seat: not while its body comes in or it is held for an initializer, which
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
    if (context.info.verb === 'watch') return next(request, context)
    const work = new Work(underWay, sweeper, request, context)
    context.seats.push(work)
    const answer = next(request, context)
    return isPending(answer) ? work.follow(answer) : answer
  }
}

class Work extends Link implements HeldSeat {
  readonly #underWay: LinkedList<Work>
  readonly #sweeper: Sweeper
  readonly #request: ApiRequest
  readonly #context: RequestContext
  sinceMs = 0
  /** What comes back to its seat is timed from then on. */
  #hasLeft = false
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
    this.#hasLeft = true
    this.#underWay.remove(this)
  }

  retake(): void {
    this.#begin()
  }

  follow(answer: Promise<ApiResponse>): Promise<ApiResponse> {
    if (!this.#hasLeft) this.#begin()
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
