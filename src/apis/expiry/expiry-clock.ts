/**
 * Whether it is known what time it is. A clock that is set wrong must not delete a namespace, so nothing expires while
 *
 * - the wall clock has moved against the monotonic one by more than a minute since this process started. A new time
 *   that has stood for an hour is taken for the right one: by then an operator has seen the condition, or was right;
 * - the last commit of the store when it was opened, or a renewal of a leader since, has a time that is more than a
 *   minute ahead: this clock, or that of another replica, is wrong, or was set back while the server was down;
 * - the last renewal of another replica that was seen as it came had a time more than a minute ago: this clock is ahead
 *   of that of the leader. That stays so when this replica leads, and nothing tells it more.
 *
 * A clock that was set forward while the server was down can't be told from a server that was down for long.
 */
import type { Clock } from '../../base/clock.ts'
import { deletionProtectionAnnotation, type Namespace } from '../namespaces/types.ts'
import { expiresAtMs } from './end.ts'
import { toleratedMs } from './types.ts'

const believedAfterMs = 3_600_000

export class ExpiryClock {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>
  /** The latest time that another process, or this one before, has stored. */
  #storedMs = Number.NEGATIVE_INFINITY
  /** What the clock of another replica shows, minus the monotonic clock of this one; it may show more, not less. */
  #othersMs: number | undefined
  /** What wall clock minus monotonic clock is, if all is well. */
  #offsetMs: number
  /** Another one, and since when on the monotonic clock. */
  #moved: { readonly offsetMs: number; readonly sinceMs: number } | undefined

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock
    this.#offsetMs = clock.now() - clock.monotonic()
  }

  /** A commit of this time is in the store. */
  sawCommit(timeMs: number): void {
    this.#storedMs = Math.max(this.#storedMs, timeMs)
  }

  /** Another replica has just renewed its lease: this is its time, less what the renewal took to come here. */
  sawRenewal(timeMs: number): void {
    this.#othersMs = timeMs - this.#clock.monotonic()
  }

  /**
   * The time from which an end is counted: where this clock is behind the store, the time of the store, and where it
   * was set back, the time that it would show. Else what is created meanwhile is gone as soon as it is set right.
   */
  now(): number {
    const now = this.#clock.now()
    const movedMs = this.#movement(now)
    const unmovedMs = movedMs < -toleratedMs ? now - movedMs : now
    return this.#storedMs - unmovedMs > toleratedMs ? this.#storedMs : unmovedMs
  }

  /** Why nothing expires now; undefined = the clock is trusted. */
  fault(): string | undefined {
    const now = this.#clock.now()
    const movedMs = this.#movement(now)
    if (Math.abs(movedMs) > toleratedMs) {
      return `the clock of the server was set ${movedMs > 0 ? 'forward' : 'back'} by more than a minute`
    }
    if (this.#storedMs - now > toleratedMs) {
      return 'the clock of the server is more than a minute behind a commit in the store'
    }
    const othersMs = this.#othersMs === undefined ? now : this.#othersMs + this.#clock.monotonic()
    if (now - othersMs <= toleratedMs) return undefined
    return 'the clock of the server is more than a minute ahead of that of another replica'
  }

  /** At the moment of the call, by a clock that is trusted. */
  hasPassed(timeMs: number): boolean {
    return timeMs <= this.#clock.now() && this.fault() === undefined
  }

  #movement(now: number): number {
    const monotonic = this.#clock.monotonic()
    const offsetMs = now - monotonic
    const movedMs = offsetMs - this.#offsetMs
    if (Math.abs(movedMs) <= toleratedMs) {
      this.#moved = undefined
      return movedMs
    }
    if (this.#moved === undefined || Math.abs(offsetMs - this.#moved.offsetMs) > toleratedMs) {
      this.#moved = { offsetMs, sinceMs: monotonic }
    } else if (monotonic - this.#moved.sinceMs >= believedAfterMs) {
      this.#offsetMs = offsetMs
      this.#moved = undefined
      // It was compared with a clock that is not the one that is believed now.
      this.#othersMs = undefined
      return 0
    }
    return movedMs
  }
}

/** One that is protected from deletion goes on as before. */
export const hasExpired =
  (clock: ExpiryClock) =>
  (namespace: Namespace): boolean =>
    namespace.metadata.annotations?.[deletionProtectionAnnotation] !== 'true' && clock.hasPassed(expiresAtMs(namespace))
