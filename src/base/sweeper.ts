/**
 * One timer for all that has a deadline of seconds: connections, bodies, handlers, answers. A timer for each of them
 * would cost every request; a look once a second at those that are still there costs only what takes long.
 *
 * It sleeps while there is nothing to look at, so a server at rest has no timer, and it brings a clock that costs a
 * read of a field: `nowMs` is exact to one period.
 */
import type { Clock, Timer } from './clock.ts'

/** Answers whether there is something to look at next time. */
export type Look = (nowMs: number) => boolean

const periodMs = 1000

/** A look in slices may take longer than the time between two: it is not begun again before it is over. */
export function unlessUnderWay<Args extends unknown[]>(
  look: (...args: Args) => Promise<void>,
): (...args: Args) => void {
  let isUnderWay = false
  const begin = async (...args: Args): Promise<void> => {
    isUnderWay = true
    try {
      await look(...args)
    } finally {
      isUnderWay = false
    }
  }
  return (...args) => {
    if (!isUnderWay) void begin(...args)
  }
}

export class Sweeper implements Disposable {
  readonly #clock: Clock
  readonly #looks = new Set<Look>()
  #timer: Timer | undefined
  #nowMs: number
  #disposed = false

  constructor(clock: Clock) {
    this.#clock = clock
    this.#nowMs = clock.monotonic()
  }

  /** Monotonic. Follows the clock while the sweeper is awake. */
  get nowMs(): number {
    return this.#nowMs
  }

  /** Asked once a second while it, or another, is awake. Answers how to stop that. */
  add(look: Look): () => void {
    this.#looks.add(look)
    return () => this.#looks.delete(look)
  }

  /** There is something to look at. */
  wake(): void {
    if (this.#timer !== undefined || this.#disposed) return
    this.#nowMs = this.#clock.monotonic()
    this.#timer = this.#clock.after(periodMs, this.#sweep)
  }

  [Symbol.dispose](): void {
    this.#disposed = true
    this.#timer?.cancel()
  }

  readonly #sweep = (): void => {
    this.#timer = undefined
    this.#nowMs = this.#clock.monotonic()
    let isAwake = false
    for (const look of this.#looks) isAwake = look(this.#nowMs) || isAwake
    if (isAwake) this.wake()
  }
}
