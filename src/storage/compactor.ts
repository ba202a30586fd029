/**
 * Keeps the history window: at most five minutes and at most 256 MiB of the past, whichever is less.
 *
 * Every few seconds it notes where the store is. What lies before the note that has become older than the window is
 * compacted; so is what exceeds the size, if the engine can tell its size. It starts knowing nothing: after a restart
 * the history found is kept for one more window.
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

export interface CompactorOptions {
  readonly storage: Storage & Partial<HistoryGauge>
  readonly clock: Clock
  /** Default 5 minutes. */
  readonly windowMs?: number
  /** Default 256 MiB. */
  readonly windowBytes?: number
  /** How often to look. Default 2 s: at full load some 50 MB are written in that time. */
  readonly intervalMs?: number
  /** Called for every failed round; the next one tries again. */
  readonly onError: (error: unknown) => void
}

export class Compactor implements AsyncDisposable {
  readonly #storage: Storage & Partial<HistoryGauge>
  readonly #clock: Clock
  readonly #windowMs: number
  readonly #windowBytes: number
  readonly #intervalMs: number
  readonly #onError: (error: unknown) => void
  /** Ascending in both; a revision is noted once, at the first time it was seen. */
  #notes: { readonly at: number; readonly revision: Revision }[] = []
  #timer: Timer | undefined
  #round: Promise<void> | undefined
  #stopped = false

  constructor(options: CompactorOptions) {
    this.#storage = options.storage
    this.#clock = options.clock
    this.#windowMs = options.windowMs ?? 5 * 60_000
    this.#windowBytes = options.windowBytes ?? 256 * 1024 * 1024
    this.#intervalMs = options.intervalMs ?? 2000
    this.#onError = options.onError
  }

  start(): void {
    if (!this.#stopped && !this.#timer) this.#schedule()
  }

  /** Waits for a round that is under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#round
  }

  /** One look, and a compaction if something lies outside the window. */
  async run(): Promise<void> {
    const now = this.#clock.monotonic()
    const revision = await this.#storage.currentRevision()
    if (this.#notes.at(-1)?.revision !== revision) this.#notes.push({ at: now, revision })
    const target = Math.max(this.#tooOld(now), this.#storage.revisionBeyond?.(this.#windowBytes) ?? 0)
    if (target > (await this.#storage.compactedRevision())) await this.#storage.compact(target)
  }

  /** The newest revision that was already replaced by a newer one a window ago; 0 if none is known. */
  #tooOld(now: number): Revision {
    let passed = 0
    while (passed + 1 < this.#notes.length && (this.#notes[passed + 1]?.at ?? now) <= now - this.#windowMs) passed++
    if (passed > 0) this.#notes = this.#notes.slice(passed)
    const oldest = this.#notes[0]
    return oldest && oldest.at <= now - this.#windowMs ? oldest.revision : 0
  }

  #schedule(): void {
    this.#timer = this.#clock.after(this.#intervalMs, () => {
      this.#round = this.run()
        .catch((error: unknown) => {
          if (!(this.#stopped && isStorageError(error, 'closed'))) this.#onError(error)
        })
        .then(() => {
          if (!this.#stopped) this.#schedule()
        })
    })
  }
}
