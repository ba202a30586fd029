/**
 * The epoch of a namespace's quotas: one key that every change of content guards, and that every change of what is
 * limited writes.
 *
 *   absent ──take──▶ recounting ──quota stored──▶ settled ──take──▶ …            last quota gone ──▶ absent
 *      └────────────new quota stored───────────▶ settled
 *
 * Why: a create that saw no quota must notice one that came meanwhile; and a request that stores a quota must count
 * what is there while nothing can come or go. While a recount is on, changes of content in that namespace wait; any
 * change of a quota that sees it may count, and settles it. It is skipped where all that may come or go is queued in
 * this process: then that is counted too, and guarded. One that is never settled (a replica died) is overruled after a
 * while.
 */
import type { DecidedWrite, DecisionView, Guard } from '../../admission/admission.ts'

export interface SeenEpoch {
  readonly guard: Guard
  /** Nothing comes or goes until the epoch is settled. */
  readonly recounting: boolean
  readonly exists: boolean
}

export interface QuotaEpochs {
  see(view: DecisionView, namespace: string): SeenEpoch
  /**
   * Begins a recount. Answers how to give it up, or undefined if another request was faster; the cache shows either.
   */
  take(namespace: string, seen: SeenEpoch): Promise<(() => Promise<void>) | undefined>
  /** Resolves when it may be free again. */
  released(namespace: string): Promise<void>
  /** To be written with the quota that was recounted. */
  settled(namespace: string, seen: SeenEpoch): DecidedWrite
  /** To be written with the removal of the last quota. */
  removed(seen: SeenEpoch): DecidedWrite
}
