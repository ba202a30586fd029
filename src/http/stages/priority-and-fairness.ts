/**
 * API priority and fairness on the path of a request: who is worked on now, who waits, who is refused. What decides is
 * `src/flowcontrol/`; here is what a request does with its seat.
 *
 * The seat is one of the request's places (`places.ts`): it is left while the request waits for something that is not
 * this server, and admitted again afterwards. It ends when the answer has been made: answers drain, and watches go on,
 * without a seat. What they take of the main thread then is charged to their flow all the same.
 *
 * Our own controllers pass by: the server's own work must not wait behind a tenant's.
 */
import { andFinally, type Eventual, isPending } from '../../base/eventual.ts'
import type { Admission, FlowControl, FlowHeaders, Refused, Seat } from '../../flowcontrol/flowcontrol.ts'
import { type StatusError, tooManyRequests } from '../../kube/status-error.ts'
import type { ApiRequest, ApiResponse, Handler, Place, RequestContext, RequestFlow, Stage } from '../api.ts'

export interface PriorityAndFairnessDeps {
  readonly flowControl: Pick<FlowControl, 'admit'>
  /** By the wall clock. */
  readonly now: () => number
}

export function priorityAndFairness({ flowControl, now }: PriorityAndFairnessDeps): Stage {
  return (next) => (request, context) => {
    const readmit = (): Eventual<Admission> => {
      const { user, info } = context
      // Received anew: how long it waited elsewhere is not held against it.
      return flowControl.admit({ user, info, receivedAtMs: now() }, request)
    }
    const admission = flowControl.admit(context, request)
    return isPending(admission)
      ? admission.then((admitted) => work(next, request, context, admitted, readmit))
      : work(next, request, context, admission, readmit)
  }
}

/** @throws StatusError TooManyRequests */
function work(
  next: Handler,
  request: ApiRequest,
  context: RequestContext,
  admission: Admission,
  readmit: () => Eventual<Admission>,
): Eventual<ApiResponse> {
  if (!admission.granted) {
    context.flow = { headers: admission.headers, charge() {} }
    throw refusalOf(admission)
  }
  const place = new SeatPlace(admission, readmit)
  context.flow = place
  context.places.push(place)
  return andFinally(
    () => next(request, context),
    () => place.leave(),
  )
}

class SeatPlace implements Place, RequestFlow {
  /** The last one, while there is none. */
  #seat: Seat
  /** For so many things at once the request waits elsewhere, or it is over. */
  #away = 0
  readonly #readmit: () => Eventual<Admission>

  constructor(seat: Seat, readmit: () => Eventual<Admission>) {
    this.#seat = seat
    this.#readmit = readmit
  }

  get headers(): FlowHeaders {
    return this.#seat.headers
  }

  charge(cpuMs: number): void {
    this.#seat.charge(cpuMs)
  }

  leave(): void {
    if (this.#away++ === 0) this.#seat.release()
  }

  /** @throws StatusError TooManyRequests */
  async retake(): Promise<void> {
    if (this.#away > 1) {
      this.#away--
      return
    }
    const admission = await this.#readmit()
    if (!admission.granted) throw refusalOf(admission)
    this.#seat = admission
    this.#away--
  }
}

/** Upstream's words: they name no object, and no other flow. */
const refusalOf = ({ retryAfterSeconds }: Refused): StatusError =>
  tooManyRequests('Too many requests, please try again later.', retryAfterSeconds)
