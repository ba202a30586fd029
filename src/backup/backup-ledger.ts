/** What operators are told of the backups that a server makes by itself: how the last ones went, and when. */
import type { Clock } from '../base/clock.ts'
import { formatTime } from '../kube/time.ts'
import type { BackupReport } from '../storage/storage.ts'

/** As many intervals without a backup are late: one may take a while. */
const lateAfter = 2

export interface FinishedBackup {
  readonly sizeBytes: number
  readonly durationMs: number
}

export class BackupLedger {
  readonly #clock: Clock
  readonly #folder: string
  readonly #everyMs: number
  readonly #begunMs: number
  #successes = 0
  #failures = 0
  #last: (FinishedBackup & { readonly atMs: number }) | undefined
  /** By a clock that is never set: a late backup is late whatever the time of day is. */
  #lastMonotonicMs: number | undefined
  /** Since the last success. */
  #failed: { readonly atMs: number; readonly why: string } | undefined

  constructor(clock: Clock, folder: string, everyMs: number) {
    this.#clock = clock
    this.#folder = folder
    this.#everyMs = everyMs
    this.#begunMs = clock.monotonic()
  }

  succeeded(backup: FinishedBackup): void {
    this.#successes++
    this.#last = { ...backup, atMs: this.#clock.now() }
    this.#lastMonotonicMs = this.#clock.monotonic()
    this.#failed = undefined
  }

  failed(error: unknown): void {
    this.#failures++
    this.#failed = { atMs: this.#clock.now(), why: error instanceof Error ? error.message : String(error) }
  }

  report(): BackupReport {
    return {
      everyMs: this.#everyMs,
      successes: this.#successes,
      failures: this.#failures,
      lastMs: this.#last?.atMs,
      sizeBytes: this.#last?.sizeBytes,
      durationMs: this.#last?.durationMs,
      warnings: this.#warnings(),
    }
  }

  #warnings(): readonly string[] {
    const before = this.#last === undefined ? 'none since the start' : `the last is of ${formatTime(this.#last.atMs)}`
    if (this.#failed !== undefined) {
      return [
        `the backup into ${this.#folder} at ${formatTime(this.#failed.atMs)} failed (${before}): ${this.#failed.why}`,
      ]
    }
    const since = this.#clock.monotonic() - (this.#lastMonotonicMs ?? this.#begunMs)
    return since <= lateAfter * this.#everyMs
      ? []
      : [`no backup into ${this.#folder} has ended for a while (${before})`]
  }
}
