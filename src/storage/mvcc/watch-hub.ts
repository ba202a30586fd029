/**
 * Delivers changes to watches.
 *
 *   watch() ──► catching up ──(reached the newest change)──► live ──► ended
 *               reads the history,                           receives changes as they
 *               one batch per call of next()                 become visible, in a queue
 *
 * A watch that is catching up holds nothing but a position. A live one holds references to changes that it has not
 * fetched yet, at most `limit` of them; beyond that it is cut off with `overflow`. Whatever waits in the queue is
 * fetched as one batch, so a busy consumer gets larger batches, not a longer queue.
 *
 * Progress: idle watches are told of new revisions at once if the last time is at least `progressMs` ago, else then;
 * `tellProgress` does it now. So a thousand commits per second do not wake every watch a thousand times.
 */
import type { Clock, Timer } from '../../base/clock.ts'
import type { Stream } from '../../base/stream.ts'
import type { Change, ChangeBatch, Revision, Span } from '../storage.ts'
import { StorageError } from '../storage.ts'
import { spanTest } from './key-span.ts'
import { SpanIndex } from './span-index.ts'

/** Idle watches hear of new revisions at most this often, unless a reader asks. */
const progressMs = 25
/** Changes examined per step of catching up: a few milliseconds. */
const catchUpStep = 4096
/** Bytes of values a live watch may have waiting. */
const maxWaitingBytes = 64 * 1024 * 1024

/** What the hub asks of the store that it serves. */
export interface WatchSource {
  readonly head: Revision
  /**
   * Changes after `after`, about `limit`, whole commits. The signal aborts when the reader has gone.
   * @throws StorageError code=compacted
   */
  changesAfter(after: Revision, limit: number, signal: AbortSignal): readonly Change[] | Promise<readonly Change[]>
}

export class WatchHub {
  readonly #source: WatchSource
  readonly #clock: Clock
  readonly #limit: number
  readonly #live = new SpanIndex<WatchStream>()
  readonly #open = new Set<WatchStream>()
  #lastProgress = Number.NEGATIVE_INFINITY
  #timer: Timer | undefined
  #closed: StorageError | undefined

  constructor(source: WatchSource, clock: Clock, limit: number) {
    this.#source = source
    this.#clock = clock
    this.#limit = limit
  }

  watch(span: Span, after: Revision, signal: AbortSignal): Stream<ChangeBatch> {
    const stream: WatchStream = new WatchStream({
      source: this.#source,
      span,
      after,
      limit: this.#limit,
      onLive: () => this.#live.add(stream, span),
      onEnd: () => {
        this.#live.remove(stream)
        this.#open.delete(stream)
        signal.removeEventListener('abort', stop)
      },
    })
    const stop = (): void => stream.end()
    this.#open.add(stream)
    signal.addEventListener('abort', stop, { once: true })
    if (this.#closed) stream.end(this.#closed)
    else if (signal.aborted) stream.end()
    return stream
  }

  /** Hands on what has just become visible: whole commits, ascending. The source's head is already moved. */
  publish(changes: readonly Change[]): void {
    const touched = new Set<WatchStream>()
    for (const change of changes) {
      for (const stream of this.#live.find(change.key)) {
        stream.queue(change)
        touched.add(stream)
      }
    }
    for (const stream of touched) stream.wake()
    if (this.#live.size === touched.size || this.#timer) return
    const wait = this.#lastProgress + progressMs - this.#clock.monotonic()
    if (wait <= 0) this.tellProgress()
    else this.#timer = this.#clock.after(wait, () => this.tellProgress())
  }

  /** Tells every live watch how far the store is, after what it has waiting. */
  tellProgress(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#lastProgress = this.#clock.monotonic()
    for (const stream of this.#live.owners()) stream.wake()
  }

  close(error: StorageError): void {
    this.#closed = error
    this.#timer?.cancel()
    this.#timer = undefined
    for (const stream of [...this.#open]) stream.end(error)
  }
}

interface WatchStreamOptions {
  readonly source: WatchSource
  readonly span: Span
  readonly after: Revision
  readonly limit: number
  readonly onLive: () => void
  readonly onEnd: () => void
}

/** Not a `Channel`: what waits is merged into one batch, and while catching up nothing waits at all. */
class WatchStream implements Stream<ChangeBatch>, AsyncIterator<ChangeBatch> {
  readonly #source: WatchSource
  readonly #inSpan: (key: string) => boolean
  readonly #limit: number
  readonly #onLive: () => void
  readonly #onEnd: () => void
  /** While catching up: examined so far. Then: `after`, below which nothing is delivered. */
  #position: Revision
  #isLive = false
  #progressDue = true
  #told: Revision
  #queue: Change[] = []
  #queuedBytes = 0
  #waiting: (() => void) | undefined
  #ended = false
  readonly #abandoned = new AbortController()
  #error: StorageError | undefined
  #iterated = false

  constructor(options: WatchStreamOptions) {
    this.#source = options.source
    this.#inSpan = spanTest(options.span)
    this.#limit = options.limit
    this.#onLive = options.onLive
    this.#onEnd = options.onEnd
    this.#position = options.after
    this.#told = options.after
  }

  /** The caller wakes the stream when all of the commit is queued: a batch never ends inside one. */
  queue(change: Change): void {
    if (change.revision <= this.#position || this.#ended) return
    this.#queue.push(change)
    this.#queuedBytes += change.value?.byteLength ?? 0
    if (this.#queue.length > this.#limit || this.#queuedBytes > maxWaitingBytes) {
      const reason = `the watch fell ${this.#queue.length} changes behind`
      this.#queue = []
      this.end(new StorageError('overflow', reason))
    }
  }

  wake(): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.()
  }

  /** With an error, the consumer's loop throws it after what it has already been given. */
  end(error?: StorageError): void {
    if (this.#ended) return
    this.#ended = true
    this.#error = error
    this.#queue = []
    this.#abandoned.abort()
    this.#onEnd()
    this.wake()
  }

  [Symbol.asyncIterator](): AsyncIterator<ChangeBatch> {
    if (this.#iterated) throw new Error('a stream can be iterated once')
    this.#iterated = true
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end()
  }

  async return(): Promise<IteratorResult<ChangeBatch>> {
    this.end()
    return { value: undefined, done: true }
  }

  async next(): Promise<IteratorResult<ChangeBatch>> {
    if (this.#waiting) throw new Error('a stream has one consumer')
    for (;;) {
      if (this.#ended) return this.#finish()
      const batch = this.#isLive ? this.#takeLive() : await this.#catchUp()
      if (batch && !this.#ended) return { value: batch, done: false }
      if (this.#isLive && !this.#ended) {
        await new Promise<void>((resolve) => {
          this.#waiting = resolve
        })
      }
    }
  }

  #finish(): IteratorResult<ChangeBatch> {
    const error = this.#error
    this.#error = undefined
    if (error) throw error
    return { value: undefined, done: true }
  }

  #takeLive(): ChangeBatch | undefined {
    if (this.#queue.length > 0) {
      const changes = this.#queue
      this.#queue = []
      this.#queuedBytes = 0
      return { type: 'changes', changes }
    }
    const head = this.#source.head
    if (head < this.#position || (head === this.#told && !this.#progressDue)) return undefined
    this.#progressDue = false
    this.#told = head
    return { type: 'progress', revision: head }
  }

  async #catchUp(): Promise<ChangeBatch | undefined> {
    try {
      const found = this.#source.changesAfter(this.#position, catchUpStep, this.#abandoned.signal)
      const changes = found instanceof Promise ? await found : found
      if (this.#ended) return undefined
      const last = changes[changes.length - 1]
      if (!last) {
        // A promise may have let newer changes pass: look again without waiting before going live.
        if (found instanceof Promise) return undefined
        this.#isLive = true
        this.#onLive()
        return this.#takeLive()
      }
      this.#position = last.revision
      const wanted = changes.filter((change) => this.#inSpan(change.key))
      if (wanted.length > 0) return { type: 'changes', changes: wanted }
      await nextTurn()
      return undefined
    } catch (error) {
      this.end(
        error instanceof StorageError
          ? error
          : new StorageError('unavailable', 'the history could not be read', { cause: error }),
      )
      return undefined
    }
  }
}

/** Lets the process do other things between two steps. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
