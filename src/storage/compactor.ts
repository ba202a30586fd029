/**
 * Keeps the history window: at most five minutes and at most 256 MiB of the past, whichever is less.
 *
 * Every few seconds it notes where the store is. What lies before the note that has become older than the window is
 * compacted; so is what exceeds the size, if the engine can tell its size. It starts knowing nothing: after a restart
 * the history found is kept for one more window. A store that rests is left alone until it moves, or until a note is
 * due.
 *
 * A store that is full keeps less: what was deleted makes room only once history no longer needs it, and no client
 * could write for the whole window.
 */
import type { Clock, Timer } from '../base/clock.ts'
import type { Revision, Storage } from './storage.ts'
import { isStorageError } from './storage.ts'

/** An engine that can tell how much history it holds. etcd cannot: there only the age counts. */
export interface HistoryGauge {
  historyBytes(): number
  /** Compacting to this revision leaves at most `sizeBytes` of history; undefined if it is no more now. */
  revisionBeyond(sizeBytes: number): Revision | undefined
}

/** As long as a watch that was cut off takes to come back, and more. */
const fullWindowMs = 10_000

export interface CompactorOptions {
  readonly storage: Storage & Partial<HistoryGauge>
  readonly clock: Clock
  /** Default 5 minutes. */
  readonly windowMs?: number
  /** Default 256 MiB. */
  readonly windowBytes?: number
  /** How often to look. Default 2 s: at full load some 50 MB are written in that time. */
  readonly intervalMs?: number
  /** Resolves once the store is beyond `revision`. Absent = it is looked at for ever, whether it moves or not. */
  readonly moved?: (revision: Revision, signal: AbortSignal) => Promise<void>
  /** Called for every failed round; the next one tries again. */
  readonly onError: (error: unknown) => void
}

/** A clock may come a rounding short of the moment that it was asked for; a look at that same moment finds nothing. */
const leastWaitMs = 1

export class Compactor implements AsyncDisposable {
  readonly #storage: Storage & Partial<HistoryGauge>
  readonly #clock: Clock
  readonly #windowMs: number
  readonly #windowBytes: number
  readonly #intervalMs: number
  readonly #moved: CompactorOptions['moved']
  readonly #onError: (error: unknown) => void
  /** Ascending in both; a revision is noted once, at the first time it was seen. */
  #notes: { readonly at: number; readonly revision: Revision }[] = []
  /** Up to here nothing is left to do. */
  #compacted: Revision = 0
  /** The last look found what the one before had found. */
  #rests = false
  #timer: Timer | undefined
  #listening: AbortController | undefined
  #round: Promise<void> | undefined
  #stopped = false

  constructor(options: CompactorOptions) {
    this.#storage = options.storage
    this.#clock = options.clock
    this.#windowMs = options.windowMs ?? 5 * 60_000
    this.#windowBytes = options.windowBytes ?? 256 * 1024 * 1024
    this.#intervalMs = options.intervalMs ?? 2000
    this.#moved = options.moved
    this.#onError = options.onError
  }

  start(): void {
    if (!this.#stopped && !this.#timer) this.#schedule()
  }

  /** Waits for a round that is under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    this.#listening?.abort()
    await this.#round
  }

  /** One look, and a compaction if something lies outside the window. */
  async run(): Promise<void> {
    const now = this.#clock.monotonic()
    const revision = await this.#storage.currentRevision()
    const moved = this.#notes.at(-1)?.revision !== revision
    if (moved) this.#notes.push({ at: now, revision })
    const target = Math.max(this.#tooOld(now), this.#storage.revisionBeyond?.(this.#windowBytes) ?? 0)
    if (target > (await this.#storage.compactedRevision())) await this.#storage.compact(target)
    this.#compacted = Math.max(this.#compacted, target)
    this.#rests = !moved
  }

  /** The newest revision that was already replaced by a newer one a window ago; 0 if none is known. */
  #tooOld(now: number): Revision {
    let passed = 0
    const windowMs = this.#windowNow()
    while (passed + 1 < this.#notes.length && (this.#notes[passed + 1]?.at ?? now) + windowMs <= now) passed++
    if (passed > 0) this.#notes = this.#notes.slice(passed)
    const oldest = this.#notes[0]
    return oldest && oldest.at + windowMs <= now ? oldest.revision : 0
  }

  #schedule(): void {
    const resting = this.#rests ? this.#notes.at(-1) : undefined
    if (resting === undefined || this.#moved === undefined) this.#lookAfter(this.#intervalMs)
    else this.#rest(resting.revision, this.#moved)
  }

  #rest(revision: Revision, moved: NonNullable<CompactorOptions['moved']>): void {
    const listening = new AbortController()
    this.#listening = listening
    const dueMs = this.#nextDueMs()
    if (dueMs !== undefined) {
      this.#lookAfter(dueMs, () => {
        listening.abort()
      })
    }
    const lookSoon = (): void => {
      if (listening.signal.aborted || this.#stopped) return
      this.#timer?.cancel()
      this.#lookAfter(this.#intervalMs)
    }
    // Whatever keeps it from telling shows when the store is asked.
    moved(revision, listening.signal).then(lookSoon, lookSoon)
  }

  /** When the next note becomes older than the window; undefined if none is left that will. */
  #nextDueMs(): number | undefined {
    const now = this.#clock.monotonic()
    // One may have become due while the compaction of the one before was under way.
    const next = this.#notes.find(({ revision }) => revision > this.#compacted)
    return next && Math.max(leastWaitMs, next.at + this.#windowNow() - now)
  }

  #windowNow(): number {
    const isFull = this.#storage.condition?.()?.writes === 'small'
    return isFull ? Math.min(this.#windowMs, fullWindowMs) : this.#windowMs
  }

  #lookAfter(ms: number, before: () => void = () => {}): void {
    this.#timer = this.#clock.after(ms, () => {
      before()
      this.#round = this.run()
        .catch((error: unknown) => {
          this.#rests = false
          if (!(this.#stopped && isStorageError(error, 'closed'))) this.#onError(error)
        })
        .then(() => {
          if (!this.#stopped) this.#schedule()
        })
    })
  }
}
