/** A map with a budget: forgets what was used longest ago once what it holds is larger than that. */
export class SizedCache<V> {
  readonly #budget: number
  readonly #entries = new Map<string, { readonly value: V; readonly size: number }>()
  #size = 0

  constructor(budget: number) {
    this.#budget = budget
  }

  get size(): number {
    return this.#size
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** What is larger than the whole budget is not kept. */
  set(key: string, value: V, size: number): void {
    this.delete(key)
    if (size > this.#budget) return
    this.#entries.set(key, { value, size })
    this.#size += size
    for (const [oldest] of this.#entries) {
      if (this.#size <= this.#budget) return
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#size -= entry.size
  }
}
