/** POST of an object. */
import { badRequest } from '../../kube/status-error.ts'
import { negotiate } from '../negotiate.ts'
import { checkWriteOptions } from './options.ts'
import { writeScope } from './target.ts'
import type { VerbDeps, VerbHandler } from './verb.ts'

export function createVerb({ registry, decoder, renderer, awaitCreated }: VerbDeps): VerbHandler {
  return async (request, context, target) => {
    const { type } = target
    const { query } = context.info
    const n = negotiate(request.headers, query, renderer.offer(type, ['table', 'partial']))
    checkWriteOptions('CreateOptions', query)
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
    const awaited = awaitCreated(stored, request, context, target)
    return renderer.object(awaited instanceof Promise ? await awaited : awaited, n, query, 201)
  }
}
