/**
 * A digest of the set of (key, revision) pairs that exist, which a commit brings up to date at the cost of what it
 * changes: the sum, modulo 2^53, of a hash of each. A row that vanished, appeared, or has another revision is seen.
 */
import { crc32 } from 'node:zlib'
import type { Revision } from '../storage.ts'

const modulus: number = 2 ** 53

export const emptyDigest = 0

export function addPair(digest: number, key: string, revision: Revision): number {
  const hash = hashOf(key, revision)
  // The plain sum may not be exact.
  return digest >= modulus - hash ? digest - (modulus - hash) : digest + hash
}

export function removePair(digest: number, key: string, revision: Revision): number {
  const hash = hashOf(key, revision)
  return digest < hash ? digest + (modulus - hash) : digest - hash
}

/** 53 bits. */
function hashOf(key: string, revision: Revision): number {
  const keySum = crc32(key)
  const low = mix(keySum ^ mix((revision % 2 ** 32) + Math.imul(Math.floor(revision / 2 ** 32), 0x9e3779b1)))
  const high = mix(low ^ (keySum + 0x9e3779b9))
  return low * 2 ** 21 + (high >>> 11)
}

/** The finalizer of MurmurHash3: every bit of the answer depends on every bit given. */
function mix(bits: number): number {
  let mixed = bits | 0
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
