/**
 * The header that goes with every value that leaves this process: to a file, to etcd. It says in which form the value
 * is, when it was committed, what it replaced, and carries a checksum over that, the key and the bytes; so a value that
 * was changed, or that lies under another key or at another place of the log, is recognised when it comes back.
 *
 *   offset  bytes  what
 *   0       1      0xff: begins no UTF-8 text, so no value without a header
 *   1       2      position of the write in its commit
 *   3       1      form: 1. (0: the header of etcd values before checksums, which ends here)
 *   4       1      0xfe, so that one damaged byte never makes a value with a header look like one without
 *   5       1      flags
 *   6       2      length of the header
 *   8       6      time of the commit, in ms since 1970
 *   14      8      the revision that this write replaced, 0: the key did not exist
 *   22      …      room for what later flags need: the provider and the key of an encryption
 *   last 4         CRC-32 of revision (where the flag says that it was known), key, the header up to here, the bytes
 *
 * Numbers have their high byte first. CRC-32 finds every damage of up to four bytes in a row, every one of three bits
 * up to 11 KiB, and lets one of 4 × 10⁹ others pass. It is no protection against a person who changes bytes on purpose.
 *
 * The engines add and check it below `Storage`: above it values are bare.
 */
import { crc32 } from 'node:zlib'
import { isEncrypted } from './encrypted-mark.ts'
import type { Revision } from './storage.ts'
import { positionsPerCommit } from './storage.ts'

export interface ValueHeader {
  /** Of the write in its commit. */
  readonly position: number
  /** Of the commit, by the clock of the process that wrote it. */
  readonly timeMs: number
  /** The revision that this write replaced; 0: the key did not exist. */
  readonly previous: Revision
  /** The write removed the key: there are no bytes. */
  readonly deletes: boolean
}

/** What is known of a write beside its bytes when the header is made, and when it is checked. */
export interface ValuePlace {
  readonly key: string
  /** Of the write. undefined: etcd gives it only at the commit. */
  readonly revision: Revision | undefined
}

/** The value is not what was written. The message is one line and names key and revision. */
export class DamagedValueError extends Error {
  override readonly name = 'DamagedValueError'
}

const mark = 0xff
const secondMark = 0xfe
const form = 1
export const headerBytes = 26
const flagsAt = 5
const timeAt = 8
const previousAt = 14
const checksumBytes = 4

const deletes = 0x01
const coversRevision = 0x02
/** So that a version that knows no encryption takes it for what it can't read. */
const encrypted = 0x04
const knownFlags: number = deletes | coversRevision | encrypted

/** True for bytes that begin with a header of this or a later form; damaged ones too. */
export function hasHeader(bytes: Uint8Array): boolean {
  return bytes[4] === secondMark && bytes[0] === mark
}

/** True if one damaged byte may be all that keeps these bytes from beginning with a header. */
export function nearlyHasHeader(bytes: Uint8Array): boolean {
  return !hasHeader(bytes) && bytes.byteLength >= headerBytes && (bytes[4] === secondMark || bytes[0] === mark)
}

/** The length that a header gives itself. @throws DamagedValueError for a form that this version does not know */
export function headerLength(bytes: Uint8Array, place: ValuePlace): number {
  const view = viewOf(bytes)
  if (bytes.byteLength < headerBytes || !hasHeader(bytes)) throw damaged(place, 'its header is not one')
  if (bytes[3] !== form) throw damaged(place, `its header has form ${bytes[3]}, this version reads ${form}`)
  const length = view.getUint16(6)
  if (length < headerBytes || length > bytes.byteLength) throw damaged(place, 'its header has no sound length')
  return length
}

/** Makes the header that goes with `value`. `value` undefined: of a removal. */
export function sealValue(
  { key, revision }: ValuePlace,
  { position, timeMs, previous }: Omit<ValueHeader, 'deletes'>,
  value: Uint8Array | undefined,
): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(headerBytes)
  const view = viewOf(header)
  view.setUint8(0, mark)
  view.setUint16(1, position)
  view.setUint8(3, form)
  view.setUint8(4, secondMark)
  const state = value === undefined ? deletes : isEncrypted(value) ? encrypted : 0
  view.setUint8(flagsAt, state | (revision === undefined ? 0 : coversRevision))
  view.setUint16(6, headerBytes)
  view.setUint16(timeAt, Math.floor(timeMs / 2 ** 32))
  view.setUint32(timeAt + 2, timeMs % 2 ** 32)
  setRevision(view, previousAt, previous)
  view.setUint32(headerBytes - checksumBytes, checksum(key, revision, header, value))
  return header
}

/**
 * What a header says, once it is certain that it belongs to this value at this place.
 *
 * @throws DamagedValueError
 */
export function openValue(place: ValuePlace, header: Uint8Array, value: Uint8Array | undefined): ValueHeader {
  const length = headerLength(header, place)
  if (length !== header.byteLength) throw damaged(place, 'its header has no sound length')
  const view = viewOf(header)
  const flags = header[flagsAt] as number
  const covered = (flags & coversRevision) === 0 ? undefined : place.revision
  const expected = view.getUint32(length - checksumBytes)
  const found = checksum(place.key, covered, header, value)
  if (found !== expected) {
    throw damaged(place, `its checksum is ${hex(found)}, ${hex(expected)} was written with it`)
  }
  // Only now: damaged flags are damage, not those of a later version.
  if ((flags & ~knownFlags) !== 0) {
    throw damaged(place, `it is in a form that this version does not read (flags ${flags})`)
  }
  if (((flags & deletes) !== 0) !== (value === undefined))
    throw damaged(place, 'it is not clear whether it was removed')
  const position = view.getUint16(1)
  if (position >= positionsPerCommit) throw damaged(place, `position ${position} is none`)
  return {
    position,
    timeMs: view.getUint16(timeAt) * 2 ** 32 + view.getUint32(timeAt + 2),
    previous: view.getUint32(previousAt) * 2 ** 32 + view.getUint32(previousAt + 4),
    deletes: (flags & deletes) !== 0,
  }
}

function checksum(
  key: string,
  revision: Revision | undefined,
  header: Uint8Array,
  value: Uint8Array | undefined,
): number {
  const place = crc32(`${revision ?? ''} ${key}`)
  const sum = crc32(header.subarray(0, header.byteLength - checksumBytes), place)
  return value === undefined ? sum : crc32(value, sum)
}

function setRevision(view: DataView, offset: number, revision: Revision): void {
  view.setUint32(offset, Math.floor(revision / 2 ** 32))
  view.setUint32(offset + 4, revision % 2 ** 32)
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const hex = (sum: number): string => sum.toString(16).padStart(8, '0')

const damaged = ({ key, revision }: ValuePlace, what: string): DamagedValueError =>
  new DamagedValueError(
    `the stored value of ${key}${revision === undefined ? '' : ` at revision ${revision}`} is damaged: ${what}`,
  )
