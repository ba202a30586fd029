/**
 * Whether a failure that the status of a namespace tells of is worth another write. Each write brings the namespace to
 * its controllers again, so one that failed in other words each time (the id of a request) would be tried as fast as it
 * fails.
 */
import type { Clock } from '../../base/clock.ts'
import type { NamespaceCondition } from './types.ts'

/** How long what failed keeps its words while it fails. */
const tellAgainMs = 10_000

type Told = Pick<NamespaceCondition, 'type' | 'status' | 'reason'>

export class FailureNews {
  readonly #clock: Pick<Clock, 'monotonic'>
  /** By name: when a namespace was last told of what fails. */
  readonly #told = new Map<string, number>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Other words for what it says already are none, for a while. `next` is said if this answers true. */
  isNews(name: string, before: readonly Told[], next: readonly Told[]): boolean {
    const nowMs = this.#clock.monotonic()
    const isSame = next.every(({ type, status, reason }) =>
      before.some((c) => c.type === type && c.status === status && c.reason === reason),
    )
    if (isSame && nowMs - (this.#told.get(name) ?? -tellAgainMs) < tellAgainMs) return false
    this.#told.set(name, nowMs)
    return true
  }

  /** It fails no more, or has gone. */
  forget(name: string): void {
    this.#told.delete(name)
  }
}
