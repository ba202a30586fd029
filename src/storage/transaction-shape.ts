/**
 * The shape every engine demands of a transaction, so that all of them refuse the same things by the same name.
 */
import { countedBytes } from './encrypted-mark.ts'
import type { Transaction } from './storage.ts'
import { maxKeyBytes, maxOperations, maxTransactionBytes, maxValueBytes, StorageError } from './storage.ts'

/**
 * @throws StorageError code=tooLarge when a limit is exceeded, code=invalid when the transaction makes no sense.
 */
export function checkTransaction(transaction: Transaction): void {
  const { guards, writes } = transaction
  const operations = guards.length + writes.length
  if (operations > maxOperations) {
    throw new StorageError(
      'tooLarge',
      `a transaction has at most ${maxOperations} operations (guards and writes), not ${operations}`,
    )
  }
  if (writes.length === 0) throw new StorageError('invalid', 'a transaction needs at least one write')
  let sizeBytes = 0
  for (const guard of guards) checkKey(guard.key)
  for (const write of writes) {
    checkKey(write.key)
    if (write.value === undefined) {
      if (write.expect === 'absent') {
        throw new StorageError('invalid', `deleting ${write.key} and expecting it to be absent contradict each other`)
      }
    } else {
      sizeBytes += write.value.byteLength
    }
  }
  if (writes.length === 1) {
    if (sizeBytes > maxValueBytes && countedBytes(transaction) > maxValueBytes) {
      throw new StorageError('tooLarge', `a value has at most ${maxValueBytes} bytes, not ${sizeBytes}`)
    }
    return
  }
  if (sizeBytes > maxTransactionBytes && countedBytes(transaction) > maxTransactionBytes) {
    throw new StorageError(
      'tooLarge',
      `the values of a transaction with several writes have at most ${maxTransactionBytes} bytes, not ${sizeBytes}`,
    )
  }
  const seen = new Set<string>()
  for (const { key } of writes) {
    if (seen.has(key)) throw new StorageError('invalid', `a transaction writes ${key} twice`)
    seen.add(key)
  }
}

function checkKey(key: string): void {
  if (key === '') throw new StorageError('invalid', 'a key must not be empty')
  // A UTF-16 unit takes at most three bytes of UTF-8, so most keys need no counting.
  if (key.length * 3 > maxKeyBytes && Buffer.byteLength(key) > maxKeyBytes) {
    throw new StorageError('tooLarge', `a key has at most ${maxKeyBytes} bytes, not ${Buffer.byteLength(key)}`)
  }
  if (!key.isWellFormed()) throw new StorageError('invalid', 'a key must be well-formed Unicode')
}

/** @throws StorageError code=invalid for a limit that is not a whole number of at least 1. */
export function checkLimit(limit: number | undefined): void {
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1)) {
    throw new StorageError('invalid', `a limit is a whole number of at least 1, not ${limit}`)
  }
}
