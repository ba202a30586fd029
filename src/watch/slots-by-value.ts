/**
 * Which objects have which value of one label, in typed arrays: chains of slots by the hash of the value. Two values
 * may share a hash, so what is found here is looked at again.
 */
import { HashIndex } from '../slabs/hash-index.ts'

const firstEntries = 64

export class SlotsByValue {
  /** Hash of a value → the first entry of its chain. */
  readonly #heads = new HashIndex()
  /** Hash of a slot → its entry. */
  readonly #entries = new HashIndex()
  #hashes = new Uint32Array(firstEntries)
  #slots = new Uint32Array(firstEntries)
  #next = new Uint32Array(firstEntries)
  #before = new Uint32Array(firstEntries)
  /** How long a chain is, at its first entry. */
  #counts = new Uint32Array(firstEntries)
  /** Entry 0 is none. */
  #used = 1
  /** Entries that were given back, chained by `#next`. */
  #free = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  get sizeBytes(): number {
    return this.#heads.sizeBytes + this.#entries.sizeBytes + this.#hashes.byteLength * 5
  }

  count(hash: number): number {
    return this.#counts[this.#heads.find(hash, anyEntry)] as number
  }

  /** Adds what has a value of this hash to `found`. */
  collect(hash: number, found: Set<number>): void {
    for (let at = this.#heads.find(hash, anyEntry); at !== 0; at = this.#next[at] as number) {
      found.add(this.#slots[at] as number)
    }
  }

  /** `hash` undefined = it has no value. */
  set(slot: number, hash: number | undefined): void {
    const entry = this.#entryOf(slot)
    if (entry !== 0 && this.#hashes[entry] === hash) return
    if (entry !== 0) this.#remove(entry)
    if (hash !== undefined) this.#add(slot, hash)
  }

  #entryOf(slot: number): number {
    return this.#entries.find(mixed(slot), (entry) => this.#slots[entry] === slot)
  }

  #add(slot: number, hash: number): void {
    const entry = this.#take()
    const first = this.#heads.find(hash, anyEntry)
    this.#slots[entry] = slot
    this.#hashes[entry] = hash
    this.#next[entry] = first
    this.#before[entry] = 0
    this.#counts[entry] = (this.#counts[first] as number) + 1
    if (first === 0) this.#heads.add(hash, entry)
    else {
      this.#before[first] = entry
      this.#heads.replace(hash, first, entry)
    }
    this.#entries.add(mixed(slot), entry)
    this.#size++
  }

  #remove(entry: number): void {
    const slot = this.#slots[entry] as number
    const hash = this.#hashes[entry] as number
    const next = this.#next[entry] as number
    const before = this.#before[entry] as number
    const first = this.#heads.find(hash, anyEntry)
    const left = (this.#counts[first] as number) - 1
    if (before !== 0) this.#next[before] = next
    if (next !== 0) this.#before[next] = before
    if (left === 0) this.#heads.remove(hash, entry)
    else if (first === entry) this.#heads.replace(hash, entry, next)
    if (left > 0) this.#counts[first === entry ? next : first] = left
    this.#entries.remove(mixed(slot), entry)
    this.#slots[entry] = 0
    this.#next[entry] = this.#free
    this.#free = entry
    this.#size--
  }

  #take(): number {
    const free = this.#free
    if (free !== 0) {
      this.#free = this.#next[free] as number
      return free
    }
    if (this.#used === this.#slots.length) this.#grow()
    return this.#used++
  }

  #grow(): void {
    const doubled = (array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> => {
      const larger = new Uint32Array(array.length * 2)
      larger.set(array)
      return larger
    }
    this.#hashes = doubled(this.#hashes)
    this.#slots = doubled(this.#slots)
    this.#next = doubled(this.#next)
    this.#before = doubled(this.#before)
    this.#counts = doubled(this.#counts)
  }
}

/** All entries under one hash of a value are one chain. */
const anyEntry = (): boolean => true

/** Slots differ in few bits; the index goes by the highest and the lowest. */
function mixed(slot: number): number {
  let hash = Math.imul(slot ^ (slot >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
