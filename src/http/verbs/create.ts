/** POST of an object. */
import { badRequest } from '../../kube/status-error.ts'
import type { StoredObject } from '../../registry/registry.ts'
import type { ApiRequest, RequestContext } from '../api.ts'
import { negotiate } from '../negotiate.ts'
import { checkWriteOptions } from './options.ts'
import { type Target, writeScope } from './target.ts'
import type { VerbDeps, VerbHandler } from './verb.ts'

export function createVerb({ registry, decoder, renderer, awaitCreated }: VerbDeps): VerbHandler {
  // A function of its own: an answer may wait for minutes, and what was sent must not be kept as long.
  const store = async (request: ApiRequest, context: RequestContext, target: Target): Promise<StoredObject> => {
    const { type } = target
    const object = await decoder.decodeObject(request, context, type)
    if (type.namespaced) {
      const given = object.metadata.namespace
      if (given && given !== target.namespace) {
        throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
      }
      object.metadata.namespace = target.namespace
    } else {
      delete object.metadata.namespace
    }
    const { name } = object.metadata
    if (name) context.createdName = name
    const stored = await registry.create(writeScope(request, context, target, 'CreateOptions'), object)
    context.createdName = stored.name
    return stored
  }

  return async (request, context, target) => {
    const { query } = context.info
    const n = negotiate(request.headers, query, renderer.offer(target.type, ['table', 'partial']))
    checkWriteOptions('CreateOptions', query)
    const stored = await store(request, context, target)
    return renderer.object(await awaitCreated(stored, request, context, target), n, query, 201)
  }
}
