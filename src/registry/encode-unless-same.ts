/** Whether an update changes anything, as far as the store is concerned. */
import { afterPause, andThen, type Eventual } from '../base/eventual.ts'
import { runInSlices } from '../base/resumable.ts'
import type { Slice } from '../base/turns.ts'
import { sameOwnership } from '../kube/apply/managed-fields.ts'
import { jsonEqual } from '../kube/json-value.ts'
import { parseStored, parsingStored } from '../kube/stored-form.ts'
import type { KubeObject } from '../kube/types.ts'
import type { StoredObject } from './registry.ts'
import { encodeInSlices } from './served-version.ts'
import { storedBytesOf } from './written-version.ts'

/**
 * `next` in the version that is stored. undefined = nothing changes, so nothing is written. New times in managedFields
 * alone are no change; neither is another order of keys, which can only be the case when both forms are equally long.
 */
export function encodeUnlessSame(
  next: KubeObject,
  current: StoredObject,
  slice: Slice | undefined,
): Eventual<Uint8Array | undefined> {
  const old = current.object.metadata.managedFields
  const given = next.metadata.managedFields
  const encode = (object: KubeObject): Eventual<Uint8Array> =>
    afterPause(slice, () => encodeInSlices(object, current.type, slice))
  if (old && given && given !== old && sameOwnership(given, old)) {
    const timeless = encode({ ...next, metadata: { ...next.metadata, managedFields: old } })
    return andThen(timeless, (bytes) =>
      andThen(sameState(bytes, current, slice), (same) => (same ? undefined : encode(next))),
    )
  }
  return andThen(encode(next), (bytes) =>
    andThen(sameState(bytes, current, slice), (same) => (same ? undefined : bytes)),
  )
}

function sameState(bytes: Uint8Array, current: StoredObject, slice: Slice | undefined): Eventual<boolean> {
  const before = storedBytesOf(current)
  if (bytes.byteLength !== before.byteLength) return false
  if (Buffer.compare(bytes, before) === 0) return true
  if (!hasSameBytes(bytes, before)) return false
  return afterPause(slice, () => {
    const { type, revision } = current
    const after = slice ? runInSlices(parsingStored(bytes, type, revision), slice) : parseStored(bytes, type, revision)
    return andThen(after, (object) => afterPause(slice, () => jsonEqual(object, presentForm(current, before))))
  })
}

/** In whatever order, as far as their sum tells: members in another order are the same bytes. */
function hasSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  let difference = 0
  for (let i = 0; i < a.length; i++) difference += (a[i] as number) - (b[i] as number)
  return difference === 0
}

/** To compare with: as stored, where the store holds another version than the client sees. */
const presentForm = (current: StoredObject, before: Uint8Array): KubeObject =>
  current.type.conversion?.remote ? parseStored(before, current.type, current.revision) : current.object
