/**
 * A map sorted by key (UTF-8 byte order), for a million keys and more.
 *
 * Keys lie in blocks of at most 512, the blocks in one array: a two-level B-tree. Finding is two binary searches,
 * inserting moves at most 512 references (and, once in 256 inserts, the array of blocks), a scan of n entries costs n.
 * A sorted array would move a million references per insert; a balanced tree costs an object per key and jumps about
 * in memory while scanning.
 *
 * Invariants: no block is empty; keys ascend within a block and from block to block.
 */
import { bytesLess, needsByteOrder } from './key-order.ts'

const maxBlock = 512
/** A block below this size is joined with its neighbour, so that deletes leave no dust. */
const minBlock = 96

interface Block<V> {
  readonly keys: string[]
  readonly values: V[]
}

/** A place in the map. Valid until the map changes. */
export interface Cursor<V> {
  /** undefined = past the last key. */
  readonly key: string | undefined
  readonly value: V | undefined
  next(): void
}

export class OrderedMap<V> {
  #blocks: Block<V>[] = []
  #size = 0
  /** Set by the first key that `<` might order wrongly. Until then `<` is right, and several times faster. */
  #byBytes = false

  get size(): number {
    return this.#size
  }

  get(key: string): V | undefined {
    const block = this.#blocks[this.#blockOf(key)]
    if (!block) return undefined
    const i = this.#lowerBound(block.keys, key)
    return block.keys[i] === key ? block.values[i] : undefined
  }

  /** Returns what was there before. */
  set(key: string, value: V): V | undefined {
    return this.#put(key, value, true)
  }

  /** Puts `value` there only if there is none. Returns what was there before. */
  add(key: string, value: V): V | undefined {
    return this.#put(key, value, false)
  }

  /** Returns what was removed. */
  delete(key: string): V | undefined {
    const at = this.#blockOf(key)
    const block = this.#blocks[at]
    if (!block) return undefined
    const i = this.#lowerBound(block.keys, key)
    if (block.keys[i] !== key) return undefined
    const before = block.values[i]
    block.keys.splice(i, 1)
    block.values.splice(i, 1)
    this.#size--
    if (block.keys.length < minBlock) this.#join(at)
    return before
  }

  /** A cursor on the first key ≥ `start`. */
  seek(start: string): Cursor<V> {
    let at = this.#blockOf(start)
    let block = this.#blocks[at]
    let i = block ? this.#lowerBound(block.keys, start) : 0
    const blocks = this.#blocks
    const settle = (): void => {
      while (block && i >= block.keys.length) {
        block = blocks[++at]
        i = 0
      }
    }
    settle()
    return {
      get key() {
        return block?.keys[i]
      },
      get value() {
        return block?.values[i]
      },
      next() {
        i++
        settle()
      },
    }
  }

  /** The values of start ≤ key < end in order, at most `limit`; `more` says that the limit cut some off. */
  collect(start: string, end: string, limit: number): { values: V[]; more: boolean } {
    const values: V[] = []
    let at = this.#blockOf(start)
    let from = -1
    for (let block = this.#blocks[at]; block; block = this.#blocks[++at]) {
      if (from < 0) from = this.#lowerBound(block.keys, start)
      const last = block.keys[block.keys.length - 1] as string
      const to = this.#less(last, end) ? block.keys.length : this.#lowerBound(block.keys, end)
      for (let i = from; i < to; i++) {
        if (values.length === limit) return { values, more: true }
        values.push(block.values[i] as V)
      }
      if (to < block.keys.length) break
      from = 0
    }
    return { values, more: false }
  }

  /** How many keys there are with start ≤ key < end. Costs the number of blocks, not of keys. */
  count(start: string, end: string): number {
    return this.#rank(end) - this.#rank(start)
  }

  /** How many keys are below `key`. */
  #rank(key: string): number {
    const at = this.#blockOf(key)
    const block = this.#blocks[at]
    if (!block) return 0
    let rank = this.#lowerBound(block.keys, key)
    for (let i = 0; i < at; i++) rank += (this.#blocks[i] as Block<V>).keys.length
    return rank
  }

  #put(key: string, value: V, replaces: boolean): V | undefined {
    if (!this.#byBytes && needsByteOrder(key)) this.#byBytes = true
    const at = this.#blockOf(key)
    const block = this.#blocks[at]
    if (!block) {
      this.#blocks.push({ keys: [key], values: [value] })
      this.#size++
      return undefined
    }
    const i = this.#lowerBound(block.keys, key)
    if (block.keys[i] === key) {
      const before = block.values[i]
      if (replaces) block.values[i] = value
      return before
    }
    this.#size++
    if (block.keys.length >= maxBlock) {
      this.#insertIntoFull(at, block, i, key, value)
    } else if (i === block.keys.length) {
      block.keys.push(key)
      block.values.push(value)
    } else {
      block.keys.splice(i, 0, key)
      block.values.splice(i, 0, value)
    }
    return undefined
  }

  #less(a: string, b: string): boolean {
    return this.#byBytes ? bytesLess(a, b) : a < b
  }

  /** The block that holds `key` or would receive it: the last one whose first key is ≤ `key`, else the first. */
  #blockOf(key: string): number {
    const blocks = this.#blocks
    let low = 0
    let high = blocks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#less(key, (blocks[middle] as Block<V>).keys[0] as string)) high = middle
      else low = middle + 1
    }
    return low === 0 ? 0 : low - 1
  }

  /** Index of the first key ≥ `key`. */
  #lowerBound(keys: readonly string[], key: string): number {
    let low = 0
    let high = keys.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#less(keys[middle] as string, key)) low = middle + 1
      else high = middle
    }
    return low
  }

  #insertIntoFull(at: number, block: Block<V>, i: number, key: string, value: V): void {
    // At the very end a fresh block is begun: loading in key order then leaves full blocks, not half-full ones.
    if (i === block.keys.length && at === this.#blocks.length - 1) {
      this.#blocks.push({ keys: [key], values: [value] })
      return
    }
    const half = maxBlock >>> 1
    const upper: Block<V> = { keys: block.keys.splice(half), values: block.values.splice(half) }
    this.#blocks.splice(at + 1, 0, upper)
    const target = i <= half ? block : upper
    const place = i <= half ? i : i - half
    target.keys.splice(place, 0, key)
    target.values.splice(place, 0, value)
  }

  #join(at: number): void {
    const block = this.#blocks[at] as Block<V>
    const neighbour = this.#blocks[at + 1]
    if (block.keys.length === 0) this.#blocks.splice(at, 1)
    else if (neighbour && neighbour.keys.length + block.keys.length <= maxBlock >>> 1) {
      for (const key of neighbour.keys) block.keys.push(key)
      for (const value of neighbour.values) block.values.push(value)
      this.#blocks.splice(at + 1, 1)
    }
  }
}
