/** History as it comes from the writer, in the main thread. */
import type { VersionedStore } from '../mvcc/versioned-store.ts'
import type { Change, Entry } from '../storage.ts'
import { StorageError } from '../storage.ts'
import type { PackedHistory } from './messages.ts'

/**
 * The changes, ascending. What a change wrote is not sent: it is what the oldest known state holds, or what the next
 * change of the key replaced. That the two fit is checked on the way.
 *
 * @throws StorageError code=corrupt
 */
export function historyOf({ keys, numbers, values }: PackedHistory, store: VersionedStore): Change[] {
  const changes: Change[] = []
  const older = new Map<string, Entry | undefined>()
  let offset = 0
  for (const [i, key] of keys.entries()) {
    const revision = numbers[4 * i] as number
    const previousRevision = numbers[4 * i + 1] as number
    const end = offset + (numbers[4 * i + 2] as number)
    const deleted = numbers[4 * i + 3] === 1
    const after = older.has(key) ? older.get(key) : store.oldestKnown(key)
    if (deleted ? after !== undefined : after?.revision !== revision) {
      throw new StorageError('corrupt', `the log does not fit the state: ${key} at revision ${revision}`)
    }
    const previous =
      previousRevision === 0 ? undefined : { key, revision: previousRevision, value: values.subarray(offset, end) }
    older.set(key, previous)
    changes.push({ key, revision, value: after?.value, previous })
    offset = end
  }
  return changes.reverse()
}
