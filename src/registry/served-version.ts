/**
 * From the stored version of an object to the version that a type serves, and back, where a conversion webhook must be
 * asked. For all other types both are immediate, and nothing is awaited.
 *
 * Inside the server a version that has not been converted is read as it is stored: its metadata is right in any version
 * but for labels and annotations. Everything that a client sees has been converted here.
 */
import { append } from '../base/append.ts'
import { andThen, type Eventual, isPending } from '../base/eventual.ts'
import { runInSlices } from '../base/resumable.ts'
import type { Slice } from '../base/turns.ts'
import type { RemoteConversion, ResourceType } from '../kube/resource-type.ts'
import { encodeStored, encodingStored, parseStored } from '../kube/stored-form.ts'
import type { KubeObject } from '../kube/types.ts'
import { type ObjectVersion, TypedVersion } from '../watch/stored-object.ts'
import type { StoredObject } from './registry.ts'

/** How a request waits for a webhook: without its seats. Absent where no client is behind it. */
export interface Waits {
  /** In which many objects are read. */
  readonly slice?: Slice | undefined
  readonly outside?: (<T>(wait: Promise<T>) => Promise<T>) | undefined
}

/** What `work` comes to, which may ask a conversion webhook of the type. */
export function whileConverting<T>(type: ResourceType, work: Eventual<T>, { outside }: Waits): Eventual<T> {
  const asks = outside !== undefined && isPending(work) && type.conversion?.remote !== undefined
  return asks ? outside(work) : work
}

/** Of what is parsed and put to a webhook in one piece. */
const versionsAtOnce = 500
const bytesAtOnce = 1024 * 1024

/** In their order. @throws StatusError */
export function toServedVersions(
  type: ResourceType,
  versions: readonly ObjectVersion[],
  waits: Waits = {},
): Eventual<readonly StoredObject[]> {
  const remote = type.conversion?.remote
  if (remote === undefined) return versions.map((v) => v.as(type))
  const partToServed = (part: readonly ObjectVersion[]): Eventual<readonly StoredObject[]> =>
    shownBy(remote, type, part, waits)
  if (endOfPart(versions, 0) >= versions.length) return partToServed(versions)
  return inParts(versions, partToServed, waits.slice)
}

function shownBy(
  remote: RemoteConversion,
  type: ResourceType,
  versions: readonly ObjectVersion[],
  waits: Waits,
): Eventual<readonly StoredObject[]> {
  const shown = remote.shown(versions.map((v) => parseStored(v.bytes, type, v.revision)))
  return andThen(whileConverting(type, shown, waits), (objects) =>
    versions.map((v, i) => new TypedVersion(type, v, objects[i])),
  )
}

async function inParts(
  versions: readonly ObjectVersion[],
  partToServed: (part: readonly ObjectVersion[]) => Eventual<readonly StoredObject[]>,
  slice: Slice | undefined,
): Promise<readonly StoredObject[]> {
  const served: StoredObject[] = []
  for (let start = 0; start < versions.length; ) {
    const end = endOfPart(versions, start)
    append(served, await partToServed(versions.slice(start, end)))
    start = end
    const pause = slice?.pause()
    if (pause !== undefined) await pause
  }
  return served
}

/** One at least. */
function endOfPart(versions: readonly ObjectVersion[], start: number): number {
  const most = Math.min(versions.length, start + versionsAtOnce)
  let end = start
  let sizeBytes = 0
  do sizeBytes += versions[end++]?.sizeBytes ?? 0
  while (end < most && sizeBytes + (versions[end]?.sizeBytes ?? 0) <= bytesAtOnce)
  return Math.min(end, versions.length)
}

export function toServedVersion(type: ResourceType, version: ObjectVersion, waits: Waits = {}): Eventual<StoredObject> {
  if (type.conversion?.remote === undefined) return version.as(type)
  return andThen(toServedVersions(type, [version], waits), ([one]) => one as StoredObject)
}

/**
 * What a write made, as a client that reads it will see it. `isStored`: it is in the store under its revision. What a
 * dry run made is not, nor is the last state of a removed object, and so neither may be remembered under it.
 */
export function convertWritten(stored: StoredObject, isStored: boolean, waits: Waits): Eventual<StoredObject> {
  if (!(stored instanceof TypedVersion) || !stored.isRaw) return stored
  const { type, version } = stored
  const remote = type.conversion?.remote
  if (isStored || remote === undefined) return toServedVersion(type, version, waits)
  const shown = remote.from(parseStored(version.bytes, type, version.revision))
  return andThen(whileConverting(type, shown, waits), (object) => new TypedVersion(type, version, object))
}

/** An object of the type in the version that is stored. @throws StatusError */
export function toStoredVersion(object: KubeObject, type: ResourceType, waits: Waits): Eventual<KubeObject> {
  const remote = type.conversion?.remote
  return remote === undefined ? object : whileConverting(type, remote.stored(object), waits)
}

/** The bytes to store, which are made in slices where there is one. @throws StatusError */
export function encodeForStorage(
  object: KubeObject,
  type: ResourceType,
  waits: Waits,
  slice: Slice | undefined,
): Eventual<Uint8Array> {
  if (type.conversion?.remote === undefined) {
    return slice === undefined ? encodeStored(object, type) : encodeInSlices(object, type, slice)
  }
  return andThen(toStoredVersion(object, type, waits), (stored) => encodeInSlices(stored, type, slice))
}

export const encodeInSlices = (
  object: KubeObject,
  type: ResourceType,
  slice: Slice | undefined,
): Eventual<Uint8Array> =>
  slice === undefined ? encodeStored(object, type) : runInSlices(encodingStored(object, type), slice)
