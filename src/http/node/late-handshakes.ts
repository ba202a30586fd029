/**
 * Addresses whose connections are ended for what they send, one after the other. A flood over HTTP/2 costs little once
 * its connection has been cut; the handshake of the next one is what it costs. So further connections of such an
 * address begin their handshakes a second late. They are not refused: others may be behind the same address.
 */
import type { Clock } from '../../base/clock.ts'

/** So many within the window are no accident. */
const tolerated = 5
const windowMs = 10_000
const lateMs = 1000
/** Addresses that are remembered; the one that was first noted goes. */
const maxAddresses = 4096

interface Broken {
  sinceMs: number
  times: number
}

export class LateHandshakes {
  readonly #clock: Clock
  readonly #broken = new Map<string, Broken>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** One of its connections was ended for what came over it. */
  broke(address: string): void {
    const nowMs = this.#clock.monotonic()
    const known = this.#find(address, nowMs)
    if (known !== undefined) {
      known.times++
      return
    }
    if (this.#broken.size >= maxAddresses) this.#broken.delete(this.#broken.keys().next().value as string)
    this.#broken.set(address, { sinceMs: nowMs, times: 1 })
  }

  /** Calls `begin` now, or a second late. What it answers cancels that. */
  begin(address: string, begin: () => void): () => void {
    const times = this.#find(address, this.#clock.monotonic())?.times ?? 0
    if (times <= tolerated) {
      begin()
      return () => {}
    }
    const timer = this.#clock.after(lateMs, begin)
    return () => timer.cancel()
  }

  #find(address: string, nowMs: number): Broken | undefined {
    const known = this.#broken.get(address)
    if (known === undefined || nowMs - known.sinceMs < windowMs) return known
    this.#broken.delete(address)
    return undefined
  }
}
