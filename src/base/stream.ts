/**
 * The only stream type in the house: one producer, one consumer, a bounded buffer, cleanup that always runs.
 *
 * The producer is never made to wait. When the buffer is full `push` returns false and the stream is over:
 * a consumer that is too slow is cut off with `StreamOverflow` and resumes from what it last saw.
 */

/** Async-iterable once; leaving the loop early (break, throw, return) or disposing runs the producer's cleanup. */
export interface Stream<T> extends AsyncIterable<T>, AsyncDisposable {}

export class StreamOverflow extends Error {
  override readonly name = 'StreamOverflow'
  /** Items. */
  readonly behind: number
  constructor(behind: number) {
    super(`the consumer fell ${behind} items behind`)
    this.behind = behind
  }
}

export interface ChannelOptions {
  /** Most items waiting at once. */
  readonly limit: number
  /** Runs exactly once, when the stream ends for whatever reason. */
  readonly onClose?: () => void
}

/** The producer's end of a `Stream`. */
export class Channel<T> implements Stream<T> {
  readonly #limit: number
  readonly #onClose: (() => void) | undefined
  #items: T[] = []
  #head = 0
  #waiting: { resolve: (r: IteratorResult<T>) => void; reject: (e: unknown) => void } | undefined
  #closed = false
  #error: unknown
  #iterated = false

  constructor(options: ChannelOptions) {
    this.#limit = options.limit
    this.#onClose = options.onClose
  }

  get closed(): boolean {
    return this.#closed
  }

  get pending(): number {
    return this.#items.length - this.#head
  }

  /** False when the stream is over or has just overflowed. */
  push(item: T): boolean {
    if (this.#closed) return false
    const waiting = this.#waiting
    if (waiting) {
      this.#waiting = undefined
      waiting.resolve({ value: item, done: false })
      return true
    }
    if (this.pending >= this.#limit) {
      this.#items = []
      this.#head = 0
      this.close(new StreamOverflow(this.#limit))
      return false
    }
    this.#items.push(item)
    return true
  }

  /** Ends the stream after what is buffered; with an error the consumer's loop throws it at that point. */
  close(error?: unknown): void {
    if (this.#closed) return
    this.#closed = true
    this.#error = error
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting) {
      if (error === undefined) waiting.resolve({ value: undefined, done: true })
      else waiting.reject(error)
    }
    this.#onClose?.()
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    if (this.#iterated) throw new Error('a stream can be iterated once')
    this.#iterated = true
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

  #discard(): void {
    this.#items = []
    this.#head = 0
    this.close()
  }

  #next(): Promise<IteratorResult<T>> {
    if (this.#head < this.#items.length) {
      const value = this.#items[this.#head++] as T
      if (this.#head === this.#items.length) {
        this.#items = []
        this.#head = 0
      } else if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
        this.#items = this.#items.slice(this.#head)
        this.#head = 0
      }
      return Promise.resolve({ value, done: false })
    }
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
