/**
 * The durable embedded engine: a file kept by one writer thread, read by this one. In memory is the history since the
 * start; what exists is read from the file when it is asked for.
 *
 *   commit() ──► waiting ──► packed, sent ──► writer: guards, log, flush ──► outcomes ──► history, watches, `done`
 *
 * What is told, and what a read shows, is what the writer has reported as flushed, in that order: visible means
 * durable.
 * At most two groups are with the writer: while it flushes one, the next is ready; what comes meanwhile forms the one
 * after. Reads never wait for the writer, except for history from before the start, fetched when first asked for.
 *
 * A fault of the file (full, locked, failed flush) rejects the commits concerned; reads and watches go on.
 */
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { Stream } from '../../base/stream.ts'
import type { HistoryGauge } from '../compactor.ts'
import { VersionedStore } from '../mvcc/versioned-store.ts'
import type {
  Change,
  ChangeBatch,
  Commit,
  Entry,
  KeysPiece,
  OpenedState,
  PendingCommit,
  RangeOptions,
  ReadOptions,
  Revision,
  Span,
  Storage,
  StoreCondition,
  Transaction,
} from '../storage.ts'
import { endOfCommit, StorageError } from '../storage.ts'
import { checkTickets, QueuedTicket } from '../ticket.ts'
import { checkTransaction } from '../transaction-shape.ts'
import { Compactions } from './compactions.ts'
import { FilePresent } from './file-present.ts'
import { type Outcome, outcomesOf, packGroup } from './groups.ts'
import { historyOf } from './loading.ts'
import type { FromWriter, Opened, PackedHistory, PackedOutcomes, ToWriter, WriterCondition } from './messages.ts'
import { applied, type QueuedCommit, type Waiter } from './queued-commit.ts'
import { errorOf, faultOf } from './sqlite-faults.ts'
import { startWriter } from './start-writer.ts'
import { conditionOf } from './store-condition.ts'
import { usualBytes } from './store-room.ts'

export interface SqliteStorageOptions {
  /** Holds the files of the store (0700 and 0600). Created if missing. */
  readonly directory: string
  /** Outside of it: the file that remembers that a store was made there. Absent = nothing does. */
  readonly madePath?: string
  readonly clock?: Clock
  /** Changes that may wait in one watch before it is cut off with `overflow`. */
  readonly watchLimit?: number
  /** The largest size of the file; beyond it commits are refused as `full`. Absent = as large as the disk allows. */
  readonly maxFileBytes?: number
  /** Kept back for deletes, for the case that there is no room. Default 0 = nothing. */
  readonly reserveBytes?: number
  /** How long a commit waits for another program that has locked the file. Default 5 s. */
  readonly lockTimeoutMs?: number
  /** Open the store although it ends before what was acknowledged. */
  readonly acceptLoss?: boolean
  /** Told when what can be written changes. */
  readonly onCondition?: (condition: WriterCondition) => void
}

/** Groups with the writer at a time. One would leave it idle between two; more would only make groups smaller. */
const maxGroupsUnderWay = 2

export class SqliteStorage implements Storage, HistoryGauge {
  readonly openedCommitMs: number | undefined
  readonly #worker: Worker
  readonly #store: VersionedStore
  readonly #present: FilePresent
  /** All keys at the start; undefined once they were taken, or something was committed. */
  #opened: KeysPiece[] | undefined = []
  readonly #options: SqliteStorageOptions
  #waiting: QueuedCommit[] = []
  /** With the writer, in the order of their outcomes. */
  #sent: QueuedCommit[][] = []
  #sendPlanned = false
  #tickets = 0
  #settledThrough = 0
  /** The one question for older history that is under way. */
  #historyWaiter: (Waiter & { readonly base: Revision }) | undefined
  #historyStep: Promise<void> | undefined
  readonly #compactions = new Compactions()
  #failed: StorageError | undefined
  #condition: WriterCondition
  #closing: Promise<void> | undefined
  #closed: Waiter | undefined

  private constructor(worker: Worker, options: SqliteStorageOptions, opened: Opened) {
    this.openedCommitMs = opened.committedMs
    this.#worker = worker
    this.#options = options
    this.#condition = { isFull: false, broken: opened.unwritable }
    this.#present = new FilePresent(join(options.directory, 'state.db'), () => this.#store.head, this.#condition)
    this.#store = new VersionedStore({
      present: this.#present,
      clock: options.clock ?? systemClock,
      watchLimit: options.watchLimit ?? 10_000,
      head: opened.head,
      compacted: opened.compacted,
      loadHistory: (to) => this.#loadHistory(to),
    })
  }

  /**
   * Resolves when all keys were read. A store that can't be written is opened to be read.
   *
   * @throws StorageError code=locked (another process owns it), corrupt (damaged, or not a store), unavailable, full
   */
  static open(options: SqliteStorageOptions): Promise<SqliteStorage> {
    const worker = startWriter(options)
    let storage: SqliteStorage | undefined
    return new Promise<SqliteStorage>((resolve, reject) => {
      const failed = (cause: unknown): void => {
        reject(new StorageError('unavailable', `the writer of ${options.directory} failed while opening`, { cause }))
      }
      const exited = (code: number): void => failed(new Error(`it ended with code ${code}`))
      const opening = (message: FromWriter): void => {
        if (message.type === 'opened') {
          try {
            storage = new SqliteStorage(worker, options, message)
          } catch (error) {
            worker.postMessage({ type: 'close' } satisfies ToWriter)
            reject(error)
          }
        } else if (message.type === 'refused') reject(errorOf(message.fault))
        else if (message.type === 'keys' && storage) storage.#opened?.push(message)
        else if (message.type === 'loaded' && storage) {
          worker.off('message', opening)
          worker.off('error', failed)
          worker.off('exit', exited)
          storage.#begin()
          resolve(storage)
        }
      }
      worker.on('message', opening)
      worker.on('error', failed)
      worker.on('exit', exited)
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
    const refusal = this.#closing ? this.#closedError() : this.#failed
    if (refusal) {
      ticket.failed()
      return { ticket, done: Promise.reject(refusal) }
    }
    this.#opened = undefined
    const done = new Promise<Commit>((resolve, reject) => {
      this.#waiting.push({ transaction, ticket, resolve, reject })
    })
    this.#planSend()
    return { ticket, done }
  }

  watch(span: Span, after: Revision, signal: AbortSignal): Stream<ChangeBatch> {
    return this.#store.watch(span, after, signal)
  }

  takeOpened(): OpenedState | undefined {
    const pieces = this.#opened
    this.#opened = undefined
    const valueAt = (key: string, revision: Revision): Uint8Array => this.#present.valueAt(key, revision)
    const valuesIn = (span: Span): Iterable<Entry> => this.#present.entries(span)
    return pieces && { revision: this.#store.head, pieces, valueAt, valuesIn }
  }

  async currentRevision(): Promise<Revision> {
    return this.#store.currentRevision()
  }

  get ownRevision(): Revision {
    return this.#store.head
  }

  async compact(before: Revision): Promise<void> {
    if (!this.#store.beginCompaction(before)) return
    if (this.#failed) throw this.#failed
    const target = endOfCommit(before)
    const swept = this.#compactions.wait(target)
    this.#send({ type: 'compact', before: target })
    await Promise.all([swept, this.#store.sweep()])
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

  condition(): StoreCondition | undefined {
    if (this.#closing) return undefined
    const { isFull, broken } = this.#condition
    const { directory, maxFileBytes = 0, reserveBytes = 0 } = this.#options
    const most = usualBytes(maxFileBytes, reserveBytes)
    const told = conditionOf(directory, this.#present.fileRoom(), most, isFull, this.#failed?.message ?? broken)
    return { ...told, warnings: [...told.warnings, ...this.#present.unreadable()] }
  }

  /** Commits handed in before are decided first. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  #begin(): void {
    this.#worker.on('message', (message: FromWriter) => this.#receive(message))
    this.#worker.on('error', (cause) => this.#fail(cause))
    this.#worker.on('exit', (code) => this.#fail(new Error(`it ended with code ${code}`)))
    if (this.#condition.broken !== undefined) this.#options.onCondition?.(this.#condition)
  }

  async #close(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#failed) this.#sendWaiting()
    this.#store.close(this.#closedError())
    this.#present[Symbol.dispose]()
    if (this.#failed) return
    // A flush of the mark that is under way outlives the answer, and keeps its file open until the thread ends.
    const exited = new Promise((resolve) => this.#worker.once('exit', resolve))
    const { promise: closed, ...waiter } = Promise.withResolvers<void>()
    this.#closed = waiter
    this.#send({ type: 'close' })
    await Promise.all([closed, exited])
  }

  #closedError(): StorageError {
    return new StorageError('closed', 'the storage is closed')
  }

  #send(message: ToWriter, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer)
  }

  /** After this turn's microtasks, so that what a burst of callers submits travels together. */
  #planSend(): void {
    if (this.#sendPlanned || this.#sent.length >= maxGroupsUnderWay) return
    this.#sendPlanned = true
    setImmediate(() => {
      this.#sendPlanned = false
      if (this.#sent.length < maxGroupsUnderWay && !this.#failed) this.#sendWaiting()
    })
  }

  #sendWaiting(): void {
    const group = this.#waiting
    if (group.length === 0) return
    this.#waiting = []
    this.#sent.push(group)
    const packed = packGroup(group, this.#settledThrough)
    this.#send(packed, [packed.numbers.buffer, packed.values.buffer])
  }

  #receive(message: FromWriter): void {
    switch (message.type) {
      case 'outcomes':
        return this.#settle(message)
      case 'history':
        return this.#takeHistory(message)
      case 'historyFailed':
        return this.#historyWaiter?.reject(errorOf(message.fault))
      case 'compacted':
        if (message.fault) return this.#compactions.failed(errorOf(message.fault))
        return this.#compactions.reached(message.through)
      case 'closed':
        if (message.fault) this.#closed?.reject(errorOf(message.fault))
        else this.#closed?.resolve()
        this.#closed = undefined
        return
      case 'condition':
        this.#condition = message
        return this.#options.onCondition?.(message)
      case 'opened':
      case 'keys':
      case 'loaded':
      case 'refused':
        throw new Error(`the writer sent '${message.type}' after opening`)
    }
  }

  /** One message may tell the outcomes of several groups that were flushed together. */
  #settle(message: PackedOutcomes): void {
    const published: Change[] = []
    const answers: (() => void)[] = []
    let group = this.#sent[0] ?? []
    let place = 0
    for (const outcome of outcomesOf(message)) {
      const queued = group[place++] as QueuedCommit
      answers.push(this.#apply(queued, outcome, published))
      this.#settledThrough = queued.ticket.id
      if (place === group.length) {
        this.#sent.shift()
        group = this.#sent[0] ?? []
        place = 0
      }
    }
    if (published.length > 0) this.#store.publish(published)
    for (const answer of answers) answer()
    this.#planSend()
  }

  /** Takes the outcome into the memory; returns how to tell the caller, once all of the group is visible. */
  #apply({ transaction, ticket, resolve, reject }: QueuedCommit, outcome: Outcome, published: Change[]): () => void {
    switch (outcome.type) {
      case 'committed': {
        const { revision } = outcome
        for (const change of this.#store.apply(revision, transaction.writes.map(applied))) published.push(change)
        ticket.committed(revision)
        return () => resolve({ ok: true, revision })
      }
      case 'lost': {
        ticket.failed()
        const { guards, writes } = transaction
        const keys = outcome.places.map((i) => (guards[i] ?? writes[i - guards.length])?.key ?? '')
        try {
          // Now: transactions that follow in this message may change it.
          const current = new Map(keys.map((key) => [key, this.#store.find(key)]))
          return () => resolve({ ok: false, current })
        } catch (error) {
          return () => reject(errorOf(faultOf(error, this.#options.directory)))
        }
      }
      case 'fault':
        ticket.failed()
        return () => reject(outcome.error)
    }
  }

  async #loadHistory(to: Revision): Promise<void> {
    while (to < this.#store.historyBase && this.#store.historyBase > this.#store.compacted) {
      this.#historyStep ??= this.#askForHistory(this.#store.historyBase).finally(() => {
        this.#historyStep = undefined
      })
      await this.#historyStep
    }
  }

  async #askForHistory(base: Revision): Promise<void> {
    if (this.#failed) throw this.#failed
    if (this.#closing) throw this.#closedError()
    const { promise: answered, ...waiter } = Promise.withResolvers<void>()
    this.#historyWaiter = { ...waiter, base }
    this.#send({ type: 'history', base })
    await answered
  }

  #takeHistory(message: PackedHistory): void {
    const waiter = this.#historyWaiter
    try {
      // A compaction may have overtaken the question: then the answer fits nothing, and is not needed.
      if (waiter?.base === this.#store.historyBase) {
        this.#store.addHistory(historyOf(message, this.#store), message.base)
      }
      waiter?.resolve()
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      waiter?.reject(error)
    }
  }

  /** The writer is gone. What it was asked and had not answered may have happened or not. */
  #fail(cause: unknown): void {
    if (this.#failed || (this.#closing && !this.#closed)) return
    const error = new StorageError('unavailable', `the writer of ${this.#options.directory} has ended`, { cause })
    this.#failed = error
    for (const { ticket, reject } of [...this.#sent.flat(), ...this.#waiting]) {
      ticket.failed()
      reject(error)
    }
    this.#sent = []
    this.#waiting = []
    this.#historyWaiter?.reject(error)
    this.#compactions.failed(error)
    this.#closed?.reject(error)
    this.#closed = undefined
  }
}
