/**
 * How many Events are written about one thing: a burst, then one in five minutes, as client-go's recorder does. What a
 * tenant writes stands in the messages of many, so each of them may be a new one, and no counting bounds them.
 */
import { BoundedCache } from '../../base/bounded-cache.ts'
import type { Clock } from '../../base/clock.ts'

const burst = 25
const refillMs = 300_000
/** What an Event was written of lately. Who is forgotten has a whole burst again. */
const remembered = 4096

interface Bucket {
  readonly tokens: number
  readonly atMs: number
}

export class EventBudget {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #buckets = new BoundedCache<string, Bucket>(remembered)

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Answers in how many milliseconds one may be written; 0 = now, and it is paid. */
  take(about: string): number {
    const now = this.#clock.monotonic()
    const { tokens, atMs } = this.#buckets.get(about) ?? { tokens: burst, atMs: now }
    const filled = Math.min(burst, tokens + (now - atMs) / refillMs)
    const isPaid = filled >= 1
    this.#buckets.set(about, { tokens: isPaid ? filled - 1 : filled, atMs: now })
    return isPaid ? 0 : Math.ceil((1 - filled) * refillMs)
  }
}
