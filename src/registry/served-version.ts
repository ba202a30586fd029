/**
 * From the stored version of an object to the version that a type serves, and back, where a conversion webhook must be
 * asked. For all other types both are immediate, and nothing is awaited.
 *
 * Inside the server a version that has not been converted is read as it is stored: its metadata is right in any version
 * but for labels and annotations. Everything that a client sees has been converted here.
 */
import type { ResourceType } from '../kube/resource-type.ts'
import { encodeStored, parseStored } from '../kube/stored-form.ts'
import type { KubeObject } from '../kube/types.ts'
import { type ObjectVersion, TypedVersion } from '../watch/stored-object.ts'
import type { StoredObject } from './registry.ts'

/** In their order. @throws StatusError */
export async function toServedVersions(
  type: ResourceType,
  versions: readonly ObjectVersion[],
): Promise<readonly StoredObject[]> {
  const remote = type.conversion?.remote
  if (remote === undefined) return versions.map((v) => v.as(type))
  const objects = await remote.shown(versions.map((v) => parseStored(v.bytes, type, v.revision)))
  return versions.map((v, i) => new TypedVersion(type, v, objects[i]))
}

export function toServedVersion(type: ResourceType, version: ObjectVersion): StoredObject | Promise<StoredObject> {
  if (type.conversion?.remote === undefined) return version.as(type)
  return toServedVersions(type, [version]).then(([one]) => one as StoredObject)
}

/**
 * What a write made, as a client that reads it will see it. `isStored`: it is in the store under its revision. What a
 * dry run made is not, nor is the last state of a removed object, and so neither may be remembered under it.
 */
export function convertWritten(stored: StoredObject, isStored: boolean): StoredObject | Promise<StoredObject> {
  if (!(stored instanceof TypedVersion) || !stored.isRaw) return stored
  const { type, version } = stored
  const remote = type.conversion?.remote
  if (isStored || remote === undefined) return toServedVersion(type, version)
  return remote
    .from(parseStored(version.bytes, type, version.revision))
    .then((object) => new TypedVersion(type, version, object))
}

/** The bytes to store. @throws StatusError */
export function encodeForStorage(object: KubeObject, type: ResourceType): Uint8Array | Promise<Uint8Array> {
  const remote = type.conversion?.remote
  if (remote === undefined) return encodeStored(object, type)
  return remote.stored(object).then((converted) => encodeStored(converted, type))
}
