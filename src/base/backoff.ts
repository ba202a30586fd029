/** Exponential backoff per key: `base`, doubled for each failure in a row, at most `max`. */
export class Backoff<K> {
  readonly #baseMs: number
  readonly #maxMs: number
  readonly #failures = new Map<K, number>()

  constructor(baseMs: number, maxMs: number) {
    this.#baseMs = baseMs
    this.#maxMs = maxMs
  }

  /** Milliseconds to wait before the next try. */
  next(key: K): number {
    const failures = this.#failures.get(key) ?? 0
    this.#failures.set(key, failures + 1)
    return Math.min(this.#baseMs * 2 ** Math.min(failures, 30), this.#maxMs)
  }

  failures(key: K): number {
    return this.#failures.get(key) ?? 0
  }

  forget(key: K): void {
    this.#failures.delete(key)
  }
}
