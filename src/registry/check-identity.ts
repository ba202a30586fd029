import { badRequest } from '../kube/status-error.ts'
import type { ObjectMeta } from '../kube/types.ts'
import type { WriteScope } from './registry.ts'

/** The body must name what the URL names; a namespace that it leaves out is filled in. @throws StatusError */
export function checkIdentity(scope: WriteScope, metadata: ObjectMeta): void {
  const { type, name, namespace } = scope
  if (!metadata.name) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  }
  if (metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`)
  }
  if (!type.namespaced) delete metadata.namespace
  else if (!metadata.namespace) metadata.namespace = namespace
  else if (metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
}
