/** Two kinds of histogram that cost a few additions per observation; they are read when metrics are asked for. */

export interface HistogramSnapshot {
  /** Upper bound → how much was observed up to it. Ascending; without `+Inf`, which is `count`. */
  readonly buckets: readonly (readonly [upper: number, cumulative: number])[]
  readonly sum: number
  readonly count: number
}

export class Histogram {
  readonly #uppers: readonly number[]
  /** The last one is what is above all bounds. */
  readonly #counts: Float64Array
  #sum = 0

  constructor(uppers: readonly number[]) {
    this.#uppers = uppers
    this.#counts = new Float64Array(uppers.length + 1)
  }

  /** `weight`: how often. */
  observe(value: number, weight = 1): void {
    let i = 0
    while (i < this.#uppers.length && value > (this.#uppers[i] ?? 0)) i++
    this.#counts[i] = (this.#counts[i] ?? 0) + weight
    this.#sum += value * weight
  }

  snapshot(): HistogramSnapshot {
    let count = 0
    const buckets = this.#uppers.map((upper, i): readonly [number, number] => {
      count += this.#counts[i] ?? 0
      return [upper, count]
    })
    return { buckets, sum: this.#sum, count: count + (this.#counts[this.#uppers.length] ?? 0) }
  }
}

const nanosecondsPerMs = 1e6

/**
 * Observes the ratio of a number to its limit at the end of every nanosecond, as upstream's TimingRatioHistogram: each
 * value weighs as much as the time for which it stood.
 */
export class TimingRatioHistogram {
  readonly #histogram: Histogram
  #numerator = 0
  #denominator = 1
  #sinceMs: number

  constructor(uppers: readonly number[], nowMs: number) {
    this.#histogram = new Histogram(uppers)
    this.#sinceMs = nowMs
  }

  set(numerator: number, nowMs: number): void {
    if (numerator === this.#numerator) return
    this.#settle(nowMs)
    this.#numerator = numerator
  }

  setDenominator(denominator: number, nowMs: number): void {
    this.#settle(nowMs)
    this.#denominator = denominator
  }

  snapshot(nowMs: number): HistogramSnapshot {
    this.#settle(nowMs)
    return this.#histogram.snapshot()
  }

  #settle(nowMs: number): void {
    const nanoseconds = Math.round((nowMs - this.#sinceMs) * nanosecondsPerMs)
    if (nanoseconds <= 0) return
    this.#sinceMs = nowMs
    this.#histogram.observe(this.#numerator / this.#denominator, nanoseconds)
  }
}
