/**
 * How much one flow has under way, in time of the main thread.
 *
 * Seats bound how many requests are worked on, not how long they take. Writes that are under way are flushed together
 * and answered together, so a request beside them waits for the work of all of them: a flow that takes every seat of
 * its level makes another one wait until all it has begun is done. While others are served, a flow therefore begins no
 * more than the thread does in a few milliseconds, by what its requests took lately; what is left of the seats is there
 * when a request of another flow comes. A flow that is alone is not held back.
 */

/**
 * With 5 ms others wait 3 to 5 ms less, and a flood of creates gets three quarters done (docs/adr/0107).
 */
const underWayMs = 8
/** Of whatever cost: while some are flushed, others are decided. */
const leastUnderWay = 2
/** Until some have ended. */
const firstGuessMs = 1
/** Of the mean: about the last eight requests count. */
const newestShare = 1 / 8
/** Clients that ask again and again do so more often than this. */
const presentForMs = 1000

export class FlowLoad {
  /** Requests that are worked on. */
  underWay = 0
  #meanMs = firstGuessMs

  /** A request of the flow has ended that took so much of the main thread. */
  end(cpuMs: number): void {
    this.underWay--
    this.#meanMs += (cpuMs - this.#meanMs) * newestShare
  }

  get isFull(): boolean {
    return this.underWay >= leastUnderWay && this.underWay * this.#meanMs >= underWayMs
  }
}

/** Which flows of all levels have sent requests lately: whether one of them is alone. */
export class PresentFlows<F extends object> {
  #latest: F | undefined
  #latestMs = Number.NEGATIVE_INFINITY
  /** When a flow came that is not the latest one. */
  #otherMs = Number.NEGATIVE_INFINITY

  see(flow: F, nowMs: number): void {
    if (flow !== this.#latest) {
      if (this.#latest !== undefined) this.#otherMs = this.#latestMs
      this.#latest = flow
    }
    this.#latestMs = nowMs
  }

  hasOthers(flow: F, nowMs: number): boolean {
    return nowMs - (flow === this.#latest ? this.#otherMs : this.#latestMs) < presentForMs
  }
}
