/**
 * What is stored must not exceed the size limit. Before a write is refused for its size, `managedFields` are given up:
 * they can be as large as the content, and the client did not send them. Not by an apply, which relies on them. The
 * same holds for the number of their values.
 * @see k8s.io/apiserver/pkg/endpoints/handlers/create.go (isTooLargeError) v0.36
 */
import { afterPause, andThen, type Eventual } from '../base/eventual.ts'
import type { Slice } from '../base/turns.ts'
import { requestHasTooManyValues, requestTooLarge } from '../kube/status-error.ts'
import type { JsonObject, JsonValue, KubeObject } from '../kube/types.ts'
import { countValues, maxValues } from '../kube/value-count.ts'
import { maxValueBytes } from '../storage/storage.ts'

/** What is shorter has no more values than may be. */
const countedFromBytes = 64 * 1024

interface EncodedObject<Bytes> {
  readonly object: KubeObject
  readonly bytes: Bytes
}

export interface HowToEncode<Bytes> {
  /** May find that there is nothing to write. */
  encode(object: KubeObject): Eventual<Bytes>
  /** By an apply, which relies on `managedFields`. */
  readonly keepsOwners: boolean
  readonly slice: Slice | undefined
}

/** @throws StatusError 413 */
export function encodeWithinLimit<Bytes extends Uint8Array | undefined>(
  object: KubeObject,
  how: HowToEncode<Bytes>,
): Eventual<EncodedObject<Bytes>> {
  const { encode, keepsOwners, slice } = how
  return andThen(encode(object), (bytes) => {
    if (bytes === undefined) return { object, bytes }
    const isTooLarge = bytes.byteLength > maxValueBytes
    if (!isTooLarge && bytes.byteLength <= countedFromBytes) return { object, bytes }
    return afterPause(slice, () => {
      const { managedFields, ...metadata } = object.metadata
      if (!isTooLarge && countValues(managedFields as JsonValue, maxValues) <= maxValues) return { object, bytes }
      if (keepsOwners || managedFields === undefined) {
        throw isTooLarge ? requestTooLarge(maxValueBytes) : requestHasTooManyValues(maxValues)
      }
      return afterPause(slice, () => encodeWithinLimit({ ...object, metadata }, { ...how, keepsOwners: true }))
    })
  })
}

/**
 * A body is bounded, and what several make of an object as well. What was larger before may stay so.
 * @throws StatusError 413
 */
export function refuseGrowth(next: KubeObject, old: KubeObject): void {
  const count = countContent(next, Number.POSITIVE_INFINITY)
  if (count > maxValues && count > countContent(old, count)) throw requestHasTooManyValues(maxValues)
}

/** Without managedFields: a client does not send most of them, and gives none of them back by sending less. */
function countContent({ metadata: { managedFields: _, ...metadata }, ...content }: KubeObject, most: number): number {
  return countValues({ ...content, metadata } as unknown as JsonObject, most)
}
