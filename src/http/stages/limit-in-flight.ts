/**
 * Bounds how many requests are worked on at once, reads and writes apart, so that a flood of one can't starve the
 * other. Watches, held creates and our own controllers do not count: they hold no CPU while they wait.
 */
import { andFinally } from '../../base/eventual.ts'
import { tooManyRequests } from '../../kube/status-error.ts'
import { anonymousUser } from '../../kube/user.ts'
import type { Handler, Stage } from '../api.ts'

export interface InFlightLimits {
  readonly reads: number
  readonly writes: number
}

/** kube-apiserver's defaults. */
export const defaultInFlightLimits: InFlightLimits = { reads: 400, writes: 200 }

/**
 * Whoever shows no credentials shares these few places, so that strangers can't take the places of those who are known.
 */
export const maxAnonymousInFlight = 40

export function limitAnonymous(limit: number = maxAnonymousInFlight): Stage {
  let underWay = 0
  return (next) => {
    const counted: Handler = (request, context) => {
      if (underWay >= limit) {
        throw tooManyRequests('Too many requests without credentials are being worked on, please try again later.', 1)
      }
      underWay++
      return andFinally(
        () => next(request, context),
        () => underWay--,
      )
    }
    return (request, context) =>
      context.user.username === anonymousUser.username ? counted(request, context) : next(request, context)
  }
}

export function limitInFlight(limits: InFlightLimits): Stage {
  let reads = 0
  let writes = 0
  return (next) => (request, context) => {
    if (request.localUser !== undefined || context.info.verb === 'watch') return next(request, context)
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (isRead ? reads >= limits.reads : writes >= limits.writes) {
      throw tooManyRequests('The server is busy: too many requests are being worked on, please try again later.', 1)
    }
    if (isRead) reads++
    else writes++
    let counted = true
    context.release = () => {
      if (!counted) return
      counted = false
      if (isRead) reads--
      else writes--
    }
    return andFinally(
      () => next(request, context),
      () => context.release(),
    )
  }
}
