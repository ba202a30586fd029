/**
 * One bit for each number of a range: which are taken, and from anywhere on the free ones. A full range is known to be
 * full without a look at each number.
 */

/** Tells of everything that is taken, then of each that is taken or given back. */
export type FollowTaken = (changed: (name: string, isTaken: boolean) => void) => void

/**
 * Random numbers that are tried first: so many that a range that is half full needs the bits once in four thousand
 * million times.
 */
export const probes = 32

const wordBits = 32
const full = 0xffff_ffff

export class AllocationBitmap {
  readonly #count: number
  readonly #reserved: number
  readonly #words: Uint32Array

  /** Numbers from 0 to `count` - 1; the first `reserved` are for clients that ask by number. */
  constructor(count: number, reserved: number) {
    this.#count = count
    this.#reserved = reserved
    this.#words = new Uint32Array(Math.ceil(count / wordBits))
  }

  /** What is not in the range is nothing to us. */
  set(at: number, isTaken: boolean): void {
    if (!(at >= 0 && at < this.#count)) return
    const word = at >>> 5
    const bit = 1 << (at & (wordBits - 1))
    const before = this.#words[word] ?? 0
    this.#words[word] = isTaken ? before | bit : before & ~bit
  }

  /**
   * Those that are free, each once: from a random one of the upper part on, then the lower part. @param random from 0
   * to 1
   */
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
