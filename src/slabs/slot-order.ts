/**
 * The slots of all records in the order of their keys: blocks of at most 512, the blocks in one array, as in
 * `OrderedMap`. Keys are not kept: a comparison reads the record.
 *
 * Invariants: no block is empty; keys ascend within a block and from block to block.
 */
import type { Slot } from './byte-slabs.ts'

const maxBlock = 512
const firstBlock = 8
/** A block below this size is joined with its neighbour, so that deletes leave no dust. */
const minBlock = 96

interface Block {
  slots: Uint32Array
  count: number
}

/** Where a key belongs: the block, and the place in it of the first key that is not below. */
export interface Place {
  readonly block: number
  readonly at: number
}

/** Is the key of this record below the key that is looked for? */
export type IsBelow = (slot: Slot) => boolean

export class SlotOrder {
  readonly #blocks: Block[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Bytes of its arrays. */
  get sizeBytes(): number {
    return this.#blocks.reduce((sum, { slots }) => sum + slots.byteLength, 0)
  }

  /** Of the first key that is not below. */
  place(isBelow: IsBelow): Place {
    let low = 0
    let high = this.#blocks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBelow((this.#blocks[middle] as Block).slots[0] as number)) low = middle + 1
      else high = middle
    }
    const block = Math.max(0, low - 1)
    const { slots, count } = this.#blocks[block] ?? emptyBlock
    let from = 0
    let to = count
    while (from < to) {
      const middle = (from + to) >>> 1
      if (isBelow(slots[middle] as number)) from = middle + 1
      else to = middle
    }
    return from === count && block + 1 < this.#blocks.length ? { block: block + 1, at: 0 } : { block, at: from }
  }

  /** How many keys stand before it. */
  rank({ block, at }: Place): number {
    let rank = at
    for (let i = 0; i < block; i++) rank += (this.#blocks[i] as Block).count
    return rank
  }

  /** undefined = there is none. */
  get last(): Slot | undefined {
    const block = this.#blocks[this.#blocks.length - 1]
    return block?.slots[block.count - 1]
  }

  /** Its key is above all others. At the end a fresh block is begun: loading in key order leaves full blocks. */
  append(slot: Slot): void {
    const block = this.#blocks[this.#blocks.length - 1]
    this.#size++
    if (block === undefined || block.count === maxBlock) this.#blocks.push(newBlock([slot]))
    else if (block.count < block.slots.length) block.slots[block.count++] = slot
    else insertAt(block, block.count, slot)
  }

  insert({ block: place, at }: Place, slot: Slot): void {
    const block = this.#blocks[place]
    if (block === undefined || (place === this.#blocks.length - 1 && at === block.count)) return this.append(slot)
    this.#size++
    if (block.count < maxBlock) return insertAt(block, at, slot)
    const half = maxBlock >>> 1
    const upper = newBlock(block.slots.subarray(half, block.count))
    block.count = half
    this.#blocks.splice(place + 1, 0, upper)
    if (at <= half) insertAt(block, at, slot)
    else insertAt(upper, at - half, slot)
  }

  /** The record at this place has another slot now. */
  replace({ block, at }: Place, slot: Slot): void {
    const { slots } = this.#blocks[block] as Block
    slots[at] = slot
  }

  remove({ block: place, at }: Place): void {
    const block = this.#blocks[place] as Block
    block.slots.copyWithin(at, at + 1, block.count)
    block.count--
    this.#size--
    if (block.count === 0) this.#blocks.splice(place, 1)
    else if (block.count < minBlock) this.#join(place)
  }

  /** At most `limit` from `from` on, up to the place `to`. */
  between(from: Place, to: Place, limit: number): Uint32Array {
    const found = new Uint32Array(Math.max(0, Math.min(this.rank(to) - this.rank(from), limit)))
    let filled = 0
    for (let i = from.block; filled < found.length; i++) {
      const { slots, count } = this.#blocks[i] as Block
      const start = i === from.block ? from.at : 0
      const end = Math.min(count, start + found.length - filled)
      found.set(slots.subarray(start, end), filled)
      filled += end - start
    }
    return found
  }

  #join(place: number): void {
    const block = this.#blocks[place] as Block
    const next = this.#blocks[place + 1]
    if (next === undefined || block.count + next.count > maxBlock >>> 1) return
    const joined = newBlock(block.slots.subarray(0, block.count), maxBlock >>> 1)
    joined.slots.set(next.slots.subarray(0, next.count), block.count)
    joined.count += next.count
    this.#blocks.splice(place, 2, joined)
  }
}

const emptyBlock: Block = { slots: new Uint32Array(0), count: 0 }

function newBlock(slots: ArrayLike<Slot>, room = firstBlock): Block {
  let places = room
  while (places < slots.length) places *= 2
  const block = { slots: new Uint32Array(places), count: slots.length }
  block.slots.set(slots)
  return block
}

function insertAt(block: Block, at: number, slot: Slot): void {
  if (block.count === block.slots.length) {
    const larger = new Uint32Array(block.count * 2)
    larger.set(block.slots)
    block.slots = larger
  }
  block.slots.copyWithin(at + 1, at, block.count)
  block.slots[at] = slot
  block.count++
}
