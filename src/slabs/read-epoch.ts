/**
 * What readers may still ask for of records that are gone. A view of a record that was overwritten or removed finds its
 * bytes here, however late it asks.
 *
 * All views that are made within an epoch share it. What is overwritten is saved into the present epoch, and into each
 * earlier one that a view still refers to (they are held weakly), if it was there when that epoch ended. So an epoch
 * saves no more than there was when it ended, and nothing at all once its last view is gone.
 */
import type { Slot } from './byte-slabs.ts'

/** A record as it was, in memory of its own. */
export interface SavedRecord {
  readonly key: string
  readonly revision: number
  readonly bytes: Uint8Array
}

export class ReadEpoch {
  readonly #saved = new Map<number, SavedRecord>()
  #bytes = 0
  /** The newest record that a view of this epoch may show. */
  endedAt: number = Number.POSITIVE_INFINITY

  get size(): number {
    return this.#saved.size
  }

  get bytes(): number {
    return this.#bytes
  }

  save(record: SavedRecord): void {
    this.#saved.set(record.revision, record)
    this.#bytes += record.bytes.byteLength
  }

  find(revision: number): SavedRecord {
    const saved = this.#saved.get(revision)
    if (saved === undefined) throw new Error(`a record of revision ${revision} was overwritten while it was read`)
    return saved
  }
}

/** An epoch ends when it has saved so much, twice as much for each so many that are still referred to. */
const epochRecords = 256
const epochBytes = 1024 * 1024
const epochsPerDoubling = 16

interface EndedEpoch {
  readonly epoch: WeakRef<ReadEpoch>
  readonly endedAt: number
}

export class ReadEpochs {
  #present: ReadEpoch | undefined
  /** In the order in which they ended. */
  #ended: EndedEpoch[] = []

  /** For a view that is made now. */
  get present(): ReadEpoch {
    this.#present ??= new ReadEpoch()
    return this.#present
  }

  /** There may be views. */
  get areOpen(): boolean {
    return this.#present !== undefined || this.#ended.length > 0
  }

  /** Records saved in all epochs that are still referred to. */
  get saved(): number {
    return this.#ended.reduce((sum, { epoch }) => sum + (epoch.deref()?.size ?? 0), this.#present?.size ?? 0)
  }

  /** Called before the record is overwritten. `newest`: the highest revision of all records. */
  save(record: SavedRecord, newest: number): void {
    if (this.#ended.length > 0) this.#saveForEarlier(record)
    const present = this.#present
    if (present === undefined) return
    present.save(record)
    const allowance = 2 ** Math.floor(this.#ended.length / epochsPerDoubling)
    if (present.size < epochRecords * allowance && present.bytes < epochBytes * allowance) return
    present.endedAt = newest
    this.#forgetGone()
    this.#ended.push({ epoch: new WeakRef(present), endedAt: newest })
    this.#present = undefined
  }

  /** Into those that ended when the record was there: what is written often is in the last ones alone. */
  #saveForEarlier(record: SavedRecord): void {
    let hasGone = false
    for (let i = this.#ended.length - 1; i >= 0; i--) {
      const { epoch, endedAt } = this.#ended[i] as EndedEpoch
      if (record.revision > endedAt) break
      const found = epoch.deref()
      if (found === undefined) hasGone = true
      else found.save(record)
    }
    if (hasGone) this.#forgetGone()
  }

  #forgetGone(): void {
    this.#ended = this.#ended.filter(({ epoch }) => epoch.deref() !== undefined)
  }
}

/** What a view asks of the records. */
export interface Viewed {
  readonly epoch: ReadEpoch
  holds(slot: Slot, revision: number): boolean
  keyOf(slot: Slot): string
  lengthOf(slot: Slot): number
  firstByteOf(slot: Slot): number | undefined
  copyTo(slot: Slot, target: Uint8Array, at: number, from?: number): number
}

/** One record as it was when the view was made, for as long as it is wanted. */
export class RecordView implements SavedRecord {
  readonly revision: number
  readonly #map: Viewed
  readonly #slot: Slot
  /** undefined: the holder of the view asks it no more once the record is replaced. */
  #epoch: ReadEpoch | undefined

  constructor(map: Viewed, slot: Slot, revision: number, epoch: ReadEpoch | undefined) {
    this.#map = map
    this.#slot = slot
    this.revision = revision
    this.#epoch = epoch
  }

  /** From now on it is only asked while the record is there: so nothing is saved for it. */
  hold(): void {
    this.#epoch = undefined
  }

  /** The end of `hold`, while the record is still there. */
  release(): void {
    this.#epoch ??= this.#map.epoch
  }

  get key(): string {
    return this.#isThere ? this.#map.keyOf(this.#slot) : this.#saved.key
  }

  get sizeBytes(): number {
    return this.#isThere ? this.#map.lengthOf(this.#slot) : this.#saved.bytes.byteLength
  }

  get firstByte(): number | undefined {
    return this.#isThere ? this.#map.firstByteOf(this.#slot) : this.#saved.bytes[0]
  }

  /** Each time a copy; of what is gone, what was saved. */
  get bytes(): Uint8Array {
    if (!this.#isThere) return this.#saved.bytes
    const copy = Buffer.allocUnsafe(this.#map.lengthOf(this.#slot))
    this.#map.copyTo(this.#slot, copy, 0)
    return copy
  }

  /** Copies from `from` on, as much as there is room for; answers how many bytes that were. */
  copyTo(target: Uint8Array, at: number, from: number): number {
    if (this.#isThere) return this.#map.copyTo(this.#slot, target, at, from)
    const part = this.#saved.bytes.subarray(from, from + target.byteLength - at)
    target.set(part, at)
    return part.byteLength
  }

  get #saved(): SavedRecord {
    if (this.#epoch === undefined) throw new Error(`a record of revision ${this.revision} was asked after its end`)
    return this.#epoch.find(this.revision)
  }

  get #isThere(): boolean {
    return this.#map.holds(this.#slot, this.revision)
  }
}
