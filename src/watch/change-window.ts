/**
 * The recent past of all types, so that most watches resume without reading the store. One budget for everything; the
 * oldest change goes first, whatever its type, so a quiet type keeps its changes while a busy one turns its over.
 */
import type { Clock } from '../base/clock.ts'
import type { Revision } from '../storage/storage.ts'
import type { ObjectVersion } from './stored-object.ts'

/** A change of one object. At least one of `next` and `old` is there. */
export interface ObjectChange {
  readonly revision: Revision
  /** undefined = removed. */
  readonly next: ObjectVersion | undefined
  /** undefined = created. */
  readonly old: ObjectVersion | undefined
}

export interface WindowLimits {
  readonly changes: number
  /** Of stored bytes, before and after. */
  readonly sizeBytes: number
  readonly ageMs: number
}

export const defaultWindowLimits: WindowLimits = { changes: 50_000, sizeBytes: 32 * 1024 * 1024, ageMs: 5 * 60_000 }

/** The part of the window that belongs to one type. */
export class TypeHistory {
  #changes: ObjectChange[] = []
  #head = 0
  #since: Revision

  constructor(since: Revision) {
    this.#since = since
  }

  /** Every change after this revision is here. */
  get since(): Revision {
    return this.#since
  }

  /** Changes after `revision`, ascending. `revision` must not be older than `since`. */
  after(revision: Revision): readonly ObjectChange[] {
    let low = this.#head
    let high = this.#changes.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#changes[middle] as ObjectChange).revision <= revision) low = middle + 1
      else high = middle
    }
    return this.#changes.slice(low)
  }

  append(change: ObjectChange): void {
    this.#changes.push(change)
  }

  dropOldest(): void {
    const oldest = this.#changes[this.#head++]
    if (oldest) this.#since = oldest.revision
    if (this.#head === this.#changes.length || (this.#head > 256 && this.#head * 2 > this.#changes.length)) {
      this.#changes = this.#changes.slice(this.#head)
      this.#head = 0
    }
  }

  /** Nothing before `revision` can be told any more. */
  restart(revision: Revision): void {
    this.#changes = []
    this.#head = 0
    this.#since = revision
  }
}

interface Recorded {
  readonly history: TypeHistory
  readonly sizeBytes: number
  readonly atMs: number
}

export class ChangeWindow {
  readonly #limits: WindowLimits
  readonly #clock: Clock
  #recorded: Recorded[] = []
  #head = 0
  #sizeBytes = 0

  constructor(limits: WindowLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
  }

  record(history: TypeHistory, change: ObjectChange): void {
    const sizeBytes = (change.next?.sizeBytes ?? 0) + (change.old?.sizeBytes ?? 0)
    const now = this.#clock.monotonic()
    history.append(change)
    this.#recorded.push({ history, sizeBytes, atMs: now })
    this.#sizeBytes += sizeBytes
    this.#trim(now)
  }

  clear(): void {
    this.#recorded = []
    this.#head = 0
    this.#sizeBytes = 0
  }

  #trim(now: number): void {
    const { changes, sizeBytes, ageMs } = this.#limits
    while (this.#head < this.#recorded.length) {
      const oldest = this.#recorded[this.#head] as Recorded
      const count = this.#recorded.length - this.#head
      if (count <= changes && this.#sizeBytes <= sizeBytes && now - oldest.atMs <= ageMs) break
      this.#head++
      this.#sizeBytes -= oldest.sizeBytes
      oldest.history.dropOldest()
    }
    if (this.#head > 1024 && this.#head * 2 > this.#recorded.length) {
      this.#recorded = this.#recorded.slice(this.#head)
      this.#head = 0
    }
  }
}
