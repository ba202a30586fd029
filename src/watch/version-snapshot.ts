/**
 * Versions in key order as they were at one moment, for readers that take long. Noted at that moment is which they are;
 * each is made when it is asked for, however much has changed by then. 100,000 made at once would hold the event loop.
 */
import type { Slot } from '../slabs/byte-slabs.ts'
import type { ObjectVersion } from './stored-object.ts'

/** What of an array lists use. */
export interface Versions extends Iterable<ObjectVersion> {
  readonly length: number
  /** Negative: from the end. */
  at(index: number): ObjectVersion | undefined
}

export interface Noted {
  readonly slots: Uint32Array
  readonly revisions: Float64Array
}

export interface SnapshotHome {
  make(slot: Slot, revision: number): ObjectVersion
  /** Those from one place to below another are asked for next. */
  comesTo(noted: Noted, from: number, to: number): void
}

/** Read ahead of a reader that goes from the first to the last. */
const ahead = 128

export class VersionSnapshot implements Versions {
  readonly #noted: Noted
  readonly #home: SnapshotHome
  #reached = 0

  constructor(noted: Noted, home: SnapshotHome) {
    this.#noted = noted
    this.#home = home
  }

  get length(): number {
    return this.#noted.slots.length
  }

  at(index: number): ObjectVersion | undefined {
    const i = index < 0 ? this.length + index : index
    const slot = this.#noted.slots[i]
    if (slot === undefined) return undefined
    if (i === this.#reached) {
      this.#reached = Math.min(this.length, i + ahead)
      this.#home.comesTo(this.#noted, i, this.#reached)
    }
    return this.#home.make(slot, this.#noted.revisions[i] as number)
  }

  *[Symbol.iterator](): Generator<ObjectVersion> {
    for (let i = 0; i < this.length; i++) yield this.at(i) as ObjectVersion
  }
}
