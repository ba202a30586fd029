/**
 * The last acknowledged revision, kept outside of the log: SQLite drops what follows a damaged frame of its log without
 * a word, and only this tells that something is missing at the end.
 *
 * A file of two slots, written in turn, so that a write that is torn spoils the older number at most. A slot is written
 * after the flush of the commit and before its acknowledgement: the mark is never ahead of the log, and whatever ends
 * the process, the system has the newest number. It is flushed soon afterwards, for all commits of that time at once: a
 * flush for each made a durable create a third slower (docs/adr/0048). So a failure of power may set it back by
 * `flushDelayMs`, and what was acknowledged in that time is watched over by the log's own checksums alone.
 *
 *   per slot: 'BoroMark' | revision, 8 bytes | CRC-32 of both
 *
 * Behind them the identity of the store (`store-identity.ts`), which earlier versions leave alone:
 *
 *   'BoroStor' | 36 bytes of ASCII | CRC-32 of both
 *
 * And in the same form, 'BoroBoot', the run of the system in which the newest mark was written.
 */
import { closeSync, constants, existsSync, fdatasync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { type Revision, StorageError } from '../storage.ts'

const magic = 'BoroMark'
const slotLength = 20
/** A disk writes whole sectors: no two slots share one. */
const slotDistance = 4096
const fileLength: number = 2 * slotDistance
const idLength = 36
const storePlace = { magic: 'BoroStor', at: fileLength }
const bootPlace = { magic: 'BoroBoot', at: fileLength + slotDistance }
type IdPlace = typeof storePlace
/** How long marks are gathered for one flush. */
const flushDelayMs = 200

export class AcknowledgedMark implements Disposable {
  readonly #file: number
  #next: 0 | 1
  readonly #slot: Buffer = Buffer.alloc(slotLength)
  #flush: NodeJS.Timeout | 'under way' | undefined
  /** Written since the flush that is under way began. */
  #isDirty = false
  #failure: Error | undefined
  #isClosed = false

  /** Takes the file in use, or makes it. `store`: the identity; undefined = the store has none yet. `boot`: the run. */
  constructor(path: string, revision: Revision, store?: string, boot?: string) {
    const isNew = !existsSync(path)
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
    this.#next = isNew || (slotOf(this.#file, 0) ?? 0) <= (slotOf(this.#file, 1) ?? 0) ? 0 : 1
    if (isNew) {
      writeSync(this.#file, Buffer.alloc(fileLength), 0, fileLength, 0)
      fsyncSync(this.#file)
    }
    this.write(revision)
    if (store !== undefined) keepId(this.#file, storePlace, store)
    if (boot !== undefined) keepId(this.#file, bootPlace, boot)
    fsyncSync(this.#file)
  }

  /** @throws Error if it could not be written, or an earlier one not flushed: then nothing may be acknowledged */
  write(revision: Revision): void {
    if (this.#failure) throw this.#failure
    this.#slot.write(magic, 'latin1')
    this.#slot.writeBigUInt64BE(BigInt(revision), 8)
    this.#slot.writeUInt32BE(crc32(this.#slot.subarray(0, 16)), 16)
    writeSync(this.#file, this.#slot, 0, slotLength, this.#next * slotDistance)
    this.#next = this.#next === 0 ? 1 : 0
    this.#isDirty = true
    this.#flush ??= setTimeout(() => this.#flushNow(), flushDelayMs)
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    // One that is under way closes the file itself.
    if (this.#flush === 'under way') return
    clearTimeout(this.#flush)
    try {
      fsyncSync(this.#file)
    } finally {
      closeSync(this.#file)
    }
  }

  #flushNow(): void {
    this.#flush = 'under way'
    this.#isDirty = false
    fdatasync(this.#file, (error) => {
      this.#flush = undefined
      if (error) this.#failure = error
      if (this.#isClosed) this[Symbol.dispose]()
      else if (this.#isDirty) this.#flush = setTimeout(() => this.#flushNow(), flushDelayMs)
    })
  }
}

/** undefined: there is no such file. @throws StorageError code=corrupt */
export function readMark(path: string): Revision | undefined {
  if (!existsSync(path)) return undefined
  const file = openSync(path, 'r')
  try {
    const newest = Math.max(slotOf(file, 0) ?? -1, slotOf(file, 1) ?? -1)
    if (newest >= 0) return newest
    throw new StorageError('corrupt', `${path} is damaged: it does not tell the last acknowledged revision`)
  } finally {
    closeSync(file)
  }
}

function slotOf(file: number, index: number): Revision | undefined {
  const slot = Buffer.alloc(slotLength)
  if (readSync(file, slot, 0, slotLength, index * slotDistance) < slotLength) return undefined
  if (slot.toString('latin1', 0, 8) !== magic || slot.readUInt32BE(16) !== crc32(slot.subarray(0, 16))) return undefined
  return Number(slot.readBigUInt64BE(8))
}

/** The identity of the store that a mark is of; undefined: it has none, or half of one. */
export const readMarkedStore = (path: string): string | undefined => readId(path, storePlace)

/** The run of the system in which a mark was written; undefined: it does not tell. */
export const readMarkedBoot = (path: string): string | undefined => readId(path, bootPlace)

function readId(path: string, place: IdPlace): string | undefined {
  if (!existsSync(path)) return undefined
  const file = openSync(path, 'r')
  try {
    return idAt(file, place)
  } finally {
    closeSync(file)
  }
}

function idAt(file: number, { magic, at }: IdPlace): string | undefined {
  const bytes = Buffer.alloc(magic.length + idLength + 4)
  if (readSync(file, bytes, 0, bytes.length, at) < bytes.length) return undefined
  const text = bytes.toString('latin1', 0, bytes.length - 4)
  const isSound = text.startsWith(magic) && bytes.readUInt32BE(bytes.length - 4) === crc32(text)
  return isSound ? text.slice(magic.length) : undefined
}

function keepId(file: number, place: IdPlace, id: string): void {
  if (idAt(file, place) === id) return
  const text = place.magic + id
  const bytes = Buffer.alloc(text.length + 4)
  bytes.write(text, 'latin1')
  bytes.writeUInt32BE(crc32(text), text.length)
  writeSync(file, bytes, 0, bytes.length, place.at)
}
