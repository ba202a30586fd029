/**
 * The ranges that addresses come from: those of all ServiceCIDRs in the store, so that every replica has the same and a
 * range that is added is used at once. One that says it is not ready, or is being deleted, gives nothing more.
 */
import { type AddressRange, parseCidr } from './address-range.ts'
import { type Family, type ServiceCidr } from './types.ts'

export class ServiceRanges {
  readonly #byName = new Map<string, readonly AddressRange[]>()
  #byFamily: ReadonlyMap<Family, readonly AddressRange[]> | undefined

  /** Told of every ServiceCIDR and each of its changes; undefined = it is gone. */
  changed(name: string, cidr: ServiceCidr | undefined): void {
    this.#byFamily = undefined
    if (cidr === undefined || !isReady(cidr)) this.#byName.delete(name)
    else
      this.#byName.set(
        name,
        (cidr.spec?.cidrs ?? []).flatMap((text) => parseCidr(text) ?? []),
      )
  }

  /** By name of their ServiceCIDR. */
  of(family: Family): readonly AddressRange[] {
    if (this.#byFamily === undefined) {
      const all = [...this.#byName.keys()].sort().flatMap((name) => this.#byName.get(name) ?? [])
      this.#byFamily = new Map((['IPv4', 'IPv6'] as const).map((f) => [f, all.filter((range) => range.family === f)]))
    }
    return this.#byFamily.get(family) ?? []
  }
}

/** Where no controller says anything of it, it is. */
function isReady(cidr: ServiceCidr): boolean {
  if (cidr.metadata.deletionTimestamp !== undefined) return false
  const ready = cidr.status?.conditions?.find((condition) => condition.type === 'Ready')
  return ready === undefined || ready.status === 'True'
}
