/**
 * Which objects of a type may match a label selector, without looking at all of them. An index of a label is made when
 * lists by it have looked at more objects than making it costs; it answers a superset, which the selector is asked
 * about again.
 *
 *   list by `team=a` ──▶ no index: all are looked at, and that is noted
 *   … looked at three times what there is ──▶ made in steps, beside other work ──▶ ready: kept true by each change
 */
import { bytesLess } from '../base/key-order.ts'
import { restBetween } from '../base/rest-between.ts'
import type { LabelRequirement, LabelSelector } from '../kube/label-selector.ts'
import type { Slot } from '../slabs/byte-slabs.ts'
import { SlotsByValue } from './slots-by-value.ts'

export interface Labelled {
  readonly slot: Slot
  readonly key: string
  readonly bytes: Uint8Array
}

export interface LabelIndexDeps {
  /** Objects there are. */
  readonly size: () => number
  /** All there is, in key order, in steps between which it changes. */
  readonly steps: () => Iterable<readonly Labelled[]>
  readonly isClosed: () => boolean
  /** An index could not be made; it is tried again. */
  readonly onFault: (error: unknown) => void
}

/** How many `steps` should have in one step. */
export const stepObjects = 200
/** Fewer objects are looked at one by one. */
export const defaultIndexedFrom = 1000
/** Labels of one type that have an index: the ones asked for last. */
const mostIndices = 8
/** An index is made when so many times the number of objects were looked at for want of it. */
const looksPerIndex = 3
/** Where more than this share may match, an index finds little faster. */
const worthwhileShare = 0.25
/** More are put into the order of their keys in one piece of work that would hold the loop. */
const mostCandidates = 10_000

interface Index {
  readonly slots: SlotsByValue
  readonly mark: Buffer
  /** Up to this key it is true; undefined = everywhere. */
  reached: string | undefined
}

export class LabelIndexes {
  readonly #deps: LabelIndexDeps
  readonly #indexedFrom: number
  /** By label, the one that was asked for last at the end. */
  readonly #indices = new Map<string, Index>()
  /** Objects that were looked at for want of an index, by label. */
  readonly #looks = new Map<string, number>()

  constructor(deps: LabelIndexDeps, indexedFrom: number) {
    this.#deps = deps
    this.#indexedFrom = indexedFrom
  }

  get isEmpty(): boolean {
    return this.#indices.size === 0
  }

  get sizeBytes(): number {
    let sum = 0
    for (const { slots } of this.#indices.values()) sum += slots.sizeBytes
    return sum
  }

  /** In no order; undefined = looking at all `among` costs less, or there is no index yet. */
  candidates(selector: LabelSelector, among: number): ReadonlySet<Slot> | undefined {
    if (among < this.#indexedFrom) return undefined
    let best: { readonly index: Index; readonly hashes: readonly number[]; readonly count: number } | undefined
    for (const requirement of selector) {
      if (!isIndexable(requirement)) continue
      const index = this.#indexOf(requirement.key, among)
      if (index === undefined) continue
      const hashes = [...new Set(requirement.values.map(hashOf))]
      const count = hashes.reduce((sum, hash) => sum + index.slots.count(hash), 0)
      if (best === undefined || count < best.count) best = { index, hashes, count }
    }
    if (best === undefined || best.count > Math.min(among * worthwhileShare, mostCandidates)) return undefined
    const found = new Set<Slot>()
    for (const hash of best.hashes) best.index.slots.collect(hash, found)
    return found
  }

  /** An object has other bytes now. */
  changed(object: Labelled): void {
    for (const index of this.#indices.values()) {
      if (index.reached === undefined || !bytesLess(index.reached, object.key)) note(index, object)
    }
  }

  /** Before its slot is used for another. */
  removed(slot: Slot): void {
    for (const { slots } of this.#indices.values()) slots.set(slot, undefined)
  }

  #indexOf(label: string, among: number): Index | undefined {
    const index = this.#indices.get(label)
    if (index !== undefined) {
      this.#indices.delete(label)
      this.#indices.set(label, index)
      return index.reached === undefined ? index : undefined
    }
    const looks = (this.#looks.get(label) ?? 0) + among
    if (looks < this.#deps.size() * looksPerIndex) {
      // Labels are the choice of clients: what is remembered of them is bounded.
      if (this.#looks.size >= mostIndices * 8) this.#looks.clear()
      this.#looks.set(label, looks)
      return undefined
    }
    this.#looks.delete(label)
    return this.#begin(label)
  }

  /** The index, if one step was enough for it. */
  #begin(label: string): Index | undefined {
    const index: Index = { slots: new SlotsByValue(), mark: Buffer.from(`${JSON.stringify(label)}:"`), reached: '' }
    this.#indices.set(label, index)
    const [oldest] = this.#indices.keys()
    if (this.#indices.size > mostIndices && oldest !== undefined) this.#indices.delete(oldest)
    this.#make(label, index).catch((error: unknown) => {
      this.#indices.delete(label)
      this.#deps.onFault(error)
    })
    return index.reached === undefined ? index : undefined
  }

  async #make(label: string, index: Index): Promise<void> {
    const rest = restBetween()
    for (const step of this.#deps.steps()) {
      // Nothing comes between the reading of a step and this.
      for (const object of step) {
        note(index, object)
        index.reached = object.key
      }
      if (step.length >= stepObjects) await rest()
      if (this.#deps.isClosed() || this.#indices.get(label) !== index) return
    }
    index.reached = undefined
  }
}

const isIndexable = ({ operator, values }: LabelRequirement): boolean =>
  (operator === '=' || operator === '==' || operator === 'in') && values.length > 0

const labelsMark = Buffer.from('"labels":{')
const quoteByte = 0x22
const closingBrace = 0x7d

function note({ slots, mark }: Index, { slot, bytes }: Labelled): void {
  slots.set(slot, valueHash(bytes, mark))
}

/**
 * The hash of the value that stored bytes give a label. Labels stand before all that could hold a map of the same name
 * (`metadataKeys` in `stored-form.ts`), keys and values need no escape. An object without labels may be taken for one
 * that has those of a part of it: then it is looked at in vain.
 */
function valueHash(bytes: Uint8Array, mark: Buffer): number | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const labels = text.indexOf(labelsMark)
  if (labels < 0) return undefined
  const end = text.indexOf(closingBrace, labels)
  const at = text.indexOf(mark, labels)
  if (at < 0 || at > end) return undefined
  const start = at + mark.length
  return hashBytes(text, start, text.indexOf(quoteByte, start))
}

/** Values of labels are ASCII: their characters are their bytes. */
function hashOf(value: string): number {
  let hash = hashSeed
  for (let i = 0; i < value.length; i++) hash = Math.imul(hash ^ value.charCodeAt(i), hashPrime)
  return mixed(hash)
}

function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = hashSeed
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), hashPrime)
  return mixed(hash)
}

const hashSeed = 0x811c9dc5
const hashPrime = 0x01000193

function mixed(given: number): number {
  let hash = given
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
