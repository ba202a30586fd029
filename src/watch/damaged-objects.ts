/** Objects whose stored value is not what was written: which they are, and what is wrong with each. */

export class DamagedObjects {
  readonly #byType = new Map<string, Map<string, string>>()
  readonly #listeners: (() => void)[] = []

  get size(): number {
    let size = 0
    for (const keys of this.#byType.values()) size += keys.size
    return size
  }

  /** `damage` undefined: the object is sound now, or gone. `key`: within its type. */
  set(storageName: string, key: string, damage: string | undefined): void {
    let keys = this.#byType.get(storageName)
    if (damage === undefined) {
      if (keys?.delete(key) && keys.size === 0) this.#byType.delete(storageName)
    } else {
      if (keys === undefined) this.#byType.set(storageName, (keys = new Map<string, string>()))
      keys.set(key, damage)
    }
    for (const listener of this.#listeners) listener()
  }

  /** Called when an object turns out to be damaged, or no longer is. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** What is wrong with the first one in the span; undefined: all are sound. */
  find(storageName: string, { start, end }: { readonly start: string; readonly end: string }): string | undefined {
    const keys = this.#byType.get(storageName)
    if (keys === undefined) return undefined
    const first = [...keys.keys()].filter((key) => key >= start && key < end).sort()[0]
    return first === undefined ? undefined : keys.get(first)
  }

  /** In no particular order. */
  *all(): Generator<string> {
    for (const keys of this.#byType.values()) yield* keys.values()
  }
}
