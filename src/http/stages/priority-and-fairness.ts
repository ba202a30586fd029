/**
 * API priority and fairness on the path of a request: who is worked on now, who waits, who is refused. What decides is
 * `src/flowcontrol/`; here is what a request does with its seat.
 *
 * The seat is one of the request's seats (`seats.ts`): it is left while the request waits for something that is not
 * this server, and admitted again afterwards. It ends when the answer has been made: answers drain, and watches go on,
 * without a seat. What they take of the main thread then is charged to their flow all the same.
 *
 * A request with a long query has a place among those that take long before it goes on (`long-work.ts`).
 *
 * Our own controllers pass by: the server's own work must not wait behind a tenant's.
 */
import { andThen, type Eventual, isPending } from '../../base/eventual.ts'
import type { Admission, FlowControl, FlowHeaders, Refused, Seat, SeatLevel } from '../../flowcontrol/flowcontrol.ts'
import { findStatusError, type StatusError, tooManyRequests } from '../../kube/status-error.ts'
import type { ApiRequest, ApiResponse, Handler, HeldSeat, RequestContext, RequestFlow, Stage } from '../api.ts'
import { flowOfCaller } from '../flow-of.ts'
import { type LateRefusals, refuseInTime } from '../late-refusals.ts'
import type { LongWork } from '../long-work.ts'

export interface PriorityAndFairnessDeps {
  readonly flowControl: Pick<FlowControl, 'admit'>
  /** By the wall clock. */
  readonly now: () => number
  /** Work on a request that has waited for its turn begins: what the thread does from here on is its. */
  readonly began: (context: RequestContext) => void
  readonly lateRefusals: Pick<LateRefusals, 'timeOf'>
  readonly longWork: Pick<LongWork, 'begin'>
}

export function priorityAndFairness(deps: PriorityAndFairnessDeps): Stage {
  return (next) => (request, context) => {
    const admission = deps.flowControl.admit(context, request)
    if (!isPending(admission)) return work(deps, next, request, context, admission)
    return admission.then((admitted) => {
      deps.began(context)
      return work(deps, next, request, context, admitted)
    })
  }
}

/**
 * Above it a query is long work, like a long body: selectors of thousands of terms are read and put to objects in
 * slices, and requests that take turns for them would all keep their seats meanwhile.
 */
const longQueryChars = 4096

/** @throws StatusError TooManyRequests */
function work(
  deps: PriorityAndFairnessDeps,
  next: Handler,
  request: ApiRequest,
  context: RequestContext,
  admission: Admission,
): Eventual<ApiResponse> {
  if (!admission.granted) return refuse(deps, request, context, admission)
  const seat = new FlowSeat(admission, deps, request, context)
  context.flow = seat
  context.longWork = deps.longWork
  context.seats.push(seat)
  // As `andFinally`, whose functions would be made for each request.
  let answer: Eventual<ApiResponse>
  try {
    answer =
      request.query.length > longQueryChars
        ? andThen(deps.longWork.begin(request, context), () => next(request, context))
        : next(request, context)
  } catch (error) {
    return endRefused(deps, request, context, seat, error)
  }
  if (!isPending(answer)) {
    end(seat, context)
    return answer
  }
  return answer.then(
    (made) => {
      end(seat, context)
      return made
    },
    (error: unknown) => endRefused(deps, request, context, seat, error),
  )
}

function end(seat: FlowSeat, context: RequestContext): void {
  seat.leave()
  context.longPlace?.end()
}

/** @throws `error`, at once or a second late */
function endRefused(
  deps: PriorityAndFairnessDeps,
  request: ApiRequest,
  context: RequestContext,
  seat: FlowSeat,
  error: unknown,
): Eventual<never> {
  end(seat, context)
  return refuseLate(deps, request, context, error)
}

/**
 * What was refused with a seat: memory is short, or the flow has as much of it as it may. A client that asks again as
 * soon as it is told would keep the server busy with such requests alone. What it has taken is for others meanwhile.
 *
 * @throws `error`, at once or a second late
 */
function refuseLate(
  { lateRefusals }: PriorityAndFairnessDeps,
  request: ApiRequest,
  { user }: RequestContext,
  error: unknown,
): Eventual<never> {
  if (findStatusError(error)?.reason !== 'TooManyRequests') throw error
  request.account?.give(Number.POSITIVE_INFINITY)
  return refuseInTime(lateRefusals, flowOfCaller(user.username, request.remoteAddress), request, error)
}

/** @throws StatusError TooManyRequests, at once or a second late */
function refuse(
  { lateRefusals }: PriorityAndFairnessDeps,
  request: ApiRequest,
  context: RequestContext,
  refused: Refused,
): Eventual<never> {
  context.flow = { headers: refused.headers, charge() {} }
  const flow = flowOfCaller(context.user.username, request.remoteAddress)
  return refuseInTime(lateRefusals, flow, request, refusalOf(refused))
}

class FlowSeat implements HeldSeat, RequestFlow {
  /** The last one, while there is none. */
  #seat: Seat
  /** For so many things at once the request waits elsewhere, or it is over. */
  #away = 0
  readonly #deps: PriorityAndFairnessDeps
  readonly #request: ApiRequest
  readonly #context: RequestContext

  constructor(seat: Seat, deps: PriorityAndFairnessDeps, request: ApiRequest, context: RequestContext) {
    this.#seat = seat
    this.#deps = deps
    this.#request = request
    this.#context = context
  }

  get headers(): FlowHeaders {
    return this.#seat.headers
  }

  get level(): SeatLevel {
    return this.#seat.level
  }

  charge(cpuMs: number): void {
    this.#seat.charge(cpuMs)
  }

  leave(): void {
    if (this.#away++ === 0) this.#seat.release()
  }

  /** At once where there is a seat. @throws StatusError TooManyRequests */
  retake(): Eventual<void> {
    if (this.#away > 1) {
      this.#away--
      return
    }
    const { flowControl, now, began } = this.#deps
    const { user, info } = this.#context
    // Received anew: how long it waited elsewhere is not held against it.
    return andThen(flowControl.admit({ user, info, receivedAtMs: now() }, this.#request), (admission) => {
      began(this.#context)
      if (!admission.granted) throw refusalOf(admission)
      this.#seat = admission
      this.#away--
    })
  }
}

/** Upstream's words: they name no object, and no other flow. */
const refusalOf = ({ retryAfterSeconds }: Refused): StatusError =>
  tooManyRequests('Too many requests, please try again later.', retryAfterSeconds)
