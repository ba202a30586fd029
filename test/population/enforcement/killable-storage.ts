/** A store that outlives the control planes on it. A plane can be cut off in the middle of what it writes. */
import { type PendingCommit, type Storage, StorageError, type Transaction } from '../../../src/storage/storage.ts'
import { QueuedTicket } from '../../../src/storage/ticket.ts'

export interface Line {
  readonly storage: Storage
  /** So many commits still reach the store; the answer of the last one is lost, and so is all that follows. */
  cutAfter(commits: number): void
}

export function lineTo(store: Storage): Line {
  let left = Number.POSITIVE_INFINITY
  const commit = (transaction: Transaction): PendingCommit => {
    left--
    if (left > 0) return store.commit(transaction)
    if (left === 0) store.commit(transaction).done.catch(() => {})
    const ticket = new QueuedTicket(0, store, transaction)
    ticket.failed()
    const done = Promise.reject(new StorageError('unavailable', 'cut off'))
    done.catch(() => {})
    return { ticket, done }
  }
  const storage = new Proxy<Storage>(store, {
    get(target, property) {
      if (property === 'commit') return commit
      // The store stays open for the next plane.
      if (property === Symbol.asyncDispose) return async () => {}
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return {
    storage,
    cutAfter(commits) {
      left = commits
    },
  }
}
