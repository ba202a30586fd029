/**
 * Looks into SQLite's write-ahead log without SQLite, which takes everything after a damaged frame for remains.
 *
 * A frame's checksum goes on from that of the frame before it, which is stored there; so frames after a damaged one can
 * still be checked. Every transaction is flushed before the next one begins: where frames of a later transaction follow
 * a damaged one, that one had been flushed, and its damage is no write that was torn.
 *
 * @see https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 */
import { existsSync, readFileSync } from 'node:fs'

const headerLength = 32
const frameHeaderLength = 24
const magicLittleEndian = 0x377f0682
const magicBigEndian = 0x377f0683

interface Sum {
  readonly first: number
  readonly second: number
}

/** Transactions that follow a damaged frame, and that SQLite will therefore drop. 0: none, or there is no log. */
export function transactionsAfterDamage(path: string): number {
  if (!existsSync(path)) return 0
  const wal = readFileSync(path)
  if (wal.length < headerLength) return 0
  const view = new DataView(wal.buffer, wal.byteOffset, wal.byteLength)
  const magic = view.getUint32(0)
  // What follows a header that is none can't be told from the remains of an earlier log.
  if (magic !== magicLittleEndian && magic !== magicBigEndian) return 0
  const littleEndian = magic === magicLittleEndian
  const frameLength = frameHeaderLength + view.getUint32(8)
  if (frameLength === frameHeaderLength) return 0
  const salt = view.getBigUint64(16)
  let before: Sum = { first: view.getUint32(24), second: view.getUint32(28) }
  let damaged = false
  let committedSinceDamage = 0
  for (let at = headerLength; at + frameLength <= wal.length; at += frameLength) {
    const stored: Sum = { first: view.getUint32(at + 16), second: view.getUint32(at + 20) }
    const head = sumOf(view, at, 8, before, littleEndian)
    const sound =
      view.getBigUint64(at + 8) === salt &&
      isEqual(sumOf(view, at + frameHeaderLength, frameLength - frameHeaderLength, head, littleEndian), stored)
    if (!sound) damaged = true
    // The number of pages of the file after this transaction: only its last frame has it.
    else if (damaged && view.getUint32(at + 4) > 0) committedSinceDamage++
    before = stored
  }
  // The first of them may be the end of the transaction that is damaged itself.
  return Math.max(0, committedSinceDamage - 1)
}

function sumOf(view: DataView, from: number, length: number, start: Sum, littleEndian: boolean): Sum {
  let { first, second } = start
  for (let at = from; at < from + length; at += 8) {
    first = (first + view.getUint32(at, littleEndian) + second) >>> 0
    second = (second + view.getUint32(at + 4, littleEndian) + first) >>> 0
  }
  return { first, second }
}

const isEqual = (a: Sum, b: Sum): boolean => a.first === b.first && a.second === b.second
