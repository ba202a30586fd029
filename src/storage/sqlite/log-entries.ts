/** What goes into the log and comes out of it. */
import type { Revision } from '../storage.ts'
import type { Fault } from './sqlite-faults.ts'

/** A transaction as the writer sees it. Keys and expectations: guards first, then writes. */
export interface LogTransaction {
  readonly ticket: number
  readonly guards: number
  readonly keys: readonly string[]
  /** See `messages.ts`: a revision, `expectAbsent`, `expectNever`, or a ticket as -1 - id. */
  readonly expects: readonly number[]
  /** Per write; undefined deletes. */
  readonly values: readonly (Uint8Array | undefined)[]
}

/** The first revision; or the places (in `keys`) of lost expectations; or a fault. */
export type LogOutcome = Revision | readonly number[] | Fault

/** What exists under a key: where in the log. */
export type LogKey = readonly [key: string, revision: Revision]

export interface LogChange {
  readonly key: string
  readonly revision: Revision
  readonly previous: Revision | undefined
  readonly previousValue: Uint8Array | undefined
  readonly deleted: boolean
}

/** Newest first, whole commits; nothing left: an empty list. */
export interface LoggedHistory {
  readonly changes: readonly LogChange[]
  readonly base: Revision
}

/** What the writer's thread asks of a store: one that is written (`log-file.ts`), or can only be read. */
export interface WriterLog {
  readonly path: string
  readonly head: Revision
  readonly compacted: Revision
  readonly committedMs: number | undefined
  /** Why nothing can be written, from the start on. */
  readonly unwritable?: string
  keys(): Iterable<readonly LogKey[]>
  commit(group: readonly LogTransaction[], settledThrough: number): LogOutcome[]
  history(base: Revision): LoggedHistory
  compact(before: Revision): void
  sweep(): boolean
  close(): void
}
