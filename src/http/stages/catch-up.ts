/**
 * Where several processes serve one store: no request is answered by a view older than itself. What was acknowledged
 * by any of them before the request came (a binding taken away, an account, a definition, a deletion that began) holds
 * for it, in authentication, authorization, admission and discovery alike.
 *
 * Requests that come together share one question to the store, and nothing is polled: the answer is a revision, and the
 * cache tells when it is there. One process alone needs none of this: its cache shows a write before it is
 * acknowledged.
 */
import type { Stage } from '../api.ts'

/** @param refresh catches up with the store; throws what is to be answered if it can't */
export function catchUp(refresh: () => Promise<void>): Stage {
  return (next) => async (request, context) => {
    const { info } = context
    if (info.isResource || isDiscovery.test(info.path)) {
      await refresh()
      context.caughtUp = true
    }
    return next(request, context)
  }
}

/** Follows the definitions in the store; health, metrics and version do not. */
const isDiscovery = /^\/(?:apis?|openapi)(?:\/|$)/
