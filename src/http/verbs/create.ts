/** POST of an object. */
import { andThen, type Eventual } from '../../base/eventual.ts'
import { keepDistinctOwners } from '../../kube/metadata.ts'
import { badRequest } from '../../kube/status-error.ts'
import type { Unvalidated } from '../../kube/types.ts'
import type { StoredObject } from '../../registry/registry.ts'
import type { ApiRequest, RequestContext } from '../api.ts'
import { negotiate } from '../negotiate.ts'
import type { Target } from '../resolution.ts'
import { checkWriteOptions } from './options.ts'
import { warn, writeScope } from './target.ts'
import type { VerbDeps, VerbHandler } from './verb.ts'

export function createVerb({ registry, decoder, renderer, awaitCreated }: VerbDeps): VerbHandler {
  const storeObject = (
    object: Unvalidated,
    request: ApiRequest,
    context: RequestContext,
    target: Target,
  ): Eventual<StoredObject> => {
    const { type } = target
    if (type.namespaced) {
      const given = object.metadata.namespace
      if (given && given !== target.namespace) {
        throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
      }
      object.metadata.namespace = target.namespace
    } else {
      delete object.metadata.namespace
    }
    keepDistinctOwners(object, (text) => warn(context, text))
    const { name } = object.metadata
    if (name) context.createdName = name
    const created = registry.create(writeScope(request, context, target), object)
    return andThen(created, (stored) => {
      context.createdName = stored.name
      return stored
    })
  }
  // A function of its own: an answer may wait for minutes, and what was sent must not be kept as long.
  const store = (request: ApiRequest, context: RequestContext, target: Target): Eventual<StoredObject> =>
    andThen(decoder.decodeObject(request, context, target.type), (object) =>
      storeObject(object, request, context, target),
    )

  return (request, context, target) => {
    const { query } = context.info
    const n = negotiate(request.headers, query, renderer.offer(target.type, ['table', 'partial']))
    checkWriteOptions('CreateOptions', query)
    return andThen(store(request, context, target), (stored) =>
      andThen(awaitCreated(stored, request, context, target), (shown) => renderer.object(shown, n, query, 201)),
    )
  }
}
