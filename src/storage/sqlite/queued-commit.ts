/** A commit on its way through the writer, and who else waits for it. */
import type { AppliedWrite } from '../mvcc/versioned-store.ts'
import type { Commit, StorageError, Transaction, Write } from '../storage.ts'
import { type QueuedTicket, settle } from '../ticket.ts'

export interface QueuedCommit {
  readonly transaction: Transaction
  readonly ticket: QueuedTicket
  readonly resolve: (commit: Commit) => void
  readonly reject: (error: Error) => void
}

export interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: StorageError) => void
}

/** The expectation held, so it says what was there before. */
export function applied({ key, value, expect }: Write): AppliedWrite {
  const before = settle(key, expect)
  return { key, value, before: typeof before === 'number' ? before : undefined }
}
