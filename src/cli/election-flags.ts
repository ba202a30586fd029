/** Flags that say how the leader among several servers is found: upstream's names. */
import type { Command } from 'commander'
import { type Config, defaultConfig, leaseTiming } from '../app/config.ts'
import { durationOption } from './duration.ts'

export interface ElectionFlags {
  readonly leaderElectLeaseDuration: number
  readonly leaderElectRenewDeadline: number
  readonly leaderElectRetryPeriod: number
}

export function addElectionOptions(command: Command): void {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = defaultConfig.leaseTiming
  const durations = [
    [
      'lease-duration',
      'how long others wait for a silent leader before one of them runs the controllers',
      leaseDurationMs,
    ],
    ['renew-deadline', 'how long a leader that cannot renew its lease goes on', renewDeadlineMs],
    ['retry-period', 'between renewals', retryPeriodMs],
  ] as const
  for (const [name, about, ms] of durations) {
    command.addOption(durationOption(`--leader-elect-${name} <duration>`, about, ms))
  }
}

/** @throws CommanderError for durations that make no sense together */
export function leaseTimingOf(flags: ElectionFlags, command: Command): Config['leaseTiming'] {
  try {
    return leaseTiming({
      leaseDurationMs: flags.leaderElectLeaseDuration,
      renewDeadlineMs: flags.leaderElectRenewDeadline,
      retryPeriodMs: flags.leaderElectRetryPeriod,
    })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return command.error(`--leader-elect-…: ${error.message}`)
  }
}
