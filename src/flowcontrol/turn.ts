/**
 * What priority and fairness does once per turn of the event loop.
 *
 * - **Seats are released at the end of the turn** in which their requests ended. A request that is answered from
 *   memory takes its seat and gives it back without a pause, so a flood of such requests would never find a seat taken,
 *   and all of them would be worked on in the order in which their sockets were read. With seats that are taken until
 *   the turn ends, no more requests of a level are worked on in one turn than it has seats.
 * - **A turn is bounded.** After 10 ms no further request of a level with queues begins in it; the others queue, and
 *   begin in the next turn, in fair order. Between two turns all sockets are served. The levels that have requests
 *   waiting take turns, one request each; at least one begins in every turn.
 * - **Seats in use are observed** twice in a turn, not twice for each request: what they were at its end, before seats
 *   were released, stood since the first change of the turn.
 *
 * Without an event loop (`endOfTurn` absent) all of it happens at once, and no turn is bounded.
 */
import type { Clock } from '../base/clock.ts'
import type { RequestSeat } from './queue.ts'

/** For how long requests begin in one turn. */
const turnMs = 10

/** A priority level, as the turn knows it. */
export interface TurnLevel {
  /** The seats in use have been as they are now since `sinceMs`. */
  observe(sinceMs: number): void
  /** Begins the request that is served next; false if none waits or there is no seat for it. */
  dispatchNext(): boolean
}

export class Turn {
  readonly #clock: Clock
  readonly #endOfTurn: ((run: () => void) => void) | undefined
  #isEndAwaited = false
  /** When the first request of this turn came or began. */
  #beganMs: number | undefined
  #ended: { readonly seat: RequestSeat; readonly cpuMs: number }[] = []
  /** Each once: there are few. */
  readonly #changed: { readonly level: TurnLevel; readonly sinceMs: number }[] = []
  /** In the order in which they are served. */
  readonly #waiting = new Set<TurnLevel>()

  /** `endOfTurn` runs its argument once the present turn is over. */
  constructor(clock: Clock, endOfTurn: ((run: () => void) => void) | undefined) {
    this.#clock = clock
    this.#endOfTurn = endOfTurn
  }

  release(seat: RequestSeat, cpuMs: number): void {
    if (this.#endOfTurn === undefined) {
      seat.flow.level.finish(seat, cpuMs)
      return
    }
    this.#ended.push({ seat, cpuMs })
    this.#awaitEnd()
  }

  /** Seats or requests of the level have come or gone. */
  changed(level: TurnLevel, nowMs: number): void {
    if (this.#endOfTurn === undefined) {
      level.observe(nowMs)
      return
    }
    for (const changed of this.#changed) if (changed.level === level) return
    this.#changed.push({ level, sinceMs: nowMs })
    this.#awaitEnd()
  }

  /** No further request is to begin in this turn. */
  isSpent(nowMs: number): boolean {
    if (this.#endOfTurn === undefined) return false
    this.#awaitEnd()
    this.#beganMs ??= nowMs
    return nowMs - this.#beganMs >= turnMs
  }

  /** Requests of the level wait, and there may be seats for them. */
  dispatch(level: TurnLevel): void {
    if (this.#endOfTurn === undefined) {
      while (level.dispatchNext()) {}
      return
    }
    this.#waiting.add(level)
    this.#awaitEnd()
  }

  #awaitEnd(): void {
    if (this.#isEndAwaited) return
    this.#isEndAwaited = true
    this.#endOfTurn?.(this.#end)
  }

  readonly #end = (): void => {
    this.#beganMs = undefined
    for (const { level, sinceMs } of this.#changed) level.observe(sinceMs)
    const ended = this.#ended
    this.#ended = []
    for (const { seat, cpuMs } of ended) seat.flow.level.finish(seat, cpuMs)
    const nowMs = this.#clock.monotonic()
    for (const { level } of this.#changed) level.observe(nowMs)
    this.#changed.length = 0
    // Not before: what came up until here belongs to this end.
    this.#isEndAwaited = false
    this.#dispatchWaiting()
  }

  /** One request, then the others behind its work: what it takes of the turn is known by then. */
  readonly #dispatchWaiting = (): void => {
    const [level] = this.#waiting
    if (level === undefined) return
    const nowMs = this.#clock.monotonic()
    if (nowMs - (this.#beganMs ?? nowMs) >= turnMs) {
      this.#awaitEnd()
      return
    }
    this.#waiting.delete(level)
    if (level.dispatchNext()) {
      this.#beganMs ??= nowMs
      this.#waiting.add(level)
    }
    queueMicrotask(this.#dispatchWaiting)
  }
}
