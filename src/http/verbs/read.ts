/** get, list */

import { andThen } from '../../base/eventual.ts'
import { parseIncludeObject } from '../../kube/tables/table.ts'
import { negotiate } from '../negotiate.ts'
import { listQuery } from './target.ts'
import type { VerbDeps, VerbHandler } from './verb.ts'

export function getVerb({ registry, renderer }: VerbDeps): VerbHandler {
  return (request, { info, caughtUp = false }, { type, namespace, name }) => {
    const n = negotiate(request.headers, info.query, renderer.offer(type, ['table', 'partial']))
    checkIncludeObject(info.query)
    const resourceVersion = info.query.get('resourceVersion')
    const found = registry.get(type, namespace, name, resourceVersion ? { resourceVersion } : { caughtUp })
    return andThen(found, (stored) => renderer.object(stored, n, info.query))
  }
}

export function listVerb({ registry, renderer, visibility }: VerbDeps): VerbHandler {
  return async (request, context, target) => {
    const { info } = context
    const n = negotiate(request.headers, info.query, renderer.offer(target.type, ['table', 'partialList']))
    checkIncludeObject(info.query)
    const query = listQuery(info.query, target.namespace, visibility(target, context))
    const page = await registry.list(target.type, { ...query, caughtUp: context.caughtUp === true })
    return renderer.list(target.type, page, n, info.query)
  }
}

/** Said before anything is read. @throws StatusError BadRequest */
export function checkIncludeObject(query: URLSearchParams): void {
  parseIncludeObject(query.get('includeObject') ?? undefined)
}
