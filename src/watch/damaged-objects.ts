/** Objects whose stored value is not what was written: which they are, and what is wrong with each. */
import type { Log } from '../base/log.ts'

/** Lines in the log: with a lost key all of a store is damaged. */
const mostTold = 100

export class DamagedObjects {
  readonly #byType = new Map<string, Map<string, string>>()
  readonly #listeners: (() => void)[] = []
  readonly #log: Log
  #told = 0

  constructor(log: Log) {
    this.#log = log
  }

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
      if (keys.get(key) !== damage) this.#tell(damage)
      keys.set(key, damage)
    }
    for (const listener of this.#listeners) listener()
  }

  /** When it is met first; each read of it is told with its request. */
  #tell(damage: string): void {
    if (this.#told === mostTold) return
    this.#told++
    this.#log.error({}, `${damage}; see 'borough storage repair'`)
    if (this.#told < mostTold) return
    this.#log.error({}, 'others that are damaged are not logged any more: /readyz?verbose names them')
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
