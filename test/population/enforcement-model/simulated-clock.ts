/** Clocks that go on by themselves and can be sent ahead: timers that fall due on the way fire. */
import { type Clock, systemClock, type Timer } from '../../../src/base/clock.ts'

interface Waiting {
  readonly due: number
  readonly run: () => void
  timer: Timer
}

export class SimulatedTime {
  readonly #beganMs = systemClock.now()
  readonly #beganMonotonic = systemClock.monotonic()
  #skippedMs = 0
  readonly #clocks: SimulatedClock[] = []

  get skippedMs(): number {
    return this.#skippedMs
  }

  /** `haste`: so many times as fast; wall and monotonic clock agree. */
  clock(haste: number): Clock {
    const clock = new SimulatedClock(
      haste,
      () => (systemClock.monotonic() - this.#beganMonotonic) * haste + this.#skippedMs,
      this.#beganMs,
    )
    this.#clocks.push(clock)
    return clock
  }

  skip(ms: number): void {
    this.#skippedMs += ms
    for (const clock of this.#clocks) clock.skipped()
  }
}

class SimulatedClock implements Clock {
  readonly #haste: number
  readonly #elapsed: () => number
  readonly #beganMs: number
  readonly #waiting = new Set<Waiting>()

  constructor(haste: number, elapsed: () => number, beganMs: number) {
    this.#haste = haste
    this.#elapsed = elapsed
    this.#beganMs = beganMs
  }

  now(): number {
    return Math.floor(this.#beganMs + this.#elapsed())
  }

  monotonic(): number {
    return this.#elapsed()
  }

  after(ms: number, run: () => void): Timer {
    const waiting: Waiting = { due: this.#elapsed() + ms, run, timer: { cancel() {} } }
    this.#arm(waiting)
    return {
      cancel: () => {
        this.#waiting.delete(waiting)
        waiting.timer.cancel()
      },
    }
  }

  skipped(): void {
    for (const waiting of [...this.#waiting]) {
      waiting.timer.cancel()
      this.#arm(waiting)
    }
  }

  #arm(waiting: Waiting): void {
    this.#waiting.add(waiting)
    waiting.timer = systemClock.after(Math.max(0, waiting.due - this.#elapsed()) / this.#haste, () => {
      this.#waiting.delete(waiting)
      waiting.run()
    })
  }
}
