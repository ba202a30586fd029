/**
 * The last acknowledged revision, kept outside of the log: SQLite drops what follows a damaged frame of its log without
 * a word, and only this tells that something is missing at the end.
 *
 * A file of two slots, written in turn, so that a write that is torn spoils the older number at most. A slot is written
 * and flushed after the commit and before its acknowledgement: the mark is never ahead of the log. The file is as large
 * at the start as it ever gets, so the flush is one of data alone.
 *
 *   per slot: 'BoroMark' | revision, 8 bytes | CRC-32 of both
 */
import { closeSync, constants, existsSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { type Revision, StorageError } from '../storage.ts'

const magic = 'BoroMark'
const slotLength = 20
/** A disk writes whole sectors: no two slots share one. */
const slotDistance = 4096
const fileLength: number = 2 * slotDistance

export class AcknowledgedMark implements Disposable {
  readonly #file: number
  #next: 0 | 1
  readonly #slot: Buffer = Buffer.alloc(slotLength)

  /** Takes the file in use, or makes it. */
  constructor(path: string, revision: Revision) {
    const isNew = !existsSync(path)
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_DSYNC, 0o600)
    this.#next = isNew || (slotOf(this.#file, 0) ?? 0) <= (slotOf(this.#file, 1) ?? 0) ? 0 : 1
    if (isNew) {
      writeSync(this.#file, Buffer.alloc(fileLength), 0, fileLength, 0)
      fsyncSync(this.#file)
    }
    this.write(revision)
  }

  /** Durable when this returns. */
  write(revision: Revision): void {
    this.#slot.write(magic, 'latin1')
    this.#slot.writeBigUInt64BE(BigInt(revision), 8)
    this.#slot.writeUInt32BE(crc32(this.#slot.subarray(0, 16)), 16)
    writeSync(this.#file, this.#slot, 0, slotLength, this.#next * slotDistance)
    this.#next = this.#next === 0 ? 1 : 0
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }
}

/** undefined: there is no such file. @throws StorageError code=corrupt */
export function readMark(path: string): Revision | undefined {
  if (!existsSync(path)) return undefined
  const file = openSync(path, 'r')
  try {
    const found = [slotOf(file, 0), slotOf(file, 1)].filter((revision) => revision !== undefined)
    if (found.length > 0) return Math.max(...found)
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
