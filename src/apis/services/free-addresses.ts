/**
 * Which address a Service is given that asks for none: a random one, and where too many of those are taken, one that is
 * known to be free. That is read from one bit for each address of the range, so a full range is known to be full without
 * a look at each. A range has its bits from the first time on that luck was not enough: 128 KiB at most.
 *
 * What is queued and not yet stored is not in the bits: who asks looks at each answer itself.
 */
import { parseAddress } from '../../kube/ip-address.ts'
import type { AddressRange } from './address-range.ts'

/** Tells of every address that is taken, then of each that is taken or given back. */
export type FollowTaken = (changed: (name: string, isTaken: boolean) => void) => void

/** So many that a range that is half full needs the bits once in four thousand million times. */
const probes = 32
/** Of a larger range the beginning: so many Services are nowhere. */
const mostBits = 1 << 20

export class FreeAddresses {
  readonly #random: () => number
  readonly #follow: FollowTaken
  readonly #taken = new Map<string, TakenBits>()

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

  #bitsOf(range: AddressRange): TakenBits {
    let bits = this.#taken.get(range.cidr)
    if (bits === undefined) {
      const made = new TakenBits(range)
      this.#follow((name, isTaken) => made.set(name, isTaken))
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

const wordBits = 32
const full = 0xffff_ffff

class TakenBits {
  readonly #range: AddressRange
  readonly #reserved: number
  readonly #count: number
  readonly #words: Uint32Array

  constructor(range: AddressRange) {
    const size = range.last - range.first + 1n
    this.#range = range
    this.#reserved = Number(range.reserved)
    this.#count = size < mostBits ? Number(size) : mostBits
    this.#words = new Uint32Array(Math.ceil(this.#count / wordBits))
  }

  set(name: string, isTaken: boolean): void {
    const address = parseAddress(name)
    if (address === undefined || address.family !== this.#range.family) return
    const offset = address.value - this.#range.first
    if (offset < 0n || offset >= this.#count) return
    const at = Number(offset)
    const word = at >>> 5
    const bit = 1 << (at & (wordBits - 1))
    const before = this.#words[word] ?? 0
    this.#words[word] = isTaken ? before | bit : before & ~bit
  }

  /** Offsets, each once: from a random one of the upper part on, then the lower part. */
  *free(random: number): Generator<number> {
    const start = this.#reserved + Math.floor(random * (this.#count - this.#reserved))
    yield* this.#between(start, this.#count)
    yield* this.#between(this.#reserved, start)
    yield* this.#between(0, this.#reserved)
  }

  *#between(from: number, to: number): Generator<number> {
    let at = from
    while (at < to) {
      const word = this.#words[at >>> 5] ?? full
      if (word === full) at = ((at >>> 5) + 1) * wordBits
      else {
        if ((word & (1 << (at & (wordBits - 1)))) === 0) yield at
        at++
      }
    }
  }
}
