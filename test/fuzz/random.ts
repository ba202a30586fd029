/** Random choices that a seed repeats: mulberry32. */
export class Random {
  #state: number

  /** Generators of other numbers are independent of this one. */
  constructor(...numbers: readonly number[]) {
    let state = 0x9e3779b9
    for (const n of numbers) state = Math.imul(state ^ n, 0x85ebca6b) ^ (state >>> 13)
    this.#state = state
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new Error('there is nothing to choose from')
    return items[this.below(items.length)] as T
  }

  /** Up to `most` of what `make` makes. */
  some<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, make)
  }

  /** One of the alternatives, as often as its weight says. */
  weighted<T>(alternatives: readonly (readonly [weight: number, make: () => T])[]): T {
    let at = this.next() * alternatives.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, make] of alternatives) {
      at -= weight
      if (at < 0) return make()
    }
    return (alternatives.at(-1) as (typeof alternatives)[number])[1]()
  }
}
