/** How patient the candidates for a lease are, and its holder. */
export interface LeaseTiming {
  /** How long others wait for a holder they hear nothing from. */
  readonly leaseDurationMs: number
  /** How long a leader goes on without a renewal; less than `leaseDurationMs`. */
  readonly renewDeadlineMs: number
  /** Between renewals, and between tries after a failure. */
  readonly retryPeriodMs: number
}

/**
 * A third shorter than client-go's users have them: a crash is to be followed within 15 s also on a machine that is
 * starved, where a candidate hears of a renewal, and of the end of its own wait, seconds late.
 */
export const defaultLeaseTiming: LeaseTiming = { leaseDurationMs: 10_000, renewDeadlineMs: 7000, retryPeriodMs: 2000 }

/** @throws RangeError for times with which two could lead, or a leader would lose the lease to a single lost renewal */
export function checkLeaseTiming({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: LeaseTiming): void {
  if (!(retryPeriodMs > 0 && renewDeadlineMs > retryPeriodMs && leaseDurationMs - retryPeriodMs > renewDeadlineMs))
    throw new RangeError('a lease must outlast its renew deadline by more than a retry period, and that one a retry')
}
