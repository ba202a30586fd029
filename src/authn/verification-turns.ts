/**
 * Who may have a signature verified now. It is done on threads of the pool that also compresses answers and writes
 * files, before it is known who asks: hundreds of forged tokens, of which each takes a millisecond with a long key,
 * would have both cores, and what others give to the pool would wait behind them.
 */
const mostOfFlow = 1
/** Of the four threads of the pool. */
const mostInAll = 2

export class VerificationTurns {
  /** What waits, by flow; the one that is next comes first. */
  readonly #waiting = new Map<string | undefined, (() => void)[]>()
  readonly #ofFlow = new Map<string | undefined, number>()
  #inAll = 0

  /** `flow`: where the token came from, if that is known. */
  async run<T>(flow: string | undefined, verify: () => Promise<T>): Promise<T> {
    if (!this.#tryTake(flow)) await this.#turn(flow)
    try {
      return await verify()
    } finally {
      this.#release(flow)
    }
  }

  #turn(flow: string | undefined): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(flow)
      if (waiting === undefined) this.#waiting.set(flow, [resolve])
      else waiting.push(resolve)
    })
  }

  #tryTake(flow: string | undefined): boolean {
    const ofFlow = this.#ofFlow.get(flow) ?? 0
    if (this.#inAll >= mostInAll || ofFlow >= mostOfFlow) return false
    this.#inAll++
    this.#ofFlow.set(flow, ofFlow + 1)
    return true
  }

  #release(flow: string | undefined): void {
    this.#inAll--
    const left = (this.#ofFlow.get(flow) ?? 0) - 1
    if (left > 0) this.#ofFlow.set(flow, left)
    else this.#ofFlow.delete(flow)
    for (const [next, waiting] of this.#waiting) {
      if (!this.#tryTake(next)) continue
      const begin = waiting.shift()
      // Behind the others.
      this.#waiting.delete(next)
      if (waiting.length > 0) this.#waiting.set(next, waiting)
      begin?.()
      return
    }
  }
}
