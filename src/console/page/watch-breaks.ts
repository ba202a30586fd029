/** Watches of one list that break again and again while the cluster is reached: told, and taken back when one holds. */
import type { Clock, Timer } from '../../base/clock.ts'

/** One that breaks once broke with its connection; so often, it is what the server sends. */
const mostBreaks = 2
/** Without a break for so long, it holds: a retry comes sooner. */
const heldMs = 20_000

export class WatchBreaks {
  readonly #clock: Clock
  #count = 0
  #last: Error | undefined
  #holding: Timer | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Why the last one broke, while that is worth telling. */
  get last(): Error | undefined {
    return this.#last
  }

  note(error: Error, show: () => void): void {
    this.#holding?.cancel()
    if (++this.#count < mostBreaks) return
    this.#last = error
    show()
    this.#holding = this.#clock.after(heldMs, () => {
      this.#count = 0
      this.#last = undefined
      show()
    })
  }

  stop(): void {
    this.#holding?.cancel()
  }
}
