/**
 * What readers may still ask for of records that are gone. A view of a record that was overwritten or removed finds its
 * bytes here, however late it asks.
 *
 * All views that are made within an epoch share it. What is overwritten is saved into the present epoch, and into each
 * earlier one that a view still refers to (they are held weakly), if it was there when that epoch ended. So an epoch
 * saves no more than there was when it ended, and nothing at all once its last view is gone.
 */

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

export class ReadEpochs {
  #present: ReadEpoch | undefined
  #ended: WeakRef<ReadEpoch>[] = []

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
    return this.#ended.reduce((sum, reference) => sum + (reference.deref()?.size ?? 0), this.#present?.size ?? 0)
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
    this.#ended.push(new WeakRef(present))
    this.#present = undefined
  }

  #saveForEarlier(record: SavedRecord): void {
    let hasGone = false
    for (const reference of this.#ended) {
      const epoch = reference.deref()
      if (epoch === undefined) hasGone = true
      else if (record.revision <= epoch.endedAt) epoch.save(record)
    }
    if (hasGone) this.#ended = this.#ended.filter((reference) => reference.deref() !== undefined)
  }
}
