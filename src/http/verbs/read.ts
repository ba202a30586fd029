/** get, list */

import { andThen } from '../../base/eventual.ts'
import { parseIncludeObject } from '../../kube/table.ts'
import type { ReadOptions } from '../../registry/registry.ts'
import type { ApiRequest, RequestContext } from '../api.ts'
import { type Negotiated, negotiate } from '../negotiate.ts'
import { requestSlice } from '../request-slice.ts'
import { awaitOutside } from '../seats.ts'
import { listQuery } from './target.ts'
import type { VerbDeps, VerbHandler } from './verb.ts'

/** An object of more bytes takes long enough, in other forms than its own, to make pauses. */
const largeBytes = 64 * 1024

export function getVerb({ registry, renderer, turns }: VerbDeps): VerbHandler {
  return (request, context, { type, namespace, name }) => {
    const { info, caughtUp = false } = context
    const n = negotiate(request.headers, info.query, () => renderer.offer(type, ['table', 'partial']))
    checkIncludeObject(info.query)
    const resourceVersion = info.query.get('resourceVersion')
    const asked = resourceVersion ? { resourceVersion } : { caughtUp }
    // Others have nothing to wait for, and a signal costs more than the rest of them.
    const mayWait = resourceVersion || type.conversion?.remote !== undefined
    const found = registry.get(type, namespace, name, mayWait ? { ...asked, ...waitingOf(request, context) } : asked)
    return andThen(found, (stored) => {
      const isLarge = stored.storedSizeBytes > largeBytes && isMade(n)
      if (!isLarge) return renderer.object(stored, n, info.query, 200)
      const begun = context.longWork?.begin(request, context) ?? requestSlice(turns, request, context)
      return andThen(begun, (slice) => renderer.object(stored, n, info.query, 200, slice))
    })
  }
}

/** In other forms than its own an object is parsed, and printed. */
const isMade = ({ view, format, pretty }: Negotiated): boolean => view !== 'object' || format !== 'json' || pretty

export function listVerb({ registry, renderer, visibility, turns }: VerbDeps): VerbHandler {
  return async (request, context, target) => {
    const { info } = context
    const n = negotiate(request.headers, info.query, () => renderer.offer(target.type, ['table', 'partialList']))
    checkIncludeObject(info.query)
    const query = listQuery(info.query, target.namespace, visibility(target, context))
    const slice = requestSlice(turns, request, context)
    const page = await registry.list(target.type, {
      ...query,
      caughtUp: context.caughtUp === true,
      slice,
      ...waitingOf(request, context),
    })
    slice.goOn()
    return renderer.list(target.type, page, n, info.query, slice, (bytes) => request.account?.charge(bytes))
  }
}

/** How a read waits for what is not there yet: without a place, and for as long as the client does. */
export const waitingOf = (
  request: ApiRequest,
  context: RequestContext,
): Required<Pick<ReadOptions, 'signal' | 'outside'>> => ({
  signal: request.signal,
  outside: (wait) => awaitOutside(request, context, wait),
})

/** Said before anything is read. @throws StatusError BadRequest */
export function checkIncludeObject(query: URLSearchParams): void {
  parseIncludeObject(query.get('includeObject') ?? undefined)
}
