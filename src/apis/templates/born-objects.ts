/**
 * What this process stored along with its namespaces, until the population controller has seen it on its watch: nobody
 * else knows what was applied without looking into the object. Another process that leads looks.
 */
import { BoundedCache } from '../../base/bounded-cache.ts'

/** Many times what can be on its way at one moment; a process that does not lead keeps no more. */
const rememberedObjects = 4096

export class BornObjects {
  /** uid → `Rendered.config` */
  readonly #configs = new BoundedCache<string, string>(rememberedObjects)

  remember(uid: string, config: string): void {
    this.#configs.set(uid, config)
  }

  has(uid: string): boolean {
    return this.#configs.get(uid) !== undefined
  }

  take(uid: string): string | undefined {
    const config = this.#configs.get(uid)
    this.#configs.delete(uid)
    return config
  }
}
