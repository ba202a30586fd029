/**
 * Requests that come in one turn of the event loop, begun together when all sockets have been read.
 *
 * Where each is begun in the middle of the reading, TLS, the HTTP parser and the whole pipeline take turns for every
 * request, and each finds that the others have taken its place in the caches of the core. One after the other they need
 * a third less CPU time (creates by 64 clients), and a body that came along with its headers is whole by then. A
 * request that comes alone waits for nothing: the turn ends behind it.
 *
 * Requests begin for a few milliseconds in each turn. What is left over begins in the turns that follow, the flows one
 * after the other: to refuse a request costs time as well, and a client that sends more than can be refused would hold
 * up all others before priority and fairness has seen any of them. Over HTTP/2 such a client waits for its answers, so
 * no more of its requests are read than were begun.
 */
import { Link, LinkedList } from '../base/linked-list.ts'

/** The connection that a request came by. */
export interface Peer {
  readonly flow: string
}

/** For how long requests begin in one turn. */
const turnMs = 10

class Waiting extends Link {
  readonly peer: Peer
  readonly #begin: () => void
  #isBegun = false

  constructor(peer: Peer, begin: () => void) {
    super()
    this.peer = peer
    this.#begin = begin
  }

  begin(): void {
    if (this.#isBegun) return
    this.#isBegun = true
    this.#begin()
  }
}

export class Gathered {
  readonly #now: () => number
  readonly #soon: (run: () => void) => void
  /** Came in this turn, in order. */
  #came: Waiting[] = []
  /** What earlier turns had no time for, by flow: the first flow is the next. */
  readonly #left = new Map<string, LinkedList<Waiting>>()
  #isAwaited = false

  /** `now`: monotonic milliseconds. `soon` runs its argument when the sockets have been read. */
  constructor(now: () => number = () => performance.now(), soon: (run: () => void) => void = setImmediate) {
    this.#now = now
    this.#soon = soon
  }

  /** `begin` is called when the turn is over, or later; for one peer in the order of calls. It must not throw. */
  add(peer: Peer, begin: () => void): void {
    this.#came.push(new Waiting(peer, begin))
    this.#awaitEnd()
  }

  /** Now, whatever is still to be read: the peer will send nothing more. */
  beginOf(peer: Peer): void {
    for (const waiting of this.#left.get(peer.flow) ?? []) if (waiting.peer === peer) waiting.begin()
    for (const waiting of this.#came) if (waiting.peer === peer) waiting.begin()
  }

  #awaitEnd(): void {
    if (this.#isAwaited) return
    this.#isAwaited = true
    this.#soon(this.#end)
  }

  readonly #end = (): void => {
    this.#isAwaited = false
    const came = this.#came
    this.#came = []
    const untilMs = this.#now() + turnMs
    const begun = this.#left.size === 0 ? this.#beginInOrder(came, untilMs) : 0
    for (let i = begun; i < came.length; i++) this.#leave(came[i] as Waiting)
    if (this.#left.size === 0) return
    if (begun === 0 || this.#now() < untilMs) this.#beginInTurn(untilMs)
    if (this.#left.size > 0) this.#awaitEnd()
  }

  /** How many there was time for. */
  #beginInOrder(came: readonly Waiting[], untilMs: number): number {
    for (const [i, waiting] of came.entries()) {
      if (i > 0 && this.#now() >= untilMs) return i
      waiting.begin()
    }
    return came.length
  }

  #leave(waiting: Waiting): void {
    const { flow } = waiting.peer
    let ofFlow = this.#left.get(flow)
    if (ofFlow === undefined) {
      ofFlow = new LinkedList()
      this.#left.set(flow, ofFlow)
    }
    ofFlow.add(waiting)
  }

  /** One of each flow, and again. */
  #beginInTurn(untilMs: number): void {
    for (const [flow, ofFlow] of this.#left) {
      const [first] = ofFlow
      this.#left.delete(flow)
      if (first === undefined) continue
      ofFlow.remove(first)
      // Behind the others.
      if (!ofFlow.isEmpty) this.#left.set(flow, ofFlow)
      first.begin()
      if (this.#now() >= untilMs) return
    }
  }
}
