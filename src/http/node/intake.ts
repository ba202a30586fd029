/**
 * How much of what clients send is read in one turn of the event loop, flow by flow.
 *
 * The system is asked for up to half a megabyte of every socket that has something, and all of it is parsed at once: a
 * body in ten thousand pieces, hundreds of requests. So when a flow has had its time in a turn, its connections are
 * read no further; in the turns that follow they are read again, one first, and twice as many each time that this took
 * little. What its clients send meanwhile waits in the system, and soon with them.
 *
 * That a client has left is read too, and what it had under way ends in one piece behind that. So it is charged when it
 * is read, by how much there is to end: of a thousand connections that end at once a few are read in each turn.
 *
 *   reading ──(had its time)──▶ held ──(end of the turn, a few at a time)──▶ reading
 */

import { TurnShares } from '../turn-shares.ts'

/** A connection, as far as it is read. */
export interface Inlet {
  readonly flow: string
  stopReading(): void
  goOnReading(): void
}

interface Held {
  readonly inlets: Set<Inlet>
  /** How many are read again in the next turn. */
  next: number
}

export class Intake {
  readonly #inletsOf: (flow: string) => Iterable<Inlet>
  readonly #now: () => number
  readonly #soon: (run: () => void) => void
  /** What has been read of a socket when its flow has had its share, up to 16 KiB, is parsed nevertheless. */
  readonly #shares = new TurnShares()
  readonly #held = new Map<string, Held>()
  #last: { readonly flow: string; readonly atMs: number } | undefined
  #isAwaited = false

  /** `inletsOf`: all of a flow. `now`: monotonic milliseconds. `soon` runs its argument when all sockets were read. */
  constructor(
    inletsOf: (flow: string) => Iterable<Inlet>,
    now: () => number,
    soon: (run: () => void) => void = setImmediate,
  ) {
    this.#inletsOf = inletsOf
    this.#now = now
    this.#soon = soon
  }

  /** A request or a piece of a body has come by this connection. What it took since the last one is counted. */
  came(inlet: Inlet): void {
    const { flow } = inlet
    const atMs = this.#now()
    const last = this.#last
    this.#last = { flow, atMs }
    this.#awaitEnd()
    if (last?.flow !== flow) return
    if (this.#shares.spend(flow, atMs - last.atMs)) this.#hold(flow, inlet)
  }

  /** The client of this connection has left. To end what it had under way takes about so long, and comes later. */
  left(inlet: Inlet, ms: number): void {
    const { flow } = inlet
    this.#awaitEnd()
    if (this.#shares.spend(flow, ms)) this.#hold(flow, inlet)
  }

  #hold(flow: string, inlet: Inlet): void {
    let held = this.#held.get(flow)
    if (held === undefined) {
      held = { inlets: new Set(), next: 1 }
      this.#held.set(flow, held)
    } else if (held.inlets.has(inlet)) return
    held.next = 1
    for (const one of this.#inletsOf(flow)) {
      if (held.inlets.has(one)) continue
      held.inlets.add(one)
      one.stopReading()
    }
  }

  #awaitEnd(): void {
    if (this.#isAwaited) return
    this.#isAwaited = true
    this.#soon(this.#endTurn)
  }

  readonly #endTurn = (): void => {
    this.#isAwaited = false
    this.#last = undefined
    this.#shares.endTurn()
    for (const [flow, held] of this.#held) {
      let left = held.next
      held.next *= 2
      for (const inlet of held.inlets) {
        if (left-- === 0) break
        held.inlets.delete(inlet)
        inlet.goOnReading()
      }
      if (held.inlets.size === 0) this.#held.delete(flow)
    }
    if (this.#held.size > 0) this.#awaitEnd()
  }
}
