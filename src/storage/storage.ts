/**
 * The storage contract: keys, bytes, revisions, transactions. It knows no kinds, no JSON, no namespaces.
 *
 * Every engine (memory, sqlite, etcd) keeps these promises, and `test/contract/storage.ts` holds them to it:
 *
 * - A transaction commits whole or not at all, and only if every guard and expectation holds at that moment.
 * - `Revision` grows strictly, store-wide, and is unique per change: commit number × 1024 + position of the write.
 * - Visible means durable: no `get`, `range`, `watch` or resolved `done` shows a write before it is flushed.
 * - Transactions take effect in the order `commit` was called on one `Storage` object.
 * - A watch delivers every change after its start exactly once, in order, and never splits a commit;
 *   `progress` comes strictly after the changes it covers.
 */
import type { Stream } from '../base/stream.ts'

/** commit number × 1024 + position in the transaction. Safe integer up to 8.8e12 commits. 0 = before everything. */
export type Revision = number

export const positionsPerCommit = 1024

/** The last revision that a commit of the same number could have: 'everything up to and including that commit'. */
export function endOfCommit(revision: Revision): Revision {
  return Math.floor(revision / positionsPerCommit) * positionsPerCommit + (positionsPerCommit - 1)
}

/** Guards plus writes of one transaction, the same in every engine (etcd stops at 128). */
export const maxOperations = 100
/** Sum of the values of a transaction with several writes. */
export const maxTransactionBytes: number = 1024 * 1024
/** One key, in UTF-8. With it a full transaction (100 keys and 1 MiB of values) stays below etcd's 1.5 MiB. */
export const maxKeyBytes = 4096
/** A single value, alone in its transaction: etcd's default request limit of 1.5 MiB less room for keys and framing. */
export const maxValueBytes: number = 1536 * 1024 - 16 * 1024

export interface Entry {
  readonly key: string
  /** Where what is stored is not what was written: a note that says so, see `damageOf` in `damaged-value.ts`. */
  readonly value: Uint8Array
  /** Of the change that wrote this value. */
  readonly revision: Revision
}

/** Names a transaction handed to `commit` on this `Storage` object whose outcome may still be unknown. */
export interface Ticket {
  readonly id: number
}

/**
 * What must be true of a key: its value has exactly this revision, the key does not exist, or no write has touched it
 * since transaction T left it (T committed, and the key is as it was right after T). If T fails, so does the follower.
 * `asLeftBy` may name only a key that T wrote or guarded; anything else is `invalid`.
 */
export type Expect = Revision | 'absent' | { readonly asLeftBy: Ticket }

export interface Guard {
  readonly key: string
  readonly expect: Expect
}

export interface Write {
  readonly key: string
  /**
   * undefined deletes; a delete of a key that is not there is refused like a failed expectation. Never changed after
   * `commit`.
   */
  readonly value: Uint8Array | undefined
  readonly expect: Expect
}

export interface Transaction {
  readonly guards: readonly Guard[]
  /** At least one; each key at most once. Positions are given in this order. */
  readonly writes: readonly Write[]
}

export type Commit =
  /**
   * `revision` of the first write; write i has `revision + i`. Transactions that wait together and do not touch each
   * other's writes may share a commit: the first write's position is then not 0.
   */
  | { readonly ok: true; readonly revision: Revision }
  /** Keys whose expectation failed, as they are now (undefined = absent). Never empty. */
  | { readonly ok: false; readonly current: ReadonlyMap<string, Entry | undefined> }

export interface PendingCommit {
  readonly ticket: Ticket
  /** Resolves when durable and visible, or refused. Rejects with `StorageError` when the outcome is a fault. */
  readonly done: Promise<Commit>
}

/** Half-open: start ≤ key < end, compared bytewise (UTF-8). */
export interface Span {
  readonly start: string
  readonly end: string
}

/** All keys that begin with `prefix` (which must end in an ASCII character below 0x7f). */
export function prefixSpan(prefix: string): Span {
  const last = prefix.charCodeAt(prefix.length - 1)
  return { start: prefix, end: prefix.slice(0, -1) + String.fromCharCode(last + 1) }
}

export interface ReadOptions {
  /**
   * Read the store as it was after the whole commit this revision belongs to (a commit is never seen in part).
   * Throws `compacted` or `future`. Absent = now, linearizable.
   */
  readonly at?: Revision
  readonly signal?: AbortSignal
}

export interface RangeOptions extends ReadOptions {
  readonly limit?: number
}

export interface Change {
  readonly key: string
  readonly revision: Revision
  /** undefined = deleted. */
  readonly value: Uint8Array | undefined
  /** What was there before; undefined = created. */
  readonly previous: Entry | undefined
}

export type ChangeBatch =
  /** Whole commits, ascending; only the keys inside the watched span. */
  | { readonly type: 'changes'; readonly changes: readonly Change[] }
  /** Nothing at or before `revision` is still to come. */
  | { readonly type: 'progress'; readonly revision: Revision }

/** Some of the keys that exist, ascending. */
export interface KeysPiece {
  /** In UTF-8, one behind the other. */
  readonly keys: Uint8Array
  /** Per key: its revision, and where it ends in `keys`. */
  readonly numbers: Float64Array
}

/** What existed when the store was opened. */
export interface OpenedState {
  /** An `endOfCommit`. */
  readonly revision: Revision
  readonly pieces: readonly KeysPiece[]
  /**
   * At once: the value that this key has, or had not long ago, at this revision.
   *
   * @throws StorageError
   */
  valueAt(key: string, revision: Revision): Uint8Array
  /** What is stored now in a span, read as it is iterated over; values as `valueAt` answers them. */
  valuesIn(span: Span): Iterable<Entry>
}

/** Whether a store can be written; and how much room it has, where it lies on a disk of ours. */
export interface StoreCondition {
  /** `small`: no room; at most deletes, and changes that take hardly more. `none`: not until a restart. */
  readonly writes: 'all' | 'small' | 'none'
  /** What an operator should know of it, one line each; empty: all is well. */
  readonly warnings: readonly string[]
  /** Of the file and its log. */
  readonly usedBytes?: number
  /** Until there is no more room: on the disk, or to the largest size. */
  readonly freeBytes?: number
}

/** What a scrub of the store has found. */
export interface ScrubReport {
  /** Since the start of this process. */
  readonly values: number
  readonly bytes: number
  readonly passes: number
  /** When a pass last came to the end, here or in another process; undefined: not known, or never. */
  readonly completedMs: number | undefined
  /** What is not as it was written, one line each. */
  readonly findings: readonly string[]
}

/** Of the backups that a server makes by itself, since it started. */
export interface BackupReport {
  readonly everyMs: number
  readonly successes: number
  readonly failures: number
  /** When one last succeeded, also where nothing had changed and no file was written; undefined: none has. */
  readonly lastMs: number | undefined
  /** Of the newest file of that one. */
  readonly sizeBytes: number | undefined
  readonly durationMs: number | undefined
  /** One line each; empty: all is well. */
  readonly warnings: readonly string[]
}

/** What operators are told of a store. */
export interface StoreReport {
  /** undefined: the store lies elsewhere. */
  readonly condition: StoreCondition | undefined
  /** undefined: nothing is scrubbed here. */
  readonly scrub: ScrubReport | undefined
  /** undefined: no server of this store makes any by itself. */
  readonly backups?: BackupReport | undefined
}

export interface Storage extends AsyncDisposable {
  /** `revision` is `endOfCommit` of the store's, or of `at`: what to watch `after`. */
  get(key: string, options?: ReadOptions): Promise<{ readonly revision: Revision; readonly entry: Entry | undefined }>
  /**
   * Ascending by key. `revision` as for `get`. A `limit` is at least 1; the next page starts at the last key + '\0'.
   */
  range(
    span: Span,
    options?: RangeOptions,
  ): Promise<{ readonly revision: Revision; readonly entries: readonly Entry[]; readonly more: boolean }>
  /** About how many keys a span holds; absent where an engine can't tell without reading them all. */
  count?(span: Span, signal?: AbortSignal): Promise<number>
  /** Never throws for a lost race. Throws `StorageError` code `tooLarge` | `invalid` at once for a bad shape. */
  commit(transaction: Transaction): PendingCommit
  /**
   * Changes with revision > `after`, for ever, until `signal` aborts (clean end). The stream throws `StorageError`
   * code `compacted` if history after `after` is gone, or when the consumer was cut off for being slow (`overflow`).
   * A `progress` comes as soon as the backlog is delivered; later ones follow commits or time, and a call of
   * `currentRevision` on the same object hurries them: what it answered will be reported without further writes.
   * After a revision that is still to come: waits for it. Revisions inside a commit are honoured: the rest of it comes.
   */
  watch(span: Span, after: Revision, signal: AbortSignal): Stream<ChangeBatch>
  /**
   * For the one reader who keeps everything: what `range` would answer, in a form that can be taken without the values.
   * Once, and before the first commit; absent or undefined = it must be read with `range`.
   */
  takeOpened?(): OpenedState | undefined
  /**
   * Linearizable: at least the revision of every commit acknowledged anywhere before the call. An `endOfCommit`, never
   * 0.
   */
  currentRevision(): Promise<Revision>
  /**
   * What `currentRevision` would answer, where no other process writes to the store; absent or undefined = it must be
   * asked.
   */
  readonly ownRevision?: Revision | undefined
  /** Absent: the store lies elsewhere; undefined: it is closed. */
  condition?(): StoreCondition | undefined
  /**
   * Of a store that servers of several versions share: the newest form in which values are written from now on, see
   * `format-level.ts`.
   */
  writeLevel?(level: number): void
  /** Of a store that another process holds: what that one tells of it. */
  report?(): Promise<StoreReport>
  /**
   * Time of the newest commit when the store was opened, by the clock of the process that made it; absent or
   * undefined = it is not known.
   */
  readonly openedCommitMs?: number | undefined
  /**
   * Forgets history before `endOfCommit(before)`: reads `at` an earlier commit and watches `after` anything older fail
   * with `compacted`. Idempotent; an older `before` than the last one does nothing. Throws `future`.
   */
  compact(before: Revision): Promise<void>
  /** The oldest revision that can still be read `at`, or watched `after`; an `endOfCommit`. */
  compactedRevision(): Promise<Revision>
}

export type StorageErrorCode =
  | 'compacted'
  | 'future'
  | 'overflow'
  | 'tooLarge'
  | 'invalid'
  | 'unavailable'
  | 'full'
  /** It was not written and won't be until a restart; all can be read. */
  | 'readOnly'
  | 'corrupt'
  /** One value is not what was written. The message is one line that names key and revision: clients may read it. */
  | 'damaged'
  | 'closed'
  | 'locked'

export class StorageError extends Error {
  override readonly name = 'StorageError'
  readonly code: StorageErrorCode
  constructor(code: StorageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Walks `cause`, so a wrapped fault is still recognised. */
export function isStorageError(error: unknown, code?: StorageErrorCode): error is StorageError {
  for (let e = error; e instanceof Error; e = e.cause) {
    if (e instanceof StorageError) return code === undefined || e.code === code
  }
  return false
}
