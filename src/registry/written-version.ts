/** What a write made, or left, as the registry answers it: create, update and delete alike. */
import { encodeStored } from '../kube/stored-form.ts'
import type { Revision } from '../storage/storage.ts'
import { ObjectVersion, TypedVersion } from '../watch/stored-object.ts'
import type { RegistryParts } from './parts.ts'
import type { StoredObject, WriteScope } from './registry.ts'

/** What is kept of it: what it is shown as is another form for some types. */
export function storedBytesOf(object: StoredObject): Uint8Array {
  const { conversion } = object.type
  if (conversion === undefined || conversion.remote !== undefined) return object.storedBytes
  return encodeStored(object.object, object.type)
}

/**
 * A version that is not (or not known to be) the cache's. `bytes` are those in the store, which the writer of what was
 * created has; mostly nothing else is asked for.
 */
export function storedAs(scope: WriteScope, name: string, revision: Revision, bytes: Uint8Array): StoredObject {
  const { type, namespace } = scope
  const key = namespace === '' ? name : `${namespace}/${name}`
  return new TypedVersion(type, ObjectVersion.of(key, revision, bytes))
}

/** What was just updated. Mostly the cache's present version: then it is parsed once, for us and for watchers. */
export function committedAs(
  parts: RegistryParts,
  scope: WriteScope,
  name: string,
  revision: Revision,
  bytes: Uint8Array,
): StoredObject {
  const shown = parts.cache.type(scope.type.storageName).find(scope.namespace, name)
  return shown?.revision === revision ? shown.as(scope.type) : storedAs(scope, name, revision, bytes)
}
