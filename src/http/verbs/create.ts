/** POST of an object. */
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
  // A function of its own: an answer may wait for minutes, and what was sent must not be kept as long.
  const store = async (request: ApiRequest, context: RequestContext, target: Target): Promise<StoredObject> => {
    const object = await decoder.decodeObject(request, context, target.type)
    placeObject(object, target)
    const { name, ownerReferences } = object.metadata
    if (ownerReferences) keepDistinctOwners(object, (text) => warn(context, text))
    if (name) context.createdName = name
    const stored = await registry.create(writeScope(request, context, target), object)
    context.createdName = stored.name
    return stored
  }
  return async (request, context, target) => {
    const { query } = context.info
    const n = negotiate(request.headers, query, () => renderer.offer(target.type, ['table', 'partial']))
    if (query.size > 0) checkWriteOptions('CreateOptions', query)
    const stored = await store(request, context, target)
    // Content is never held: a namespace may be.
    const answered = target.type.namespaced ? stored : await awaitCreated(stored, request, context, target)
    return renderer.object(answered, n, query, 201, context.slice)
  }
}

/** The namespace is that of the request. @throws StatusError BadRequest */
function placeObject({ metadata }: Unvalidated, { type, namespace }: Target): void {
  if (!type.namespaced) {
    delete metadata.namespace
    return
  }
  if (metadata.namespace && metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  metadata.namespace = namespace
}
