/** How often drift was corrected where: a fight with another writer ends, and is told without a flood of Events. */
import type { Clock } from '../../base/clock.ts'

const hourMs = 3_600_000
/** Of one object with `drift: Strict` within an hour; then it is left as it is. */
export const mostCorrections = 10
/** Between two Events about one object. */
const quietMs = 60_000
/** Objects that are remembered; beyond it the one that was corrected first is forgotten. */
const remembered = 10_000

interface Fight {
  /** On the monotonic clock, the last of them. */
  readonly at: number[]
  toldAt: number
}

export class Corrections {
  readonly #clock: Clock
  /** By the uid of the namespace and the identity of the object. */
  readonly #fights = new Map<string, Fight>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Answers whether it is to be told. */
  note(place: string): boolean {
    const now = this.#clock.monotonic()
    const fight = this.#fights.get(place) ?? { at: [], toldAt: Number.NEGATIVE_INFINITY }
    fight.at.push(now)
    if (fight.at.length > mostCorrections) fight.at.shift()
    this.#fights.delete(place)
    this.#fights.set(place, fight)
    const [oldest] = this.#fights.keys()
    if (this.#fights.size > remembered && oldest !== undefined) this.#fights.delete(oldest)
    if (now - fight.toldAt < quietMs) return false
    fight.toldAt = now
    return true
  }

  /** It was corrected as often as it may be within an hour. */
  isSpent(place: string): boolean {
    const fight = this.#fights.get(place)
    const [first = 0] = fight?.at ?? []
    return fight !== undefined && fight.at.length >= mostCorrections && this.#clock.monotonic() - first < hourMs
  }
}
