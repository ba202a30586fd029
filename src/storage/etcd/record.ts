/**
 * How a value lies in etcd: behind a header that holds its position in the commit, and mostly its checksum.
 *
 *   0xff | position, high byte | position, low byte | 0 | the value                 without a checksum
 *   0xff | position, high byte | position, low byte | 1 | … | the value            see `sealed-value.ts`
 *
 * etcd gives all writes of a transaction one revision; ours are unique per change (revision × 1024 + position), so the
 * position must be stored. 0xff begins no UTF-8 text: a value without a header was put there by other hands (an
 * operator's etcdctl, say) and counts as position 0. The bytes after 0xff grow with the position, so that etcd itself
 * can compare it (see `positionCompares`).
 *
 * Both forms are read. Servers before checksums refuse the second, so it is written only where the operator says that
 * none of them is left.
 */
import { parseJsonText } from '../../base/parse-json-text.ts'
import { damageNote } from '../damaged-value.ts'
import { isEncrypted } from '../encrypted-mark.ts'
import { DamagedValueError, hasHeader, headerLength, nearlyHasHeader, openValue } from '../sealed-value.ts'
import type { Entry, Revision } from '../storage.ts'
import { positionsPerCommit } from '../storage.ts'
import type { Compare, KeyValue } from './messages.ts'

const mark = 0xff
const headerBytes = 4
const objectsRoot = '/registry/'

export function recordHeader(position: number): Uint8Array {
  return Uint8Array.of(mark, position >> 8, position & 0xff, 0)
}

/** The value (copied: it must not keep a whole answer alive) and the revision of what etcd holds under a key. */
export function toEntry(key: string, kv: KeyValue): Entry {
  const revision = toRevision(kv.modRevision, positionOf(kv.value))
  return { key, value: valueOf(key, revision, kv), revision }
}

/** The value, or a note that says what is wrong with it. */
function valueOf(key: string, revision: Revision, { value, createRevision, modRevision }: KeyValue): Uint8Array {
  const damaged = (what: string): Uint8Array =>
    damageNote(`the stored value of ${key} at revision ${revision} is damaged: ${what}`)
  if (!hasHeader(value)) {
    if (nearlyHasHeader(value) && value[4] === 0xfe) return damaged('its header is not one')
    if (value[0] !== mark) return mayBeObject(key, value) ? new Uint8Array(value) : damaged('it is no object')
    if (value.length < headerBytes || value[3] !== 0 || storedPosition(value) >= positionsPerCommit) {
      return damaged('its header is not one')
    }
    return new Uint8Array(value.subarray(headerBytes))
  }
  try {
    const place = { key, revision }
    const length = headerLength(value, place)
    const bytes = new Uint8Array(value.subarray(length))
    const { previous } = openValue(place, value.subarray(0, length), bytes)
    // etcd tells of a key whether this is its first version, which the header knows too.
    if ((previous === 0) !== (createRevision === modRevision)) return damaged(`it is written as one after ${previous}`)
    return bytes
  } catch (error) {
    if (error instanceof DamagedValueError) return damageNote(error.message)
    throw error
  }
}

/** What other hands put under the key of an object has no checksum: it must be one at least, or an encrypted one. */
function mayBeObject(key: string, value: Buffer): boolean {
  if (!key.startsWith(objectsRoot) || isEncrypted(value)) return true
  try {
    const parsed: unknown = parseJsonText(value.toString('utf8'))
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
  } catch {
    return false
  }
}

function storedPosition(value: Buffer): number {
  if (value[0] !== mark) return 0
  return value.length < headerBytes ? positionsPerCommit : value.readUInt16BE(1)
}

/** As `toEntry` has it: one that is no position counts as the last. */
export const positionOf = (value: Buffer): number => Math.min(storedPosition(value), positionsPerCommit - 1)

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
