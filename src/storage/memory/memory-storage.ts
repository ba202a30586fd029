/**
 * The engine that forgets: everything in memory, for tests, examples and throw-away control planes.
 *
 * Commits of one turn of the event loop are applied together, in order, in a microtask: like the durable engines, and
 * unlike a plain map, it shows no write inside the call of `commit`.
 */
import type { Clock } from '../../base/clock.ts'
import { systemClock } from '../../base/clock.ts'
import type { Stream } from '../../base/stream.ts'
import type { HistoryGauge } from '../compactor.ts'
import { VersionedStore } from '../mvcc/versioned-store.ts'
import type {
  Change,
  ChangeBatch,
  Commit,
  Entry,
  PendingCommit,
  RangeOptions,
  ReadOptions,
  Revision,
  Span,
  Storage,
  Transaction,
} from '../storage.ts'
import { endOfCommit, StorageError } from '../storage.ts'
import { checkTickets, QueuedTicket, settle } from '../ticket.ts'
import { checkTransaction } from '../transaction-shape.ts'

export interface MemoryStorageOptions {
  readonly clock?: Clock
  /** Changes that may wait in one watch before it is cut off with `overflow`. */
  readonly watchLimit?: number
}

interface Waiting {
  readonly transaction: Transaction
  readonly ticket: QueuedTicket
  readonly resolve: (commit: Commit) => void
}

export class MemoryStorage implements Storage, HistoryGauge {
  readonly #store: VersionedStore
  #waiting: Waiting[] = []
  #tickets = 0
  #closed: StorageError | undefined

  constructor(options: MemoryStorageOptions = {}) {
    this.#store = new VersionedStore({
      clock: options.clock ?? systemClock,
      watchLimit: options.watchLimit ?? 10_000,
      // Not 0: clients of Kubernetes read a resourceVersion of "0" as 'any'.
      head: endOfCommit(0),
      compacted: endOfCommit(0),
    })
  }

  get(key: string, options?: ReadOptions): ReturnType<Storage['get']> {
    return this.#store.get(key, options)
  }

  range(span: Span, options?: RangeOptions): ReturnType<Storage['range']> {
    return this.#store.range(span, options)
  }

  commit(transaction: Transaction): PendingCommit {
    checkTransaction(transaction)
    checkTickets(transaction, this)
    const ticket = new QueuedTicket(++this.#tickets, this, transaction)
    if (this.#closed) {
      ticket.failed()
      return { ticket, done: Promise.reject(this.#closed) }
    }
    const done = new Promise<Commit>((resolve) => {
      this.#waiting.push({ transaction, ticket, resolve })
    })
    if (this.#waiting.length === 1) queueMicrotask(() => this.#flush())
    return { ticket, done }
  }

  watch(span: Span, after: Revision, signal: AbortSignal): Stream<ChangeBatch> {
    return this.#store.watch(span, after, signal)
  }

  async currentRevision(): Promise<Revision> {
    return this.#store.currentRevision()
  }

  get ownRevision(): Revision {
    return this.#store.head
  }

  async compact(before: Revision): Promise<void> {
    if (this.#store.beginCompaction(before)) await this.#store.sweep()
  }

  async compactedRevision(): Promise<Revision> {
    return this.#store.compacted
  }

  historyBytes(): number {
    return this.#store.historyBytes
  }

  revisionBeyond(sizeBytes: number): Revision | undefined {
    return this.#store.revisionBeyond(sizeBytes)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#flush()
    this.#closed ??= new StorageError('closed', 'the storage is closed')
    this.#store.close(this.#closed)
  }

  #flush(): void {
    const group = this.#waiting
    this.#waiting = []
    const published: Change[] = []
    const outcomes = group.map(({ transaction, ticket }): Commit => {
      const lost = this.#lostExpectations(transaction)
      if (lost.size > 0) {
        ticket.failed()
        return { ok: false, current: lost }
      }
      const revision = endOfCommit(this.#store.head) + 1
      for (const change of this.#store.apply(revision, transaction.writes)) published.push(change)
      ticket.committed(revision)
      return { ok: true, revision }
    })
    if (published.length > 0) this.#store.publish(published)
    for (const [i, { resolve }] of group.entries()) resolve(outcomes[i] as Commit)
  }

  #lostExpectations(transaction: Transaction): Map<string, Entry | undefined> {
    const lost = new Map<string, Entry | undefined>()
    const check = (key: string, holds: boolean, entry: Entry | undefined): void => {
      if (!holds) lost.set(key, entry)
    }
    for (const { key, expect } of transaction.guards) {
      const entry = this.#store.find(key)
      check(key, settle(key, expect) === (entry?.revision ?? 'absent'), entry)
    }
    for (const { key, value, expect } of transaction.writes) {
      const entry = this.#store.find(key)
      const deletesNothing = value === undefined && entry === undefined
      check(key, !deletesNothing && settle(key, expect) === (entry?.revision ?? 'absent'), entry)
    }
    return lost
  }
}
