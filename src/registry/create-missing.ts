/** A PUT on a type with create-on-update, or an apply, where there is nothing: a create. */
import { conflict, isAlreadyExists, notFound } from '../kube/status-error.ts'
import { unvalidated } from '../kube/unvalidated.ts'
import { checkIdentity } from './check-identity.ts'
import { createObject } from './create.ts'
import type { RegistryParts } from './parts.ts'
import type { UpdateOptions, UpdateResult, WriteScope } from './registry.ts'

/** undefined = it exists after all, and the cache shows it. */
export async function createMissing(
  parts: RegistryParts,
  scope: WriteScope,
  options: UpdateOptions,
): Promise<UpdateResult | undefined> {
  const { type, name } = scope
  if (!options.whenMissing) throw notFound(type, name)
  const object = unvalidated(await options.whenMissing())
  checkIdentity(scope, object.metadata)
  const { uid } = object.metadata
  if (uid) {
    throw conflict(
      type,
      name,
      `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
    )
  }
  delete object.metadata.resourceVersion
  try {
    const stored = await createObject(parts, scope, object, options.ownsManagedFields)
    return { stored, created: true, removed: false }
  } catch (e) {
    if (isAlreadyExists(e)) return undefined
    throw e
  }
}
