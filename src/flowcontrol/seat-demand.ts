/**
 * How many seats a priority level could use: those its requests occupy and those its waiting requests ask for, followed
 * over time. Borrowing is decided on it.
 *
 * Each adjustment period gives the mean and the standard deviation, weighted by time, and the high watermark. The
 * smoothed demand follows a rising `mean + deviation` at once and a falling one with a half-life of five minutes, so
 * seats come quickly to a level that is busy, and do not leave it in every short pause.
 * @see k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing/integrator.go, apf_controller.go v0.36
 */

/** With one period of 10 s per step: half of what has gone is forgotten after five minutes. */
const smoothing = 0.977

export interface SeatDemandStats {
  readonly average: number
  readonly deviation: number
  readonly highWatermark: number
  readonly smoothed: number
}

export class SeatDemand {
  #value = 0
  #sinceMs: number
  #elapsedMs = 0
  #integral = 0
  #squareIntegral = 0
  #max = 0
  #stats: SeatDemandStats = { average: 0, deviation: 0, highWatermark: 0, smoothed: 0 }

  constructor(nowMs: number) {
    this.#sinceMs = nowMs
  }

  get stats(): SeatDemandStats {
    return this.#stats
  }

  set(value: number, nowMs: number): void {
    this.#integrate(nowMs)
    this.#value = value
    if (value > this.#max) this.#max = value
  }

  /** Ends a period: from here on, the next one is measured. */
  endPeriod(nowMs: number): SeatDemandStats {
    this.#integrate(nowMs)
    const highWatermark = Math.round(this.#max)
    if (this.#elapsedMs > 0) {
      const average = this.#integral / this.#elapsedMs
      // Rounding may leave a tiny negative number.
      const deviation = Math.sqrt(Math.max(0, this.#squareIntegral / this.#elapsedMs - average * average))
      const envelope = average + deviation
      const smoothed = Math.max(envelope, smoothing * this.#stats.smoothed + (1 - smoothing) * envelope)
      this.#stats = { average, deviation, highWatermark, smoothed }
    } else {
      this.#stats = { ...this.#stats, highWatermark }
    }
    this.#elapsedMs = 0
    this.#integral = 0
    this.#squareIntegral = 0
    this.#max = this.#value
    return this.#stats
  }

  #integrate(nowMs: number): void {
    // A turn tells at its end what stood since it began: a period may have ended meanwhile.
    const dt = Math.max(0, nowMs - this.#sinceMs)
    this.#sinceMs += dt
    this.#elapsedMs += dt
    this.#integral += this.#value * dt
    this.#squareIntegral += this.#value * this.#value * dt
  }
}
