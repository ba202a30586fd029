/** A connection to a store on which a transaction can be stopped between what it was decided on and its commit. */
import type { Commit, PendingCommit, Storage, Transaction } from '../../src/storage/storage.ts'
import { QueuedTicket } from '../../src/storage/ticket.ts'

export interface PausedCommits {
  readonly storage: Storage
  /** Stops the next transaction that writes the key. Resolves once it is stopped, to what lets it go on. */
  pauseAt(key: string): Promise<() => void>
}

export function pausedCommits(store: Storage): PausedCommits {
  const places = new Map<string, (go: () => void) => void>()

  const pausing = (transaction: Transaction): ((go: () => void) => void) | undefined => {
    const key = transaction.writes.map((write) => write.key).find((written) => places.has(written))
    if (key === undefined) return undefined
    const stopped = places.get(key)
    places.delete(key)
    return stopped
  }

  const commit = (transaction: Transaction): PendingCommit => {
    const stopped = pausing(transaction)
    if (stopped === undefined) return store.commit(transaction)
    const gate = Promise.withResolvers<void>()
    // Nothing may stand on it meanwhile.
    const ticket = new QueuedTicket(0, store, transaction)
    ticket.failed()
    const go = async (): Promise<Commit> => {
      await gate.promise
      return store.commit(transaction).done
    }
    stopped(gate.resolve)
    return { ticket, done: go() }
  }

  const storage = new Proxy<Storage>(store, {
    get(target, property) {
      if (property === 'commit') return commit
      // The store stays open for the others.
      if (property === Symbol.asyncDispose) return async () => {}
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return {
    storage,
    pauseAt: (key) => new Promise((resolve) => void places.set(key, resolve)),
  }
}
