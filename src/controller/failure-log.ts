/**
 * What a controller says of keys that fail. Clients choose how many do (owners of a kind that is not served, webhooks
 * that refuse), and each is tried again for ever: so a key is told once in a minute, and a few keys in each minute. How
 * many failures were not told stands in the next line.
 */
import type { Clock } from '../base/clock.ts'

const intervalMs = 60_000
const keysPerInterval = 20

export class FailureLog {
  readonly #clock: Clock
  readonly #told = new Set<string>()
  #sinceMs = Number.NEGATIVE_INFINITY
  #untold = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether a failure of the key is told: then with what. */
  next(key: string): { readonly untold?: number } | undefined {
    const nowMs = this.#clock.monotonic()
    if (nowMs - this.#sinceMs >= intervalMs) {
      this.#told.clear()
      this.#sinceMs = nowMs
    }
    if (this.#told.has(key) || this.#told.size >= keysPerInterval) {
      this.#untold++
      return undefined
    }
    this.#told.add(key)
    const untold = this.#untold
    this.#untold = 0
    return untold === 0 ? {} : { untold }
  }
}
