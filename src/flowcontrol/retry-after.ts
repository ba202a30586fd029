/**
 * What a refused client is told to wait. Doubles while a priority level keeps refusing, at most every `retryAfter`
 * seconds; falls by one second after each interval with few refusals.
 * @see k8s.io/apiserver/pkg/util/flowcontrol/dropped_requests_tracker.go v0.36
 */

const maxSeconds = 32

export class RetryAfter {
  #seconds = 1
  #raisedAt = 0
  #current = { second: 0, refusals: 0 }
  #history: { readonly second: number; readonly refusals: number }[] = []

  get seconds(): number {
    return this.#seconds
  }

  /** `nowMs` by the wall clock. */
  recordRefusal(nowMs: number): void {
    const second = Math.floor(nowMs / 1000)
    if (second === this.#current.second) {
      this.#current.refusals++
      return
    }
    this.#archive()
    this.#current = { second, refusals: 1 }
    this.#adjust(second)
  }

  #archive(): void {
    const last = this.#current.second
    const kept = Math.min(2 * this.#seconds, maxSeconds)
    this.#history.push(this.#current)
    this.#history = this.#history.filter(({ second }) => last - second <= kept)
  }

  /** By the refusals of the last `seconds`, without those of `now`. */
  #adjust(now: number): void {
    let refusals = 0
    for (const past of this.#history) {
      if (past.second < now && now - past.second <= this.#seconds) refusals += past.refusals
    }
    if (refusals >= 3 * this.#seconds && now - this.#raisedAt >= this.#seconds) {
      this.#seconds = Math.min(2 * this.#seconds, maxSeconds)
      this.#raisedAt = now
    } else if (refusals < this.#seconds && this.#seconds > 1) this.#seconds--
  }
}
