/**
 * A storage that fails now and then, for tests of what stands on it. Which call fails is decided by a seed alone, so a
 * failure can be had again. With all rates at 0 it is transparent.
 *
 * A commit that fails *before* has not happened; one that fails *after* has, and only its caller does not know.
 * Both reject with code `unavailable`: a caller can not tell them apart, as in life.
 */
import type { Clock } from '../base/clock.ts'
import { sleep } from '../base/clock.ts'
import type { Stream } from '../base/stream.ts'
import type {
  ChangeBatch,
  Commit,
  Entry,
  OpenedState,
  PendingCommit,
  RangeOptions,
  ReadOptions,
  Revision,
  Span,
  Storage,
  Ticket,
  Transaction,
} from './storage.ts'
import { StorageError } from './storage.ts'
import { checkTransaction } from './transaction-shape.ts'

/** Probabilities from 0 to 1; absent = 0. */
export interface FaultRates {
  readonly failBeforeCommit?: number
  readonly failAfterCommit?: number
  /** The acknowledgement comes up to `maxDelayMs` late; the commit itself does not. */
  readonly delayCommit?: number
  /** Per batch, before it is delivered. */
  readonly dropWatch?: number
  /** Everything is compacted just before a watch begins. */
  readonly compactBeforeWatch?: number
}

export interface FaultyStorageOptions {
  readonly storage: Storage
  readonly clock: Clock
  readonly seed: number
  readonly rates: FaultRates
  /** Default 100. */
  readonly maxDelayMs?: number
}

export class FaultyStorage implements Storage {
  readonly #storage: Storage
  readonly #clock: Clock
  readonly #maxDelayMs: number
  readonly #random: () => number
  readonly #neverCommitted = new WeakSet<Ticket>()
  #failedTickets = 0
  /** May be changed at any time, for instance to let a test end in peace. */
  rates: FaultRates

  constructor({ storage, clock, seed, rates, maxDelayMs }: FaultyStorageOptions) {
    this.#storage = storage
    this.#clock = clock
    this.#maxDelayMs = maxDelayMs ?? 100
    this.#random = randomFrom(seed)
    this.rates = rates
  }

  get(key: string, options?: ReadOptions): ReturnType<Storage['get']> {
    return this.#storage.get(key, options)
  }

  range(span: Span, options?: RangeOptions): ReturnType<Storage['range']> {
    return this.#storage.range(span, options)
  }

  commit(transaction: Transaction): PendingCommit {
    const orphaned = this.#keysLeftByTheFailed(transaction)
    if (orphaned.length > 0) {
      checkTransaction(transaction)
      return this.#failed(this.#refuse(orphaned))
    }
    if (this.#strikes('failBeforeCommit')) {
      checkTransaction(transaction)
      return this.#failed(Promise.reject(new StorageError('unavailable', 'fault: failed before the commit')))
    }
    const { ticket, done } = this.#storage.commit(transaction)
    const failsAfter = this.#strikes('failAfterCommit')
    const delayMs = this.#strikes('delayCommit') ? this.#random() * this.#maxDelayMs : 0
    return { ticket, done: failsAfter || delayMs > 0 ? this.#spoil(done, failsAfter, delayMs) : done }
  }

  watch(span: Span, after: Revision, signal: AbortSignal): Stream<ChangeBatch> {
    const disposal = new AbortController()
    const either = AbortSignal.any([signal, disposal.signal])
    const iterator = this.#watch(span, after, either)
    return {
      [Symbol.asyncIterator]: () => iterator,
      [Symbol.asyncDispose]: async () => {
        // A generator that waits for its next batch would not hear of `return` before that came.
        disposal.abort()
        await iterator.return(undefined)
      },
    }
  }

  takeOpened(): OpenedState | undefined {
    return this.#storage.takeOpened?.()
  }

  currentRevision(): Promise<Revision> {
    return this.#storage.currentRevision()
  }

  compact(before: Revision): Promise<void> {
    return this.#storage.compact(before)
  }

  compactedRevision(): Promise<Revision> {
    return this.#storage.compactedRevision()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#storage[Symbol.asyncDispose]())
  }

  async *#watch(span: Span, after: Revision, signal: AbortSignal): AsyncGenerator<ChangeBatch> {
    if (!signal.aborted && this.#strikes('compactBeforeWatch')) {
      await this.#storage.compact(await this.#storage.currentRevision())
    }
    for await (const batch of this.#storage.watch(span, after, signal)) {
      if (this.#strikes('dropWatch')) throw new StorageError('unavailable', 'fault: the watch was dropped')
      yield batch
    }
  }

  #strikes(fault: keyof FaultRates): boolean {
    const rate = this.rates[fault] ?? 0
    return rate > 0 && this.#random() < rate
  }

  #keysLeftByTheFailed({ guards, writes }: Transaction): string[] {
    return [...guards, ...writes]
      .filter(({ expect }) => typeof expect === 'object' && this.#neverCommitted.has(expect.asLeftBy))
      .map(({ key }) => key)
  }

  #failed(done: Promise<Commit>): PendingCommit {
    const ticket = { id: -++this.#failedTickets }
    this.#neverCommitted.add(ticket)
    return { ticket, done }
  }

  async #refuse(keys: readonly string[]): Promise<Commit> {
    const current = new Map<string, Entry | undefined>()
    for (const key of keys) current.set(key, (await this.#storage.get(key)).entry)
    return { ok: false, current }
  }

  async #spoil(done: Promise<Commit>, failsAfter: boolean, delayMs: number): Promise<Commit> {
    const commit = await done
    if (delayMs > 0) await sleep(this.#clock, delayMs)
    if (failsAfter) throw new StorageError('unavailable', 'fault: failed after the commit')
    return commit
  }
}

/** Mulberry32: small, and the same everywhere. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
