/** PUT, on the object or on a sub-resource of it. */
import { cloneJson } from '../../kube/clone-json.ts'
import { keepDistinctOwners } from '../../kube/metadata.ts'
import { badRequest, type StatusError } from '../../kube/status-error.ts'
import type { Unvalidated } from '../../kube/types.ts'
import { negotiate } from '../negotiate.ts'
import type { Target } from '../resolution.ts'
import { checkWriteOptions } from './options.ts'
import { warn, writeScope } from './target.ts'
import type { VerbDeps, VerbHandler } from './verb.ts'

export interface UpdateDeps extends VerbDeps {
  /** Types whose PUT makes what is not there. */
  readonly createsOnUpdate: (target: Target) => boolean
}

export function updateVerb(deps: UpdateDeps): VerbHandler {
  const { registry, decoder, renderer } = deps
  return async (request, context, target) => {
    const { query } = context.info
    const n = negotiate(request.headers, query, () => renderer.offer(target.type, ['table', 'partial']))
    checkWriteOptions('UpdateOptions', query)
    const object = await decoder.decodeObject(request, context, target.type)
    checkAddress(object, target)
    keepDistinctOwners(object, (text) => warn(context, text))
    const { uid } = object.metadata
    const whenMissing = async (): Promise<Unvalidated> => {
      await deps.requireCreate(context)
      return cloneJson(object)
    }
    const { stored, created } = await registry.update(writeScope(request, context, target), () => cloneJson(object), {
      ...(target.subresource === '' && deps.createsOnUpdate(target) ? { whenMissing } : {}),
      // The resourceVersion is the registry's to compare: '0' asks for no particular one.
      preconditions: uid ? { uid } : {},
    })
    return renderer.object(stored, n, query, created ? 201 : 200, context.slice)
  }
}

export const nameMissing = (name: string): StatusError =>
  badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)

/** @throws StatusError BadRequest if the body is about another object than the URL. */
export function checkAddress(object: Unvalidated, { type, namespace, name }: Target): void {
  const { metadata } = object
  if (!metadata.name) {
    throw nameMissing(name)
  }
  if (metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`)
  }
  if (!type.namespaced) {
    delete metadata.namespace
    return
  }
  if (metadata.namespace && metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  metadata.namespace = namespace
}
