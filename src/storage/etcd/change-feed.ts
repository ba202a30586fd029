/**
 * One watch of etcd for all watches of a `Storage`.
 *
 *   etcd ──► live stream ──► recent changes (a window in memory) ──► WatchHub ──► every watch
 *                                      ▲
 *   etcd ──► catch-up stream ──────────┘ or straight to one watch that begins further back
 *
 * The live stream begins with the first watch and goes on until the end; when it breaks it is resumed after the last
 * complete commit, noticed only as a delay. If etcd has compacted what is missing, every watch ends with
 * `compacted` and the feed starts anew.
 *
 * Progress: an event at revision r proves that everything up to r has been seen. When a reader must learn of a revision
 * that brings no event of ours (another application's key), a write to our barrier key makes one. etcd has a request
 * for that, but members before 3.4.31 and 3.5.13 may answer it ahead of the events; the barrier is right with all of
 * them.
 *
 * A member that is paused, or far behind the others, keeps its stream open and silent. So when what is awaited does not
 * come in time, the stream is given up and taken up at another member.
 */
import { untilAborted } from '../../base/aborted.ts'
import type { Clock, Timer } from '../../base/clock.ts'
import { sleep } from '../../base/clock.ts'
import type { Stream } from '../../base/stream.ts'
import { History } from '../mvcc/history.ts'
import type { WatchSource } from '../mvcc/watch-hub.ts'
import { WatchHub } from '../mvcc/watch-hub.ts'
import type { Change, ChangeBatch, Revision, Span } from '../storage.ts'
import { StorageError } from '../storage.ts'
import type { ReadChanges } from './change-reader.ts'
import { toStorageError } from './errors.ts'
import { endOf, modRevisionOf } from './record.ts'

/** How long an event may be awaited before a barrier is written to make one. */
const patienceMs = 25
const lastPatienceMs = 500
/** Recent changes kept, by their bytes, so that watches which are a little behind need no stream of their own. */
const windowBytes = 32 * 1024 * 1024
/** A watch that brings nothing for so long, though there is something to bring, is taken up elsewhere. */
const stallMs = 2_000
const firstRetryMs = 50
/** Short: without a leader etcd ends every watch, and has one again within seconds. */
const lastRetryMs = 1_000

/** What the feed needs of etcd. Revisions are etcd's. */
export interface FeedOrigin {
  /** Linearizable. */
  currentModRevision(signal: AbortSignal): Promise<number>
  /** See `readChanges`. */
  read(start: number, signal: AbortSignal): AsyncGenerator<ReadChanges>
  /** @throws StorageError code=compacted unless the store can still be read at this revision. */
  checkReadable(modRevision: number, signal: AbortSignal): Promise<void>
  writeBarrier(signal: AbortSignal): Promise<void>
}

export interface ChangeFeedOptions {
  readonly origin: FeedOrigin
  readonly clock: Clock
  /** Changes that may wait in one watch. */
  readonly watchLimit: number
  /** Hears of every fault that the feed gets over by itself. */
  readonly onFault: (error: StorageError) => void
}

export class ChangeFeed implements WatchSource, AsyncDisposable {
  readonly #origin: FeedOrigin
  readonly #clock: Clock
  readonly #watchLimit: number
  readonly #onFault: (error: StorageError) => void
  readonly #stop = new AbortController()
  #hub: WatchHub
  /** undefined until the feed knows where it begins. */
  #window: History | undefined
  #head: Revision = 0
  #compacted: Revision = 0
  /** The revision that a reader waits for. */
  #wanted: Revision = 0
  #patience: Timer | undefined
  /** Ends the live stream that is open. */
  #reading = new AbortController()
  /** When it was opened, or last brought something; on the monotonic clock. */
  #heardAt = 0
  #beginning = Promise.withResolvers<void>()
  #running: Promise<void> | undefined

  constructor(options: ChangeFeedOptions) {
    this.#origin = options.origin
    this.#clock = options.clock
    this.#watchLimit = options.watchLimit
    this.#onFault = options.onFault
    this.#hub = new WatchHub(this, this.#clock, this.#watchLimit)
  }

  /** The end of the newest commit seen. */
  get head(): Revision {
    return this.#head
  }

  watch(span: Span, after: Revision, signal: AbortSignal): Stream<ChangeBatch> {
    if (!this.#stop.signal.aborted) this.#running ??= this.#run(this.#stop.signal)
    return this.#hub.watch(span, after, signal)
  }

  /** Sees to it that watches are told of this revision soon, also if nothing is ever written again. */
  want(revision: Revision): void {
    if (!this.#window) return
    this.#wanted = Math.max(this.#wanted, revision)
    if (this.#head >= revision) this.#hub.tellProgress()
    else {
      this.#patience ??= this.#awaitEvent(
        () => this.#head < this.#wanted,
        () => {
          this.#patience = undefined
        },
        () => this.#leaveIfStalled(),
      )
    }
  }

  #leaveIfStalled(): void {
    const silentMs = this.#clock.monotonic() - this.#heardAt
    if (silentMs < stallMs) return
    this.#reading.abort(
      new StorageError('unavailable', `a watch of etcd has been silent for ${Math.round(silentMs)} ms`),
    )
  }

  /** Watches after anything older are refused from now on. */
  compact(revision: Revision): void {
    this.#compacted = Math.max(this.#compacted, revision)
    this.#window?.drop(this.#compacted, Number.POSITIVE_INFINITY)
  }

  /** For the hub: see `WatchSource`. */
  changesAfter(after: Revision, limit: number, signal: AbortSignal): readonly Change[] | Promise<readonly Change[]> {
    if (after < this.#compacted) {
      throw new StorageError('compacted', `revision ${after} is compacted, the oldest kept is ${this.#compacted}`)
    }
    const window = this.#window
    if (window && after >= window.base) return window.after(after, limit)
    return this.#fetchAfter(after, limit, signal)
  }

  async close(error: StorageError): Promise<void> {
    this.#stop.abort(error)
    this.#patience?.cancel()
    this.#hub.close(error)
    this.#beginning.promise.catch(() => undefined)
    this.#beginning.reject(error)
    await this.#running
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close(new StorageError('closed', 'the storage is closed'))
  }

  async #run(signal: AbortSignal): Promise<void> {
    let retryMs = firstRetryMs
    while (!signal.aborted) {
      try {
        if (!this.#window) this.#begin(await this.#origin.currentModRevision(signal))
        const reading = new AbortController()
        this.#reading = reading
        this.#heardAt = this.#clock.monotonic()
        const until = AbortSignal.any([signal, reading.signal])
        let resumed = false
        for await (const read of this.#origin.read(modRevisionOf(this.#head) + 1, until)) {
          this.#heardAt = this.#clock.monotonic()
          if (!resumed) await this.#checkNothingDropped(this.#head, until)
          resumed = true
          this.#take(read)
          retryMs = firstRetryMs
        }
        if (reading.signal.aborted) throw reading.signal.reason
      } catch (error) {
        if (signal.aborted) return
        const fault = toStorageError(error, 'following the changes in etcd')
        // A broken connection loses nothing. All else means that what comes next can't be read in order.
        if (fault.code !== 'unavailable') this.#startAnew(fault)
        this.#onFault(fault)
        await sleep(this.#clock, retryMs, signal)
        retryMs = Math.min(retryMs * 2, lastRetryMs)
      }
    }
  }

  #begin(modRevision: number): void {
    this.#head = endOf(modRevision)
    this.#window = new History(this.#head)
    this.#beginning.resolve()
  }

  #startAnew(fault: StorageError): void {
    this.#hub.close(fault)
    this.#hub = new WatchHub(this, this.#clock, this.#watchLimit)
    this.#window = undefined
    this.#beginning = Promise.withResolvers<void>()
  }

  #take({ changes, through }: ReadChanges): void {
    const window = this.#window
    if (!window) return
    for (const change of changes) window.append(change)
    this.#head = endOf(through)
    const surplus = window.revisionBeyond(windowBytes)
    if (surplus !== undefined) window.drop(surplus, Number.POSITIVE_INFINITY)
    this.#hub.publish(changes)
    if (this.#wanted > 0 && this.#head >= this.#wanted) {
      this.#wanted = 0
      this.#patience?.cancel()
      this.#patience = undefined
      this.#hub.tellProgress()
    }
  }

  /** Writes a barrier whenever nothing has come for a while, as long as something is awaited. */
  #awaitEvent(awaited: () => boolean, settled: () => void, waited: () => void = () => undefined): Timer {
    let waitMs = patienceMs
    let timer: Timer
    const tick = (): void => {
      if (this.#stop.signal.aborted || !awaited()) {
        settled()
        return
      }
      waited()
      this.#origin.writeBarrier(this.#stop.signal).catch((error: unknown) => {
        if (!this.#stop.signal.aborted) this.#onFault(toStorageError(error, 'writing a barrier'))
      })
      waitMs = Math.min(waitMs * 2, lastPatienceMs)
      timer = this.#clock.after(waitMs, tick)
    }
    timer = this.#clock.after(waitMs, tick)
    return { cancel: () => timer.cancel() }
  }

  async #fetchAfter(after: Revision, limit: number, signal: AbortSignal): Promise<readonly Change[]> {
    let retryMs = firstRetryMs
    for (;;) {
      await untilAborted(this.#beginning.promise, signal)
      const window = this.#window
      if (!window) continue
      try {
        if (after >= window.base) return window.after(after, limit)
        return await this.#catchUp(window, after, limit, signal)
      } catch (error) {
        signal.throwIfAborted()
        const fault = toStorageError(error, 'reading past changes from etcd')
        if (fault.code !== 'unavailable' || this.#stop.signal.aborted) throw fault
        this.#onFault(fault)
        await sleep(this.#clock, retryMs, signal)
        retryMs = Math.min(retryMs * 2, lastRetryMs)
      }
    }
  }

  /**
   * Reads from etcd what lies between `after` and the window. If it is little, the window is extended by it; if it is
   * much, the first part goes straight to the one who asked.
   */
  async #catchUp(window: History, after: Revision, limit: number, signal: AbortSignal): Promise<readonly Change[]> {
    const { base } = window
    const reading = AbortSignal.any([signal, this.#stop.signal])
    await this.#checkNothingDropped(after, reading)
    const found: Change[] = []
    let through = after
    // The base may be a revision that brought no event of ours: then only a barrier can prove that it is reached.
    const patience = this.#awaitEvent(
      () => through < base,
      () => undefined,
    )
    const first = Math.max(modRevisionOf(after + 1), 2)
    try {
      if (first <= modRevisionOf(base)) {
        for await (const read of this.#origin.read(first, reading)) {
          for (const change of read.changes) if (change.revision > after) found.push(change)
          through = endOf(read.through)
          if (through >= base || found.length >= limit) break
        }
        reading.throwIfAborted()
        await this.#checkNothingDropped(after, reading)
      } else through = base
    } finally {
      patience.cancel()
    }
    if (through < base) return found
    // Another caller may have extended the window meanwhile, or it may have moved on.
    if (window === this.#window && window.base === base) {
      window.prepend(
        found.filter(({ revision }) => revision <= base),
        after,
      )
    }
    return found.length > 0 ? found : this.changesAfter(after, limit, signal)
  }

  /**
   * What comes after `after` must still have its deletes. etcd drops those of a commit when it compacts *at* that
   * commit, although it still accepts a watch from there, so ask whether the revision before can be read.
   */
  async #checkNothingDropped(after: Revision, signal: AbortSignal): Promise<void> {
    const before = modRevisionOf(after + 1) - 1
    if (before >= 1) await this.#origin.checkReadable(before, signal)
  }
}
