/**
 * Values of a type that were not read since the store was opened. Many that follow each other are read in one go: read
 * one by one they cost several times as much.
 */
import type { Slot } from '../slabs/byte-slabs.ts'
import type { RecordMap } from '../slabs/record-map.ts'
import type { Revision } from '../storage/storage.ts'
import type { FetchedEntry, KeySpan } from './type-cache.ts'
import type { Noted } from './version-snapshot.ts'

/** Fewer, of a whole type, are fetched one by one. */
const fewOfAll = 100
/** As few of those that follow each other. */
const fewTogether = 4

export class MissingValues {
  readonly #records: RecordMap
  readonly #entries: (span: KeySpan) => Iterable<FetchedEntry>
  readonly #fetched: (key: string, bytes: Uint8Array) => void

  /** `entries`: what is stored in a span. `fetched`: told of each value that is kept from now on. */
  constructor(
    records: RecordMap,
    entries: (span: KeySpan) => Iterable<FetchedEntry>,
    fetched: (key: string, bytes: Uint8Array) => void,
  ) {
    this.#records = records
    this.#entries = entries
    this.#fetched = fetched
  }

  /** For a reader of the whole type. */
  fetchAll(whole: KeySpan): void {
    const { size, unfetched } = this.#records
    if (unfetched >= fewOfAll && unfetched >= size / 2) this.#fetch(whole)
  }

  /** For a reader of those that follow. */
  fetchSome({ slots, revisions }: Noted, from: number, to: number): void {
    if (this.#records.unfetched === 0) return
    const missing: Slot[] = []
    for (let i = from; i < to; i++) {
      const slot = slots[i] as Slot
      if (this.#records.holds(slot, revisions[i] as number) && !this.#records.hasValue(slot)) missing.push(slot)
    }
    if (missing.length >= Math.max(fewTogether, (to - from) / 2)) this.#fetch(this.#spanOf(missing))
  }

  /** For a reader who keeps none of them; undefined = most of these are in memory. */
  glance(slots: Uint32Array): ReadonlyMap<Revision, Uint8Array> | undefined {
    let missing = 0
    for (const slot of slots) if (!this.#records.hasValue(slot)) missing++
    if (slots.length === 0 || missing < slots.length / 2) return undefined
    return new Map(Array.from(this.#entries(this.#spanOf(slots)), ({ revision, value }) => [revision, value]))
  }

  #fetch(span: KeySpan): void {
    for (const { key, revision, value } of this.#entries(span)) {
      if (this.#records.fill(key, revision, value)) this.#fetched(key, value)
    }
  }

  /** In key order, and at least one. */
  #spanOf(slots: ArrayLike<Slot>): KeySpan {
    const last = slots[slots.length - 1] as Slot
    return { start: this.#records.keyOf(slots[0] as Slot), end: `${this.#records.keyOf(last)}\0` }
  }
}
