/** What one pass over a namespace came to, object by object. */
import type { AppliedObject } from './applied-records.ts'

export type Outcome = 'configured' | 'unchanged' | 'pruned' | 'orphaned'

export interface Failure {
  readonly reason: string
  readonly message: string
  /** Worth another attempt though nothing has changed. A new namespace waits meanwhile. */
  readonly retriable: boolean
  /** A new namespace waits until it is otherwise; a change of what it depends on brings the next attempt. */
  readonly isAwaited?: true
  /** Something of the namespace's own is in the way, which says nothing of the template: no rollout waits for it. */
  readonly isObstructed?: true
}

export interface ObjectResult {
  readonly template: string
  /** `RoleBinding/admin` */
  readonly object: string
  readonly outcome?: Outcome
  /** Of a label or an annotation of the namespace: what it was, and what it is to be. */
  readonly change?: { readonly before?: string; readonly after?: string }
  /** It was pruned by a request of ours: it had not gone before. */
  readonly isDeleted?: true
  readonly failure?: Failure
  /** Left out, which is no failure: no creator or owner is recorded that it could name. */
  readonly skipped?: { readonly reason: string; readonly message: string }
  /** As the template says, and holds more than that. */
  readonly extended?: { readonly reason: 'Extended'; readonly message: string }
  /** Drift was corrected, what was done, and whether it is time to tell of it. */
  readonly corrected?: { readonly message: string; readonly isNews: boolean }
  /** Done, and worth telling: it was not deleted because another manager applies it too. */
  readonly remark?: { readonly reason: string; readonly message: string }
  /** As it is there now, applied by us. */
  readonly applied?: AppliedObject
  /** `identityOf`: it is gone, or ours no longer. */
  readonly released?: string
  /** It is ours and could not be given its label back, so no watch tells of it. */
  readonly isUnwatched?: boolean
}

/** As that of an Event. */
const longestMessage = 1024

/**
 * Told in the status of the template and in that of the namespace, and kept until then. The server may say very much
 * (of each manager that holds a field, of each value), which tenants bring about: the status would be too large to be
 * written, and go on saying what was true before.
 */
export function shortened(result: ObjectResult): ObjectResult {
  const { failure } = result
  if (failure === undefined || failure.message.length <= longestMessage) return result
  return { ...result, failure: { ...failure, message: `${failure.message.slice(0, longestMessage - 3)}...` } }
}
