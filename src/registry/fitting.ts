/**
 * What is stored must fit. Before a write is refused for its size, the note of who owns which field is given up: it can
 * be as large as the content, and the client did not send it. Not by an apply, which rests on that note.
 * @see k8s.io/apiserver/pkg/endpoints/handlers/create.go (isTooLargeError) v0.36
 */
import { andThen, type Eventual } from '../base/eventual.ts'
import { requestTooLarge } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import { maxValueBytes } from '../storage/storage.ts'

interface Fitting<Bytes> {
  readonly object: KubeObject
  readonly bytes: Bytes
}

/** `encode` may find that there is nothing to write. @throws StatusError 413 */
export function fitting<Bytes extends Uint8Array | undefined>(
  object: KubeObject,
  encode: (object: KubeObject) => Eventual<Bytes>,
  keepsOwners: boolean,
): Eventual<Fitting<Bytes>> {
  return andThen(encode(object), (bytes) => {
    if (bytes === undefined || bytes.byteLength <= maxValueBytes) return { object, bytes }
    const { managedFields, ...metadata } = object.metadata
    if (keepsOwners || managedFields === undefined) throw requestTooLarge(maxValueBytes)
    return fitting({ ...object, metadata }, encode, true)
  })
}
