/**
 * What one flow may take of one turn of the event loop: of reading what its clients send, of beginning what they ask.
 * What is beyond waits for the turns that follow: clients of other flows wait behind one share of it, not behind all
 * that it has sent at once.
 */
const shareMs = 4

/** Flows that are remembered: to empty the table in each turn costs more than to look whose turn an entry is of. */
const mostFlows = 256

interface Spent {
  turn: number
  ms: number
}

export class TurnShares {
  readonly #spent = new Map<string, Spent>()
  #turn = 0

  /** Answers whether its share of this turn is used up. */
  spend(flow: string, ms: number): boolean {
    let spent = this.#spent.get(flow)
    if (spent === undefined) this.#spent.set(flow, (spent = { turn: this.#turn, ms: 0 }))
    else if (spent.turn !== this.#turn) {
      spent.turn = this.#turn
      spent.ms = 0
    }
    spent.ms += ms
    return spent.ms >= shareMs
  }

  isSpent(flow: string): boolean {
    const spent = this.#spent.get(flow)
    return spent !== undefined && spent.turn === this.#turn && spent.ms >= shareMs
  }

  endTurn(): void {
    this.#turn++
    if (this.#spent.size > mostFlows) this.#spent.clear()
  }
}
