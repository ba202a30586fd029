/** The quotas as the cache shows them, parsed once for each spec. */
import type { ResourceType } from '../../kube/resource-type.ts'
import type { Lister } from '../../registry/registry.ts'
import { type ParsedQuota, parseQuota } from './selection.ts'
import type { ClusterResourceQuota } from './types.ts'

export class QuotaIndex {
  readonly #byName = new Map<string, ParsedQuota>()
  readonly #byUid = new Map<string, ParsedQuota>()

  /** `changed`: told of each quota that is there at first, and of each that comes, goes or is changed. */
  follow(lister: Lister, type: ResourceType<ClusterResourceQuota>, changed: () => void): void {
    lister.subscribe(type, (next, old) => {
      const name = (next ?? old)?.name ?? ''
      const known = this.#byName.get(name)
      const { uid, generation } = next?.metadata ?? {}
      // Statuses change all the time.
      if (next !== undefined && known?.uid === uid && known?.generation === Number(generation ?? 0)) return
      if (known !== undefined) this.#byUid.delete(known.uid)
      if (next === undefined) this.#byName.delete(name)
      else {
        const quota = parseQuota(next.object)
        this.#byName.set(name, quota)
        this.#byUid.set(quota.uid, quota)
      }
      changed()
    })
  }

  get isEmpty(): boolean {
    return this.#byName.size === 0
  }

  all(): Iterable<ParsedQuota> {
    return this.#byName.values()
  }

  find(name: string): ParsedQuota | undefined {
    return this.#byName.get(name)
  }

  byUid(uid: string): ParsedQuota | undefined {
    return this.#byUid.get(uid)
  }
}
