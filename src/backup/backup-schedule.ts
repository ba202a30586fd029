/** Backups that a server makes by itself, of the data directory that it serves; one at a time. */
import { stat } from 'node:fs/promises'
import type { Clock, Timer } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { ensurePrivateDirectory } from '../base/private-files.ts'
import { restBetween } from '../base/rest-between.ts'
import type { BackupLedger } from './backup-ledger.ts'
import { backUpInto, forgetOld, type SetOptions } from './backup-set.ts'

export interface BackupPlan {
  readonly folder: string
  readonly everyMs: number
  /** A full backup at least as often. */
  readonly fullEveryMs: number
  /** Full backups that are kept, with what changed after each. */
  readonly keep: number
}

export class BackupSchedule implements AsyncDisposable {
  readonly #plan: BackupPlan
  readonly #dataDir: string
  readonly #clock: Clock
  readonly #log: Log
  readonly #ledger: BackupLedger | undefined
  readonly #options: () => Promise<SetOptions>
  #timer: Timer | undefined
  #running: Promise<void> | undefined
  #isStopped = false

  /** `options`: asked for each backup, so that keys are those of then. */
  constructor(parts: {
    readonly plan: BackupPlan
    readonly dataDir: string
    readonly clock: Clock
    readonly log: Log
    readonly ledger?: BackupLedger
    readonly options: () => Promise<SetOptions>
  }) {
    this.#plan = parts.plan
    this.#dataDir = parts.dataDir
    this.#clock = parts.clock
    this.#log = parts.log
    this.#ledger = parts.ledger
    this.#options = parts.options
  }

  /** The first one at once. */
  start(): void {
    this.#running = this.#round().finally(() => this.#planNext())
  }

  /** Waits for the one that is being made. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    await this.#running
  }

  #planNext(): void {
    if (this.#isStopped) return
    this.#timer = this.#clock.after(this.#plan.everyMs, () => this.start())
  }

  async #round(): Promise<void> {
    const { folder, fullEveryMs, keep } = this.#plan
    const log = this.#log
    const begunMs = this.#clock.monotonic()
    try {
      await ensurePrivateDirectory(folder)
      const options = await this.#options()
      using _ = options.encryption
      const done = await backUpInto(folder, this.#dataDir, {
        ...options,
        fullAfterMs: fullEveryMs,
        rest: restBetween(),
      })
      const forgotten = await forgetOld(folder, keep)
      const { size: sizeBytes } = await stat(done.path)
      this.#ledger?.succeeded({ sizeBytes, durationMs: this.#clock.monotonic() - begunMs })
      log.info({ ...done, forgotten }, 'backed up')
    } catch (error) {
      this.#ledger?.failed(error)
      log.error({ error, folder }, 'a backup could not be made; the next one is tried in time')
    }
  }
}
