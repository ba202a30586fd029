/**
 * Requests that come in one turn of the event loop, begun together when all sockets have been read.
 *
 * Where each is begun in the middle of the reading, TLS, the HTTP parser and the whole pipeline take turns for every
 * request, and each finds that the others have taken its place in the caches of the core. One after the other they need
 * a third less CPU time (creates by 64 clients), and a body that came along with its headers is whole by then. A
 * request that comes alone waits for nothing: the turn ends behind it.
 *
 * What a request takes is known when all that it set going is done, as far as it waits for nothing. That is looked at
 * behind the first request of a turn, then behind twice as many as long as they are short: behind each it would cost
 * 5 % of the CPU time of small creates, which take turns better in the queue of promises. Requests begin for a few
 * milliseconds in each turn, and those of one flow for its share of them. What is left over begins in the turns that
 * follow, the flows one after the other: to refuse a request costs time as well, and a client that sends more than can
 * be refused would hold up all others before priority and fairness has seen any of them. Over HTTP/2 such a client
 * waits for its answers, so no more of its requests are read than were begun.
 */
import { Link, LinkedList } from '../base/linked-list.ts'
import { behindMicrotasks } from '../base/turns.ts'
import { TurnShares } from './turn-shares.ts'

/** The connection that a request came by. */
export interface Peer {
  readonly flow: string
}

/** For how long requests begin in one turn, of all flows together. */
const turnMs = 10

/** Requests that begin before what they set going is looked at: at most so many, as many as took so long before. */
const mostTogether = 8
const togetherMs = 1

class Waiting extends Link {
  readonly peer: Peer
  readonly #begin: () => boolean
  #isBegun = false

  constructor(peer: Peer, begin: () => boolean) {
    super()
    this.peer = peer
    this.#begin = begin
  }

  get isBegun(): boolean {
    return this.#isBegun
  }

  /** Whether it goes on by itself. */
  begin(): boolean {
    if (this.#isBegun) return false
    this.#isBegun = true
    return this.#begin()
  }
}

/** What one flow has left over. */
class Rest extends Link {
  readonly flow: string
  readonly waiting = new LinkedList<Waiting>()

  constructor(flow: string) {
    super()
    this.flow = flow
  }
}

export interface GatheredOptions {
  /** Monotonic milliseconds. */
  readonly now?: () => number
  /** Runs its argument when the sockets have been read. */
  readonly soon?: (run: () => void) => void
  /** Runs its argument when what has begun waits, or is done. */
  readonly behind?: (run: () => void) => void
}

export class Gathered {
  readonly #now: () => number
  readonly #soon: (run: () => void) => void
  readonly #behind: (run: () => void) => void
  /** Came since the last turn ended, in order. */
  #came: Waiting[] = []
  /** Of those that came before it, what is begun in this turn in the same order: from `#next` on. */
  #inOrder: readonly Waiting[] = []
  #next = 0
  /** What earlier turns had no time for: the first flow is the next. */
  readonly #left = new LinkedList<Rest>()
  /** The same by flow. Requests are in no table of a `Map`, for the reason that `LinkedList` gives. */
  readonly #leftOf = new Map<string, Rest>()
  readonly #shares = new TurnShares()
  #isAwaited = false
  #untilMs = 0
  /** How many may begin together, and how many of them have begun, since when. */
  #together = 1
  #begun = 0
  #batchMs = 0
  /** What begins now belongs to this flow, since then. */
  #flow = ''
  #sinceMs = 0

  constructor({ now = () => performance.now(), soon = setImmediate, behind = behindMicrotasks }: GatheredOptions = {}) {
    this.#now = now
    this.#soon = soon
    this.#behind = behind
  }

  /**
   * `begin` is called when the turn is over, or later; for one peer in the order of calls. It answers whether what it
   * has begun goes on when it returns, and must not throw.
   */
  add(peer: Peer, begin: () => boolean): void {
    this.#came.push(new Waiting(peer, begin))
    this.#awaitEnd()
  }

  /** Now, whatever is still to be read: the peer will send nothing more. */
  beginOf(peer: Peer): void {
    for (const waiting of this.#leftOf.get(peer.flow)?.waiting ?? []) if (waiting.peer === peer) waiting.begin()
    for (const waiting of this.#inOrder) if (waiting.peer === peer) waiting.begin()
    for (const waiting of this.#came) if (waiting.peer === peer) waiting.begin()
  }

  #awaitEnd(): void {
    if (this.#isAwaited) return
    this.#isAwaited = true
    this.#soon(this.#end)
  }

  readonly #end = (): void => {
    // Also of those that come while these are begun: the next turn is behind all of them.
    this.#inOrder = this.#came
    this.#next = 0
    this.#came = []
    if (!this.#left.isEmpty) this.#leaveRest()
    this.#shares.endTurn()
    this.#sinceMs = this.#now()
    this.#untilMs = this.#sinceMs + turnMs
    this.#together = 1
    this.#beginNext()
  }

  #beginNext(): void {
    this.#begun = 0
    this.#batchMs = this.#sinceMs
    do {
      const waiting = this.#takeInOrder() ?? this.#takeInTurn()
      if (waiting === undefined) break
      const { flow } = waiting.peer
      const isOther = this.#begun > 0 && flow !== this.#flow
      if (this.#begun === 0) this.#flow = flow
      const goesOn = waiting.begin()
      if (this.#next === this.#inOrder.length && this.#left.isEmpty) break
      if (!goesOn) continue
      const isLong = this.#sinceMs - this.#batchMs >= togetherMs
      if (++this.#begun >= this.#together || isOther || isLong) return this.#behind(this.#goOn)
    } while (this.#hasTime())
    this.#endTurn()
  }

  #endTurn(): void {
    this.#leaveRest()
    this.#isAwaited = false
    if (this.#came.length > 0 || !this.#left.isEmpty) this.#awaitEnd()
  }

  readonly #goOn = (): void => {
    const eachMs = (this.#now() - this.#batchMs) / this.#begun
    this.#together = Math.max(1, Math.min(mostTogether, 2 * this.#begun, Math.floor(togetherMs / eachMs)))
    if (this.#hasTime()) this.#beginNext()
    else this.#endTurn()
  }

  /** What was begun last is done, or waits. */
  #hasTime(): boolean {
    const nowMs = this.#now()
    this.#shares.spend(this.#flow, nowMs - this.#sinceMs)
    this.#sinceMs = nowMs
    return nowMs < this.#untilMs
  }

  #leaveRest(): void {
    for (let i = this.#next; i < this.#inOrder.length; i++) this.#leave(this.#inOrder[i] as Waiting)
    this.#inOrder = []
    this.#next = 0
  }

  #leave(waiting: Waiting): void {
    if (waiting.isBegun) return
    const { flow } = waiting.peer
    let rest = this.#leftOf.get(flow)
    if (rest === undefined) {
      rest = new Rest(flow)
      this.#leftOf.set(flow, rest)
      this.#left.add(rest)
    }
    rest.waiting.add(waiting)
  }

  /** The next one whose flow has time left. */
  #takeInOrder(): Waiting | undefined {
    while (this.#next < this.#inOrder.length) {
      const waiting = this.#inOrder[this.#next++] as Waiting
      if (waiting.isBegun) continue
      if (!this.#shares.isSpent(waiting.peer.flow)) return waiting
      this.#leave(waiting)
    }
    return undefined
  }

  /** One of each flow that has time left, and again. */
  #takeInTurn(): Waiting | undefined {
    for (const rest of this.#left) {
      if (this.#shares.isSpent(rest.flow)) continue
      const { first } = rest.waiting
      this.#left.remove(rest)
      if (first !== undefined) rest.waiting.remove(first)
      // Behind the others.
      if (rest.waiting.isEmpty) this.#leftOf.delete(rest.flow)
      else this.#left.add(rest)
      if (first !== undefined && !first.isBegun) return first
    }
    return undefined
  }
}
