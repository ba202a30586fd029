/**
 * What is stored must not exceed the size limit. Before a write is refused for its size, `managedFields` are given up:
 * they can be as large as the content, and the client did not send them. Not by an apply, which relies on them.
 * @see k8s.io/apiserver/pkg/endpoints/handlers/create.go (isTooLargeError) v0.36
 */
import type { Eventual } from '../base/eventual.ts'
import { requestTooLarge } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import { maxValueBytes } from '../storage/storage.ts'

interface EncodedObject<Bytes> {
  readonly object: KubeObject
  readonly bytes: Bytes
}

/** `encode` may find that there is nothing to write. @throws StatusError 413 */
export async function encodeWithinLimit<Bytes extends Uint8Array | undefined>(
  object: KubeObject,
  encode: (object: KubeObject) => Eventual<Bytes>,
  keepsOwners: boolean,
): Promise<EncodedObject<Bytes>> {
  const bytes = await encode(object)
  if (bytes === undefined || bytes.byteLength <= maxValueBytes) return { object, bytes }
  const { managedFields, ...metadata } = object.metadata
  if (keepsOwners || managedFields === undefined) throw requestTooLarge(maxValueBytes)
  return encodeWithinLimit({ ...object, metadata }, encode, true)
}
