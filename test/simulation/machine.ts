/** A machine of the simulation: a clock that goes wrong, and ids that the seed gives. */
import type { Clock } from '../../src/base/clock.ts'
import type { Ids } from '../../src/base/ids.ts'
import type { Random } from '../fuzz/random.ts'
import type { Machine } from './etcd/network.ts'
import { epochMs } from './runtime/simulated-process.ts'
import type { Scheduler } from './scheduler.ts'

/** As far as quartz goes wrong, and more. */
const mostDrift = 0.002

export class SimulatedMachine implements Machine {
  readonly name: string
  readonly clock: SkewedClock
  readonly ids: Ids
  isAlive = true

  constructor(name: string, scheduler: Scheduler, random: Random) {
    this.name = name
    const drift = (random.next() - 0.5) * 2 * mostDrift
    this.clock = new SkewedClock(scheduler, drift, () => this.isAlive)
    this.ids = idsFrom(random)
  }
}

export class SkewedClock implements Clock {
  readonly #scheduler: Scheduler
  readonly #rate: number
  readonly #isAlive: () => boolean
  #jumpedMs = 0

  constructor(scheduler: Scheduler, drift: number, isAlive: () => boolean) {
    this.#scheduler = scheduler
    this.#rate = 1 + drift
    this.#isAlive = isAlive
  }

  now(): number {
    return epochMs + this.#jumpedMs + Math.floor(this.monotonic())
  }

  monotonic(): number {
    return this.#scheduler.now * this.#rate
  }

  after(ms: number, run: () => void): { cancel(): void } {
    return this.#scheduler.after(ms / this.#rate, () => {
      if (this.#isAlive()) run()
    })
  }

  /** The wall clock is set. */
  jump(ms: number): void {
    this.#jumpedMs += ms
  }
}

const suffixLetters = 'bcdfghjklmnpqrstvwxz2456789'

function idsFrom(random: Random): Ids {
  const hex = (digits: number): string => Array.from({ length: digits }, () => random.below(16).toString(16)).join('')
  return {
    uid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
    nameSuffix: () => Array.from({ length: 5 }, () => suffixLetters[random.below(suffixLetters.length)]).join(''),
  }
}
