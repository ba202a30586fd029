/**
 * Releases seats at the end of the event loop's turn in which their requests ended. A request that is answered from
 * memory takes its seat and gives it back without a pause, so a flood of such requests would never find a seat taken:
 * all of a turn's requests would be worked on in the order in which their sockets were read. With seats that are taken
 * until the turn ends, no more requests of a level are worked on in one turn than it has seats; the others queue, and
 * are chosen fairly.
 */
import type { RequestSeat } from './queue.ts'

export class TurnReleases {
  readonly #endOfTurn: ((run: () => void) => void) | undefined
  #ended: { readonly seat: RequestSeat; readonly cpuMs: number }[] = []

  /** `endOfTurn` runs its argument once the present turn is over; absent: seats are released at once. */
  constructor(endOfTurn: ((run: () => void) => void) | undefined) {
    this.#endOfTurn = endOfTurn
  }

  add(seat: RequestSeat, cpuMs: number): void {
    if (this.#endOfTurn === undefined) {
      seat.flow.level.finish(seat, cpuMs)
      return
    }
    if (this.#ended.length === 0) this.#endOfTurn(() => this.#flush())
    this.#ended.push({ seat, cpuMs })
  }

  #flush(): void {
    const ended = this.#ended
    this.#ended = []
    for (const { seat, cpuMs } of ended) seat.flow.level.finish(seat, cpuMs)
  }
}
