/**
 * What one flow may take of one turn of the event loop: of reading what its clients send, of beginning what they ask.
 * What is beyond waits for the turns that follow: clients of other flows wait behind one share of it, not behind all
 * that it has sent at once.
 */
const shareMs = 4

export class TurnShares {
  readonly #spentMs = new Map<string, number>()

  /** Answers whether its share of this turn is used up. */
  spend(flow: string, ms: number): boolean {
    const spentMs = (this.#spentMs.get(flow) ?? 0) + ms
    this.#spentMs.set(flow, spentMs)
    return spentMs >= shareMs
  }

  isSpent(flow: string): boolean {
    return (this.#spentMs.get(flow) ?? 0) >= shareMs
  }

  endTurn(): void {
    this.#spentMs.clear()
  }
}
