/**
 * Which address a Service is given that asks for none: a random one, and where too many of those are taken, one that is
 * known to be free. That is read from one bit for each address of the range, so a full range is known to be full
 * without a look at each. A range has its bits from the first time on that luck was not enough: 128 KiB at most.
 *
 * What is queued and not yet stored is not in the bits: who asks looks at each answer itself.
 */
import { parseAddress } from '../../kube/ip-address.ts'
import type { AddressRange } from './address-range.ts'
import { AllocationBitmap, type FollowTaken, probes } from './allocation-bitmap.ts'

/** Of a larger range the beginning: so many Services are nowhere. */
const mostBits = 1 << 20

export class FreeAddresses {
  readonly #random: () => number
  readonly #follow: FollowTaken
  readonly #taken = new Map<string, AllocationBitmap>()

  /** `random`: from 0 to 1, as Math.random. */
  constructor(random: () => number, follow: FollowTaken) {
    this.#random = random
    this.#follow = follow
  }

  /** In the order in which they are to be tried; those that are reserved for who asks by name last. Some come twice. */
  *of(range: AddressRange): Generator<bigint> {
    const { first, last, reserved } = range
    const count = last - first + 1n - reserved
    for (let i = 0; i < probes; i++) yield first + reserved + this.#below(count)
    for (const offset of this.#bitsOf(range).free(this.#random())) yield first + BigInt(offset)
  }

  #bitsOf(range: AddressRange): AllocationBitmap {
    let bits = this.#taken.get(range.cidr)
    if (bits === undefined) {
      const size = range.last - range.first + 1n
      const count = size < mostBits ? Number(size) : mostBits
      const made = new AllocationBitmap(count, Number(range.reserved))
      this.#follow((name, isTaken) => {
        const address = parseAddress(name)
        // Numbers beyond what a double can tell apart are far beyond the bits.
        if (address?.family === range.family) made.set(Number(address.value - range.first), isTaken)
      })
      this.#taken.set(range.cidr, made)
      bits = made
    }
    return bits
  }

  /** Of a large IPv6 range only as many addresses as a random number can tell apart. */
  #below(count: bigint): bigint {
    const steps = count < 1n << 52n ? count : 1n << 52n
    return BigInt(Math.floor(this.#random() * Number(steps)))
  }
}
