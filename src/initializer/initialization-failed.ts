/** Why a namespace can not be had. The client that waits for its creation gets this as the answer. */
import { codeByReason, type StatusReason } from '../kube/status-error.ts'

export interface FailureOptions {
  /** Default InternalError. `Forbidden` and `Invalid` tell the creator that it is theirs to mend. */
  readonly reason?: StatusReason
  /** HTTP status; default that of the reason. */
  readonly code?: number
  readonly cause?: unknown
}

/** Thrown by `initialize`: trying again would not help. The namespace is kept for watchers to see, then deleted. */
export class InitializationFailed extends Error {
  override readonly name = 'InitializationFailed'
  readonly reason: StatusReason
  readonly code: number

  constructor(message: string, { reason = 'InternalError', code, cause }: FailureOptions = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.reason = reason
    this.code = code ?? codeByReason[reason]
  }
}
