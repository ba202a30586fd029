/**
 * One watcher of one type.
 *
 *   backlog ──▶ live ──▶ closed
 *      └───────────────────▲        abort, cut off, expired, disposed
 *
 * Backlog: what happened, or exists, before the session began, handed out in pieces. Live: changes queue up while the
 * consumer is away, and it takes all of them at once. The write path only ever pushes; a queue that grows past its
 * limit ends the session with `StreamOverflow`, and the client resumes from what it last saw.
 */
import { Link } from '../base/linked-list.ts'
import { type Stream, StreamOverflow } from '../base/stream.ts'
import type { Slice, Turns } from '../base/turns.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { Revision } from '../storage/storage.ts'
import type { BeginningPlace } from './beginnings.ts'
import type { Matches, SharedEvents } from './shared-events.ts'
import type { ObjectEvent, WatchEvent } from './watch-event.ts'
import type { WatchScope } from './watch-scope.ts'

export interface SessionLimits {
  readonly events: number
  /** Of stored bytes. */
  readonly sizeBytes: number
}

export const defaultSessionLimits: SessionLimits = { events: 10_000, sizeBytes: 32 * 1024 * 1024 }

export interface SessionOptions {
  readonly type: ResourceType
  readonly scope: WatchScope
  /** Absent = everything in scope. */
  readonly matches?: Matches | undefined
  readonly bookmarks: boolean
  /** Changes up to and including this one are known to the watcher. */
  readonly after: Revision
  /** In pieces, some of them empty: each is found when it is asked for. */
  readonly backlog?: Iterator<readonly WatchEvent[]> | undefined
  /** Where watches of a flow take turns to be sent their backlogs. */
  readonly place?: BeginningPlace
  /** A backlog is found in slices. */
  readonly turns: Turns
  readonly limits: SessionLimits
  readonly signal: AbortSignal
  /** Whose it is: watches of one flow share what may wait for them. */
  readonly flow?: string
  /** A consumer waits and now there is something: call `flush` soon. */
  readonly onQueued: (session: WatchSession) => void
  readonly onClose: (session: WatchSession) => void
}

type Batch = readonly WatchEvent[]

const nothing: Batch = []

export class WatchSession extends Link implements Stream<Batch> {
  readonly type: ResourceType
  readonly scope: WatchScope
  readonly bookmarks: boolean
  readonly flow: string
  readonly #matches: Matches | undefined
  readonly #limits: SessionLimits
  readonly #signal: AbortSignal
  readonly #onQueued: (session: WatchSession) => void
  readonly #onClose: (session: WatchSession) => void
  readonly #abort = (): void => {
    this.#endBacklog()
    this.close()
  }
  readonly #after: Revision
  readonly #turns: Turns
  #backlog: Iterator<Batch> | undefined
  readonly #place: BeginningPlace | undefined
  #slice: Slice | undefined
  #queue: WatchEvent[] = []
  #queuedBytes = 0
  /** Taken by the consumer and, as far as is known here, not yet written: it has not come back for more. */
  #taken: Batch = nothing
  #takenBytes = 0
  #waiting: { resolve: (r: IteratorResult<Batch>) => void; reject: (e: unknown) => void } | undefined
  #closed = false
  #error: unknown

  constructor(options: SessionOptions) {
    super()
    this.type = options.type
    this.scope = options.scope
    this.bookmarks = options.bookmarks
    this.flow = options.flow ?? ''
    this.#matches = options.matches
    this.#after = options.after
    this.#backlog = options.backlog
    this.#place = options.place
    this.#turns = options.turns
    this.#limits = options.limits
    this.#signal = options.signal
    this.#onQueued = options.onQueued
    this.#onClose = options.onClose
    this.#signal.addEventListener('abort', this.#abort, { once: true })
    if (this.#signal.aborted) this.close()
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Stored bytes of the events that a consumer has yet to write. */
  get pendingBytes(): number {
    return this.#queuedBytes + this.#takenBytes
  }

  /** The same events. */
  get pending(): readonly Batch[] {
    return [this.#taken, this.#queue]
  }

  /** Ends it as one that is too slow. */
  cutOff(): void {
    if (this.#closed) return
    const behind = this.#queue.length + this.#taken.length
    this.#drop()
    this.close(new StreamOverflow(behind))
  }

  /** Called inside the application of a change; never waits. */
  deliver(events: SharedEvents): void {
    if (this.#closed || events.change.revision <= this.#after) return
    const event = events.eventFor(this.type, this.#matches)
    if (event === undefined) return
    this.#queuedBytes += event.stored.storedSizeBytes
    this.#push(event)
  }

  /** An event that a change of something else, at `revision`, means to this watcher. Called inside that change. */
  tell(event: ObjectEvent, revision: Revision): void {
    if (this.#closed || revision <= this.#after) return
    this.#queuedBytes += event.stored.sizeBytes
    this.#push(event)
  }

  /** Everything up to `revision` was delivered to this session. Only for those that asked for bookmarks. */
  bookmark(revision: Revision): void {
    this.mark(revision)
    this.flush()
  }

  /** As `bookmark`, for a caller that does so to many: the consumer hears of it by `onQueued`. */
  mark(revision: Revision): void {
    if (this.#closed || !this.bookmarks || revision < this.#after) return
    this.#push({ type: 'BOOKMARK', revision, initialEventsEnd: false })
  }

  /** Hands what is queued to a consumer that waits. Harmless if there is none, or nothing. */
  flush(): void {
    const waiting = this.#waiting
    if (waiting === undefined || this.#queue.length === 0) return
    this.#waiting = undefined
    waiting.resolve({ value: this.#take(), done: false })
  }

  /** With an error the consumer meets it after what is queued. */
  close(error?: unknown): void {
    if (this.#closed) return
    this.flush()
    this.#closed = true
    this.#error = error
    // What waits for its place may be what is asked to stop.
    this.#place?.end()
    this.#signal.removeEventListener('abort', this.#abort)
    const waiting = this.#waiting
    this.#waiting = undefined
    this.#onClose(this)
    if (waiting === undefined) return
    if (error === undefined) waiting.resolve({ value: undefined, done: true })
    else {
      this.#error = undefined
      waiting.reject(error)
    }
  }

  [Symbol.asyncIterator](): AsyncIterator<Batch> {
    return {
      next: () => this.#next(),
      return: async () => {
        this.#discard()
        return { value: undefined, done: true }
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#discard()
  }

  #push(event: WatchEvent): void {
    this.#queue.push(event)
    if (this.#queue.length === 1 && this.#waiting) this.#onQueued(this)
    if (this.#queue.length <= this.#limits.events && this.#queuedBytes <= this.#limits.sizeBytes) return
    this.cutOff()
  }

  #take(): Batch {
    const batch = this.#queue
    this.#taken = batch
    this.#takenBytes = this.#queuedBytes
    this.#queue = []
    this.#queuedBytes = 0
    return batch
  }

  #drop(): void {
    this.#queue = []
    this.#queuedBytes = 0
    this.#forgetTaken()
    this.#endBacklog()
  }

  #endBacklog(): void {
    this.#backlog = undefined
    this.#place?.end()
  }

  #forgetTaken(): void {
    this.#taken = nothing
    this.#takenBytes = 0
  }

  #discard(): void {
    this.#drop()
    this.close()
    this.#error = undefined
  }

  /** The next piece of the backlog with something in it. */
  async #piece(): Promise<IteratorResult<Batch>> {
    await this.#place?.take()
    this.#slice ??= this.#turns.slice()
    for (;;) {
      const pause = this.#slice.pause()
      if (pause) await pause
      const piece = this.#pieceNow()
      if (piece === undefined) return this.#next()
      if (piece.length > 0) return { value: piece, done: false }
    }
  }

  /** Undefined at its end, and where the session ended while this waited: that takes the backlog away. */
  #pieceNow(): Batch | undefined {
    const piece = this.#backlog?.next()
    if (piece?.done === false) return piece.value
    if (piece?.done) this.#endBacklog()
    return undefined
  }

  #next(): Promise<IteratorResult<Batch>> {
    this.#forgetTaken()
    if (this.#backlog) return this.#piece()
    if (this.#queue.length > 0) return Promise.resolve({ value: this.#take(), done: false })
    if (this.#closed) {
      const error = this.#error
      this.#error = undefined
      return error === undefined ? Promise.resolve({ value: undefined, done: true }) : Promise.reject(error)
    }
    if (this.#waiting) return Promise.reject(new Error('a stream has one consumer'))
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }
}
