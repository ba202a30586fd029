/**
 * Which node port a Service is given that asks for none: a random one, and where too many of those are taken, one that
 * is known to be free. The lower part of the range comes last: it is left to clients that ask by number.
 *
 * What is queued and not yet stored is not known here: who asks looks at each answer itself.
 * @see pkg/registry/core/service/portallocator of Kubernetes 1.36 (the parts of the range)
 */

import { AllocationBitmap, type FollowTaken, probes } from './allocation-bitmap.ts'
import { claimedPort } from './claims.ts'

export interface PortRange {
  readonly first: number
  readonly last: number
}

export class FreePorts {
  readonly range: PortRange
  readonly #random: () => number
  readonly #follow: FollowTaken
  #taken: AllocationBitmap | undefined

  /** `random`: from 0 to 1, as Math.random. `follow` tells of claims by name, and of what else is kept beside them. */
  constructor(range: PortRange, random: () => number, follow: FollowTaken) {
    this.range = range
    this.#random = random
    this.#follow = follow
  }

  /** In the order in which they are to be tried. Some come twice. */
  *candidates(): Generator<number> {
    const { first, last } = this.range
    const reserved = reservedOf(this.range)
    for (let i = 0; i < probes; i++) yield first + reserved + Math.floor(this.#random() * (last - first + 1 - reserved))
    for (const offset of this.#bits().free(this.#random())) yield first + offset
  }

  /** Kept from the first time on that luck was not enough. */
  #bits(): AllocationBitmap {
    if (this.#taken !== undefined) return this.#taken
    const { first, last } = this.range
    const made = new AllocationBitmap(last - first + 1, reservedOf(this.range))
    this.#follow((name, isTaken) => {
      const port = claimedPort(name)
      if (port !== undefined) made.set(port - first, isTaken)
    })
    this.#taken = made
    return made
  }
}

function reservedOf({ first, last }: PortRange): number {
  const size = last - first + 1
  return size <= 16 ? 0 : Math.min(Math.max(Math.floor(size / 32), 16), 128)
}
