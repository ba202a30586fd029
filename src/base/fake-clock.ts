import type { Clock, Timer } from './clock.ts'

/** A clock that stands still until told to move. Timers fire in due order, ties in the order they were set. */
export class FakeClock implements Clock {
  #now: number
  readonly #start: number
  #timers: { due: number; seq: number; run: () => void }[] = []
  #seq = 0

  constructor(start: number = Date.UTC(2026, 0, 1)) {
    this.#now = start
    this.#start = start
  }

  now(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#now - this.#start
  }

  after(ms: number, run: () => void): Timer {
    const timer = { due: this.#now + ms, seq: this.#seq++, run }
    this.#timers.push(timer)
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((t) => t !== timer)
      },
    }
  }

  /** Moves time forward by `ms`, firing what falls due on the way; what a timer sets going runs before the next one. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    for (;;) {
      await settled()
      const next = this.#timers.filter((t) => t.due <= end).sort((a, b) => a.due - b.due || a.seq - b.seq)[0]
      if (!next) break
      this.#timers = this.#timers.filter((t) => t !== next)
      this.#now = Math.max(this.#now, next.due)
      next.run()
    }
    this.#now = end
    await settled()
  }

  /** As when the loop stood still for `ms`: what fell due meanwhile runs in one turn, before anything is read. */
  holdUp(ms: number): void {
    this.#now += ms
    const due = this.#timers.filter((t) => t.due <= this.#now).sort((a, b) => a.due - b.due || a.seq - b.seq)
    for (const timer of due) {
      // One that ran before it may have cancelled it.
      if (!this.#timers.includes(timer)) continue
      this.#timers = this.#timers.filter((t) => t !== timer)
      timer.run()
    }
  }
}

/** Every promise that can go on without waiting for the outside has gone on. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
