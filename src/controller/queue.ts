/**
 * A work queue with three sets, after client-go's: `dirty` keys need work, `processing` keys are being worked on, and
 * `queue` is the order of dirty keys that no worker works on yet. So a key added ten times is worked on once, never
 * twice at the same time, and one added while it is worked on comes round again afterwards.
 */
import type { Clock, Timer } from '../base/clock.ts'

export class WorkQueue<K> {
  readonly #clock: Clock
  readonly #queue: K[] = []
  #head = 0
  readonly #dirty = new Set<K>()
  readonly #processing = new Set<K>()
  readonly #delayed = new Map<K, { readonly due: number; readonly timer: Timer }>()
  #takers: ((key: K | undefined) => void)[] = []
  #closed = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Keys waiting, not counting those delayed or being worked on. */
  get size(): number {
    return this.#queue.length - this.#head
  }

  get idle(): boolean {
    return this.size === 0 && this.#processing.size === 0
  }

  add(key: K): void {
    if (this.#closed || this.#dirty.has(key)) return
    this.#dirty.add(key)
    if (!this.#processing.has(key)) this.#push(key)
  }

  /** An earlier deadline for the same key wins. */
  addAfter(key: K, ms: number): void {
    if (this.#closed) return
    if (ms <= 0) return this.add(key)
    const due = this.#clock.now() + ms
    const waiting = this.#delayed.get(key)
    if (waiting && waiting.due <= due) return
    waiting?.timer.cancel()
    const timer = this.#clock.after(ms, () => {
      this.#delayed.delete(key)
      this.add(key)
    })
    this.#delayed.set(key, { due, timer })
  }

  /** The next key, or undefined once the queue is closed. The taker must call `done` for it. */
  take(): Promise<K | undefined> {
    if (this.#closed) return Promise.resolve(undefined)
    const key = this.#shift()
    if (key !== undefined) return Promise.resolve(key.key)
    return new Promise((resolve) => this.#takers.push(resolve))
  }

  done(key: K): void {
    this.#processing.delete(key)
    if (this.#dirty.has(key) && !this.#closed) this.#push(key)
  }

  close(): void {
    this.#closed = true
    for (const { timer } of this.#delayed.values()) timer.cancel()
    this.#delayed.clear()
    const takers = this.#takers
    this.#takers = []
    for (const taker of takers) taker(undefined)
  }

  #push(key: K): void {
    const taker = this.#takers.shift()
    if (taker) {
      this.#begin(key)
      taker(key)
      return
    }
    this.#queue.push(key)
  }

  #shift(): { readonly key: K } | undefined {
    if (this.#head >= this.#queue.length) return undefined
    const key = this.#queue[this.#head++] as K
    if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
      this.#queue.splice(0, this.#head)
      this.#head = 0
    }
    this.#begin(key)
    return { key }
  }

  #begin(key: K): void {
    this.#dirty.delete(key)
    this.#processing.add(key)
  }
}
