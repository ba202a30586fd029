/**
 * What this process stored along with its namespaces: which configuration an object is of as long as it is the version
 * that was born. The population controller need not read it from the object then, as it must where another process gave
 * birth to it, or somebody was faster than its watch.
 */
import { BoundedCache } from '../../base/bounded-cache.ts'
import type { ObjectMeta } from '../../kube/types.ts'

/** Many times what can be on its way at one moment; a process that does not lead keeps no more. */
const rememberedObjects = 4096

interface Birth {
  readonly resourceVersion: string
  /** `Rendered.config` */
  readonly config: string
}

export class Births {
  /** By uid. */
  readonly #births = new BoundedCache<string, Birth>(rememberedObjects)

  remember(uid: string, birth: Birth): void {
    this.#births.set(uid, birth)
  }

  /** What was applied to this version; undefined = it was not born here, or is another one by now. */
  configOf({ uid = '', resourceVersion }: ObjectMeta): string | undefined {
    const birth = this.#births.get(uid)
    return birth?.resourceVersion === resourceVersion ? birth?.config : undefined
  }

  forget(uid: string): void {
    this.#births.delete(uid)
  }
}
