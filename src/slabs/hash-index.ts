/**
 * Finds the slot of a record by the hash of its key: open addressing in typed arrays, eight bytes a place. It is cut
 * into shards that grow one by one, so that growing never moves more than a small part of it at once.
 */
import type { Slot } from './byte-slabs.ts'

const shardBits = 6
const firstPlaces = 8

interface Shard {
  /** 0 = free. */
  slots: Uint32Array
  hashes: Uint32Array
  count: number
}

const newShard = (places: number): Shard => ({
  slots: new Uint32Array(places),
  hashes: new Uint32Array(places),
  count: 0,
})

export class HashIndex {
  readonly #shards: (Shard | undefined)[] = Array.from({ length: 2 ** shardBits }, () => undefined)

  /** The first slot under this hash that is accepted; 0 = none. */
  find(hash: number, accept: (slot: Slot) => boolean): Slot {
    const shard = this.#shards[hash >>> (32 - shardBits)]
    if (shard === undefined) return 0
    const { slots, hashes } = shard
    const mask = slots.length - 1
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const slot = slots[at] as number
      if (slot === 0 || (hashes[at] === hash && accept(slot))) return slot
    }
  }

  add(hash: number, slot: Slot): void {
    const place = hash >>> (32 - shardBits)
    let shard = this.#shards[place]
    if (shard === undefined) this.#shards[place] = shard = newShard(firstPlaces)
    else if (shard.count >= shard.slots.length * 0.75) this.#shards[place] = shard = grown(shard)
    insert(shard, hash, slot)
  }

  replace(hash: number, from: Slot, to: Slot): void {
    const shard = this.#shardOf(hash)
    shard.slots[placeOf(shard, hash, from)] = to
  }

  /** What stands behind it moves up, so that no place is left that only looks occupied. */
  remove(hash: number, slot: Slot): void {
    const shard = this.#shardOf(hash)
    const { slots, hashes } = shard
    const mask = slots.length - 1
    let hole = placeOf(shard, hash, slot)
    for (let at = (hole + 1) & mask; slots[at] !== 0; at = (at + 1) & mask) {
      const home = (hashes[at] as number) & mask
      if (((at - home) & mask) < ((at - hole) & mask)) continue
      slots[hole] = slots[at] as number
      hashes[hole] = hashes[at] as number
      hole = at
    }
    slots[hole] = 0
    shard.count--
  }

  /** Bytes of its arrays. */
  get sizeBytes(): number {
    return this.#shards.reduce((sum, shard) => sum + (shard === undefined ? 0 : shard.slots.length * 8), 0)
  }

  #shardOf(hash: number): Shard {
    const shard = this.#shards[hash >>> (32 - shardBits)]
    if (shard === undefined) throw new Error('no record has this hash')
    return shard
  }
}

function placeOf({ slots }: Shard, hash: number, slot: Slot): number {
  const mask = slots.length - 1
  for (let at = hash & mask; ; at = (at + 1) & mask) {
    if (slots[at] === slot) return at
    if (slots[at] === 0) throw new Error(`slot ${slot} is not under its hash`)
  }
}

function insert(shard: Shard, hash: number, slot: Slot): void {
  const mask = shard.slots.length - 1
  let at = hash & mask
  while (shard.slots[at] !== 0) at = (at + 1) & mask
  shard.slots[at] = slot
  shard.hashes[at] = hash
  shard.count++
}

function grown({ slots, hashes }: Shard): Shard {
  const larger = newShard(slots.length * 2)
  for (let at = 0; at < slots.length; at++) {
    if (slots[at] !== 0) insert(larger, hashes[at] as number, slots[at] as number)
  }
  return larger
}
