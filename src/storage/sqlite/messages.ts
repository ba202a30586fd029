/**
 * What the main thread and the writer say to each other. Many small things travel as one message: numbers in one typed
 * array, values in one buffer, both handed over instead of copied. (Cloning a value that is a window on a larger
 * buffer would copy the whole buffer.)
 */
import type { KeysPiece, Revision } from '../storage.ts'
import type { Fault } from './sqlite-faults.ts'

export interface WriterOptions {
  /** Holds the files of the store; created if missing. */
  readonly directory: string
  /** Outside of it: the file that remembers that a store was made (`store-made.ts`). Absent = nothing does. */
  readonly madePath?: string
  /** The largest size of the file; 0 = as large as the disk allows. */
  readonly maxFileBytes: number
  /** Kept back for the case that there is no room; 0 = nothing. */
  readonly reserveBytes: number
  /** How long to wait for another program that holds the file. */
  readonly lockTimeoutMs: number
  /** Open the store although it ends before what was acknowledged. */
  readonly acceptLoss: boolean
}

export type ToWriter =
  | PackedGroup
  | { readonly type: 'history'; readonly base: Revision }
  | { readonly type: 'compact'; readonly before: Revision }
  | { readonly type: 'close' }

export interface Opened {
  readonly type: 'opened'
  readonly head: Revision
  readonly compacted: Revision
  /** Time of the newest commit; undefined = there is none, or it had no time yet. */
  readonly committedMs: number | undefined
  /** Why nothing can be written, in one line; undefined: it can. */
  readonly unwritable: string | undefined
}

/** What of the store can be written. */
export interface WriterCondition {
  /** Only what frees room, or takes little. */
  readonly isFull: boolean
  /** Nothing at all, until a restart: why, in one line. */
  readonly broken: string | undefined
}

export type FromWriter =
  | ({ readonly type: 'condition' } & WriterCondition)
  | Opened
  | PackedKeys
  | { readonly type: 'loaded' }
  /** Opening failed. The writer ends. */
  | { readonly type: 'refused'; readonly fault: Fault }
  | PackedOutcomes
  | PackedHistory
  /** The answer to `history`, where it could not be read. */
  | { readonly type: 'historyFailed'; readonly fault: Fault }
  /** When all history up to `through` is swept, or that has failed. */
  | { readonly type: 'compacted'; readonly through: Revision; readonly fault: Fault | undefined }
  | { readonly type: 'closed'; readonly fault: Fault | undefined }

/** Transactions, in the order they take effect. */
export interface PackedGroup {
  readonly type: 'commit'
  /** The highest ticket whose outcome the sender knows: no caller will name it, or an older one, any more. */
  readonly settledThrough: number
  /**
   * Per transaction: ticket, number of guards, number of writes; per guard: what is expected; per write: what is
   * expected and the length of the value, -1 to delete.
   */
  readonly numbers: Float64Array
  /** Per transaction: the keys of the guards, then of the writes. */
  readonly keys: readonly string[]
  /** The values, one after the other. */
  readonly values: Uint8Array
}

/**
 * Per transaction: the revision of its first write; or 0, n and the n places of lost expectations; or -1 and the place
 * in `faults`.
 */
export interface PackedOutcomes {
  readonly type: 'outcomes'
  readonly numbers: Float64Array
  readonly faults: readonly Fault[]
}

/** Keys that exist, ascending. */
export interface PackedKeys extends KeysPiece {
  readonly type: 'keys'
}

/** Older changes, newest first, whole commits: everything after `base` up to what was asked for. */
export interface PackedHistory {
  readonly type: 'history'
  readonly base: Revision
  readonly keys: readonly string[]
  /**
   * Per change: revision, revision of the previous entry or 0, length of the previous value, 1 if the key was deleted.
   */
  readonly numbers: Float64Array
  /** The previous values. The new ones are known: from the next change of the key, or from the present state. */
  readonly values: Uint8Array
}

/** How an expectation travels: a revision, or one of these, or a ticket as `-1 - id`. */
export const expectAbsent = 0
export const expectNever = -1

/** Collects values into one buffer. */
export class ValuePacker {
  #buffer: Uint8Array<ArrayBuffer>
  #used = 0

  constructor(sizeBytes: number) {
    this.#buffer = new Uint8Array(sizeBytes)
  }

  get used(): number {
    return this.#used
  }

  add(value: Uint8Array): void {
    const end = this.#used + value.byteLength
    if (end > this.#buffer.byteLength) {
      const larger = new Uint8Array(Math.max(end, this.#buffer.byteLength * 2))
      larger.set(this.#buffer.subarray(0, this.#used))
      this.#buffer = larger
    }
    this.#buffer.set(value, this.#used)
    this.#used = end
  }

  take(): Uint8Array<ArrayBuffer> {
    return this.#used * 2 < this.#buffer.byteLength
      ? this.#buffer.slice(0, this.#used)
      : this.#buffer.subarray(0, this.#used)
  }
}
