/**
 * The state of a store in memory, with its recent past: what every read and every watch of the embedded engines is
 * served from. It knows nothing of transactions or files: an engine tells it what has been committed.
 *
 * Keys, values and entries are shared with all readers and never copied.
 */
import { append } from '../../base/append.ts'
import type { Clock } from '../../base/clock.ts'
import { bytesLess } from '../../base/key-order.ts'
import type { Stream } from '../../base/stream.ts'
import { Turns } from '../../base/turns.ts'
import type { Change, ChangeBatch, Entry, RangeOptions, ReadOptions, Revision, Span, Storage } from '../storage.ts'
import { endOfCommit, StorageError } from '../storage.ts'
import { checkLimit } from '../transaction-shape.ts'
import { History } from './history.ts'
import { type EntryCursor, MemoryPresent, type Present } from './present.ts'
import { WatchHub } from './watch-hub.ts'

/** Changes forgotten at a stretch, before other work gets its turn: well below a millisecond each. */
const compactionStep = 500
/** Looked at in one piece for a state of the past, a few milliseconds: keys, and bytes that may have to be read. */
const keysAtOnce = 1000
const bytesAtOnce = 512 * 1024

export interface VersionedStoreOptions {
  readonly clock: Clock
  /** Changes that may wait in a watch before it is cut off. */
  readonly watchLimit: number
  /** The end of the newest commit that `entries` show. */
  readonly head: Revision
  readonly compacted: Revision
  /**
   * Fetches older history: calls `addHistory` until everything after `to` is there. Absent when the history after
   * `head` is all there is to fetch.
   */
  readonly loadHistory?: (to: Revision) => Promise<void>
  /** What exists at `head`; default: nothing, and it is kept in memory. */
  readonly present?: Present
}

/** One write of a commit, as the store needs it. */
export interface AppliedWrite {
  readonly key: string
  readonly value: Uint8Array | undefined
  /** The revision that it replaces, for a `present` that must be told; undefined = the key did not exist. */
  readonly before?: Revision | undefined
}

/** Of what a state of the past held. `more`: the limit cut some off. Else it goes on at `next`. */
interface Part {
  readonly entries: Entry[]
  readonly more: boolean
  readonly next?: string
}

export class VersionedStore {
  readonly #current: Present
  readonly #history: History
  readonly #hub: WatchHub
  readonly #loadHistory: ((to: Revision) => Promise<void>) | undefined
  readonly #turns = new Turns()
  #head: Revision
  #compacted: Revision
  #closed: StorageError | undefined

  constructor(options: VersionedStoreOptions) {
    this.#head = options.head
    this.#compacted = options.compacted
    this.#history = new History(options.head)
    this.#loadHistory = options.loadHistory
    this.#current = options.present ?? new MemoryPresent()
    this.#hub = new WatchHub(this, options.clock, options.watchLimit)
  }

  get head(): Revision {
    return this.#head
  }

  get compacted(): Revision {
    return this.#compacted
  }

  /** The start of the history that is in memory; older history may still be fetched. */
  get historyBase(): Revision {
    return this.#history.base
  }

  /** Bytes of kept history in memory, values and overhead. */
  get historyBytes(): number {
    return this.#history.sizeBytes
  }

  /** Compacting to this revision leaves at most `sizeBytes` of history; undefined if it is no more now. */
  revisionBeyond(sizeBytes: number): Revision | undefined {
    return this.#history.revisionBeyond(sizeBytes)
  }

  find(key: string): Entry | undefined {
    return this.#current.get(key)
  }

  /** Older changes, ascending; from now on everything after `base` is known. */
  addHistory(changes: readonly Change[], base: Revision): void {
    if (base < this.#history.base) this.#history.prepend(changes, base)
  }

  /** Value and revision of a key in the oldest state that is known: for an engine that fetches older history. */
  oldestKnown(key: string): Entry | undefined {
    const versions = this.#history.byKey.get(key)
    const first = versions?.changes[versions.from]
    return first ? first.previous : this.#current.get(key)
  }

  /** Takes a commit in. Its changes are visible to reads at once, to watches with `publish`. */
  apply(firstRevision: Revision, writes: readonly AppliedWrite[]): Change[] {
    const changes: Change[] = []
    for (const [position, { key, value, before }] of writes.entries()) {
      const revision = firstRevision + position
      const replaced = this.#current.put(key, value, revision, before)
      // Mostly what is replaced is young, and still at hand.
      const known = before === undefined ? undefined : this.#history.newest(key)
      const previous = known !== undefined && known.revision === before ? known : replaced
      const change: Change = { key, revision, value, previous }
      this.#history.append(change)
      changes.push(change)
    }
    this.#head = endOfCommit(firstRevision)
    return changes
  }

  publish(changes: readonly Change[]): void {
    this.#hub.publish(changes)
  }

  async get(key: string, options: ReadOptions = {}): ReturnType<Storage['get']> {
    const at = await this.#prepare(options)
    if (at === undefined) return { revision: this.#head, entry: this.#current.get(key) }
    const versions = this.#history.byKey.get(key)
    const next = versions && History.firstAfter(versions, at)
    return { revision: at, entry: next ? next.previous : this.#current.get(key) }
  }

  async range(span: Span, options: RangeOptions = {}): ReturnType<Storage['range']> {
    checkLimit(options.limit)
    const limit = options.limit ?? Number.POSITIVE_INFINITY
    const at = await this.#prepare(options)
    if (at === undefined || at === this.#head) {
      return { revision: this.#head, ...this.#current.collect(span, limit) }
    }
    return { revision: at, ...(await this.#rangeAt(span, at, limit, options.signal)) }
  }

  watch(span: Span, after: Revision, signal: AbortSignal): Stream<ChangeBatch> {
    return this.#hub.watch(span, after, signal)
  }

  currentRevision(): Revision {
    this.#check()
    this.#hub.tellProgress()
    return this.#head
  }

  /** For the hub: see `WatchSource`. */
  changesAfter(after: Revision, limit: number): readonly Change[] | Promise<readonly Change[]> {
    this.#checkCompacted(after)
    if (after < this.#history.base) return this.#fetchHistory(after).then(() => this.changesAfter(after, limit))
    return this.#history.after(after, limit)
  }

  /** Refuses older reads from now on. True if there is something to do. */
  beginCompaction(before: Revision): boolean {
    this.#check()
    const target = endOfCommit(before)
    if (target > this.#head) throw new StorageError('future', `revision ${before} is still to come`)
    if (target <= this.#compacted) return false
    this.#compacted = target
    return true
  }

  /** Frees the memory of what is compacted, in steps between which other work runs. */
  async sweep(): Promise<void> {
    while (!this.#history.drop(this.#compacted, compactionStep)) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Reads and watches end with `error`. */
  close(error: StorageError): void {
    this.#closed ??= error
    this.#hub.close(this.#closed)
  }

  /**
   * Checks that the read can be answered, and fetches what it needs. Returns the commit to read, undefined = newest.
   */
  async #prepare(options: ReadOptions): Promise<Revision | undefined> {
    options.signal?.throwIfAborted()
    this.#check()
    if (options.at === undefined) return undefined
    const at = endOfCommit(options.at)
    this.#checkReadable(at)
    if (at < this.#history.base) {
      await this.#fetchHistory(at)
      options.signal?.throwIfAborted()
      this.#check()
      this.#checkReadable(at)
    }
    return at
  }

  #checkReadable(at: Revision): void {
    if (at > this.#head)
      throw new StorageError('future', `revision ${at} is still to come, the store is at ${this.#head}`)
    this.#checkCompacted(at)
  }

  #checkCompacted(revision: Revision): void {
    if (revision < this.#compacted) {
      throw new StorageError('compacted', `revision ${revision} is compacted, the oldest kept is ${this.#compacted}`)
    }
  }

  #check(): void {
    if (this.#closed) throw this.#closed
  }

  async #fetchHistory(to: Revision): Promise<void> {
    await this.#loadHistory?.(to)
    if (to < this.#history.base && to >= this.#compacted) {
      throw new StorageError(
        'corrupt',
        `the history after revision ${to} is missing, it begins at ${this.#history.base}`,
      )
    }
  }

  /**
   * In turns: what is there now may be much, of which little was there then, and many may have waited for the same
   * history.
   */
  async #rangeAt({ start, end }: Span, at: Revision, limit: number, signal: AbortSignal | undefined): Promise<Part> {
    const slice = await this.#turns.begin()
    const entries: Entry[] = []
    for (let next: string | undefined = start; next !== undefined; ) {
      const rest: Span = { start: next, end }
      const part: Part = this.#current.walk(rest, (now) => this.#merged(rest, at, limit - entries.length, now))
      append(entries, part.entries)
      if (part.more) return { entries, more: true }
      next = part.next
      const pause = slice.pause()
      if (pause === undefined) continue
      await pause
      signal?.throwIfAborted()
      this.#check()
      this.#checkReadable(at)
    }
    return { entries, more: false }
  }

  /** Merges what is there now with what has changed since: a key changed after `at` shows what it held before that. */
  #merged(span: Span, at: Revision, limit: number, now: EntryCursor): Part {
    const entries: Entry[] = []
    const changed = this.#history.byKey.seek(span.start)
    let lookedBytes = 0
    for (let looked = 0; ; looked++) {
      const nowKey = now.entry?.key
      const changedKey = changed.key
      if (nowKey === undefined && changedKey === undefined) break
      const key =
        nowKey === undefined || (changedKey !== undefined && bytesLess(changedKey, nowKey)) ? changedKey : nowKey
      if (key === undefined || !bytesLess(key, span.end)) break
      if (looked === keysAtOnce || lookedBytes >= bytesAtOnce) return { entries, more: false, next: key }
      lookedBytes += now.entry?.value.length ?? 0
      let entry = key === nowKey ? now.entry : undefined
      if (key === changedKey && changed.value) {
        const next = History.firstAfter(changed.value, at)
        if (next) entry = next.previous
      }
      if (entry) {
        if (entries.length === limit) return { entries, more: true }
        entries.push(entry)
      }
      if (key === nowKey) now.next()
      if (key === changedKey) changed.next()
    }
    return { entries, more: false }
  }
}
