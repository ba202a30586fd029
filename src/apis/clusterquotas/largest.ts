/**
 * Of many figures those that use most of the limit that they use most of, then by name: the few that a status lists. A
 * status is made each second of what may be a hundred thousand, so the order is kept as figures change, and of a few
 * hundred alone. Those that come down leave others to list; only where too few are left are all ranked again.
 *
 * Always: of what has been ranked, all that stands before `#bar` is kept, in order.
 */
import type { Resumable } from '../../base/resumable.ts'
import { type Amounts, amounts } from '../pods/resources.ts'
import { mostListed, type Printed } from './types.ts'

export interface Ranked<T> {
  readonly name: string
  readonly part: number
  readonly one: T
}

/** Of so many three quarters may come down before all are ranked again. */
const mostKept = 4 * mostListed
/** Ranked before other work may have a turn. */
const rankedAtOnce = 64

export class Largest<T extends { readonly used?: Printed }> {
  readonly #all: ReadonlyMap<string, T>
  readonly #nameOf: (key: string, one: T) => string
  /** What they are ranked by: the amounts of one spec are never changed in place. */
  #hard: Amounts | undefined
  #isWhole = false
  readonly #kept: Ranked<T>[] = []
  readonly #byName = new Map<string, Ranked<T>>()
  /** The first of those that were left out, or one before it. */
  #bar: Ranked<unknown> | undefined

  /** `nameOf`: '' = it is not listed. */
  constructor(all: ReadonlyMap<string, T>, nameOf: (key: string, one: T) => string) {
    this.#all = all
    this.#nameOf = nameOf
  }

  /** undefined = not before they have been ranked by these limits. */
  listed(hard: Amounts): readonly Ranked<T>[] | undefined {
    if (this.#all.size === 0) return []
    const isKnown = this.#hard === hard && this.#isWhole
    if (!isKnown || (this.#bar !== undefined && this.#kept.length < mostListed)) return undefined
    return this.#kept.slice(0, mostListed)
  }

  /** Meanwhile others may change; one ranking at a time. */
  *rank(hard: Amounts): Resumable<void> {
    this.#hard = hard
    this.#isWhole = false
    this.#kept.length = 0
    this.#byName.clear()
    this.#bar = undefined
    let ranked = 0
    for (const [key, one] of this.#all) {
      this.#offer(hard, this.#nameOf(key, one), one)
      if (++ranked % rankedAtOnce === 0) yield
    }
    this.#isWhole = true
  }

  /** To be called when it has been changed in the map, with what stood there before, or removed. */
  changed(key: string, before: T | undefined): void {
    if (this.#hard === undefined) return
    const one = this.#all.get(key)
    if (one !== undefined) this.#offer(this.#hard, this.#nameOf(key, one), one)
    else if (before !== undefined) this.#remove(this.#nameOf(key, before))
  }

  #offer(hard: Amounts, name: string, one: T): void {
    this.#remove(name)
    const ranked = { name, part: largestPart(amounts(one.used), hard), one }
    if (name === '' || (this.#bar !== undefined && !isBefore(ranked, this.#bar))) return
    this.#kept.splice(this.#placeOf(ranked), 0, ranked)
    this.#byName.set(name, ranked)
    if (this.#kept.length <= mostKept) return
    this.#bar = this.#kept.pop()
    if (this.#bar !== undefined) this.#byName.delete(this.#bar.name)
  }

  #remove(name: string): void {
    const kept = this.#byName.get(name)
    if (kept === undefined) return
    this.#byName.delete(name)
    this.#kept.splice(this.#placeOf(kept), 1)
  }

  /** How many stand before it. */
  #placeOf(ranked: Ranked<T>): number {
    let from = 0
    for (let to = this.#kept.length; from < to; ) {
      const middle = (from + to) >>> 1
      if (isBefore(this.#kept[middle] as Ranked<T>, ranked)) from = middle + 1
      else to = middle
    }
    return from
  }
}

const isBefore = (a: Ranked<unknown>, b: Ranked<unknown>): boolean =>
  a.part === b.part ? a.name < b.name : a.part > b.part

function largestPart(used: Amounts, hard: Amounts): number {
  let most = 0
  for (const [name, limit] of hard) {
    const amount = Number(used.get(name)?.nanos ?? 0n)
    most = Math.max(most, limit.nanos === 0n ? amount : amount / Number(limit.nanos))
  }
  return most
}
