/** What tells that a request has not come to the API. */
import { findStatusError } from '../../kube/status-error.ts'

/** Codes by which what stands between answers, not the API. */
export const unreached: ReadonlySet<number> = new Set([502, 503, 504])

/** The console does not answer, or does not reach the cluster. */
export class ConsoleUnreached extends Error {
  override readonly name = 'ConsoleUnreached'
}

/** Whether asking again may help. */
export const isUnreached = (error: unknown): boolean =>
  error instanceof ConsoleUnreached || unreached.has(findStatusError(error)?.code ?? 0)
