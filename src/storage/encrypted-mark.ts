/**
 * How an encrypted value is told from others: by what every one begins with, whatever its provider, and no value of
 * ours that is bare. Engines know no more of encryption, which stands above them.
 */
import type { Transaction } from './storage.ts'

/** As upstream's. */
export const encryptedMark = 'k8s:enc:'
export const encryptedMarkBytes: Buffer = Buffer.from(encryptedMark)

export const isEncrypted = (stored: Uint8Array): boolean => beginsWith(stored, encryptedMarkBytes)

export function beginsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  if (bytes.byteLength < prefix.byteLength || bytes[0] !== prefix[0]) return false
  return Buffer.compare(bytes.subarray(0, prefix.byteLength), prefix) === 0
}

/** How much longer than what a caller handed in: a provider's name, nonce and tag, or the envelope of a KMS plugin. */
const roomBytes = 2048

/** What of the values counts against the limits of the storage contract. */
export function countedBytes({ writes }: Pick<Transaction, 'writes'>): number {
  let bytes = 0
  for (const { value } of writes) {
    if (value !== undefined) bytes += Math.max(0, value.byteLength - (isEncrypted(value) ? roomBytes : 0))
  }
  return bytes
}
