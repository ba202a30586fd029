/**
 * How a value lies in etcd: four bytes in front of it that hold its position in the commit.
 *
 *   0xff | position, high byte | position, low byte | 0 | the value
 *
 * etcd gives all writes of a transaction one revision; ours are unique per change (revision × 1024 + position), so the
 * position must be stored. 0xff begins no UTF-8 text: a value without a header was put there by other hands (an
 * operator's etcdctl, say) and counts as position 0. The bytes after 0xff grow with the position, so that etcd itself
 * can compare it (see `positionCompares`).
 */
import type { Entry, Revision } from '../storage.ts'
import { positionsPerCommit, StorageError } from '../storage.ts'
import type { Compare, KeyValue } from './messages.ts'

const mark = 0xff
const headerBytes = 4

export function recordHeader(position: number): Uint8Array {
  return Uint8Array.of(mark, position >> 8, position & 0xff, 0)
}

/** The value (copied: it must not keep a whole answer alive) and the revision of what etcd holds under a key. */
export function toEntry(key: string, kv: KeyValue): Entry {
  const { value } = kv
  const position = positionOf(key, value)
  const offset = value[0] === mark ? headerBytes : 0
  return { key, value: new Uint8Array(value.subarray(offset)), revision: toRevision(kv.modRevision, position) }
}

/** @throws StorageError code=corrupt */
export function positionOf(key: string, value: Buffer): number {
  if (value[0] !== mark) return 0
  const position = value.length < headerBytes ? positionsPerCommit : value.readUInt16BE(1)
  if (position >= positionsPerCommit || value[3] !== 0) {
    throw new StorageError('corrupt', `the value of ${key} in etcd begins like one of ours but is not`)
  }
  return position
}

/** Comparisons that hold only if the value under `rawKey` has this position. With the etcd revision, that is exact. */
export function positionCompares(rawKey: Uint8Array, position: number): readonly Compare[] {
  const below: Compare = { key: rawKey, target: 'value', result: 'less', value: positionMark(position + 1) }
  if (position === 0) return [below]
  return [{ key: rawKey, target: 'value', result: 'greater', value: positionMark(position) }, below]
}

function positionMark(position: number): Uint8Array {
  return Uint8Array.of(mark, position >> 8, position & 0xff)
}

export function toRevision(modRevision: number, position: number): Revision {
  return modRevision * positionsPerCommit + position
}

/** The end of the commit that etcd calls `modRevision`. */
export function endOf(modRevision: number): Revision {
  return toRevision(modRevision, positionsPerCommit - 1)
}

/** What etcd calls the commit of this revision. */
export function modRevisionOf(revision: Revision): number {
  return Math.floor(revision / positionsPerCommit)
}
