import { FakeClock } from '../../src/base/fake-clock.ts'

/** A clock whose wall time can be set, as an operator or a time server does it: the monotonic time goes on. */
export class SettableClock extends FakeClock {
  #setByMs = 0

  override now(): number {
    return super.now() + this.#setByMs
  }

  set(byMs: number): void {
    this.#setByMs += byMs
  }
}
