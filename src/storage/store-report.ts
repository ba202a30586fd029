/**
 * What operators are told of the store, in metrics and health checks: its room, and what the scrub has found. In a
 * process that asks another one for the store (`relay/`) it is what that one has told last.
 */
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { Scrubber } from './scrubber.ts'
import type { BackupReport, Storage, StoreReport } from './storage.ts'
import { isShared, type StorageChoice } from './storage-choice.ts'

export interface ReporterOptions {
  readonly storage: StorageChoice
  /** 0 = never. */
  readonly scrubEveryMs: number
  readonly clock: Clock
  readonly log: Log
  /** What is planned; absent: the servers of this store make none by themselves. */
  readonly backup?: object
  /** Of the process that makes them. */
  readonly backupLedger?: { report(): BackupReport }
}

export class StoreReporter implements AsyncDisposable {
  readonly #storage: Storage
  readonly #scrubber: Scrubber | undefined
  /** By themselves, this server or the process that holds the store. */
  readonly makesBackups: boolean
  readonly #backups: ReporterOptions['backupLedger']
  #told: StoreReport | undefined

  /** `isTurn`: of the processes that serve a shared store, this one works for all. */
  constructor(storage: Storage, options: ReporterOptions, isTurn: () => boolean) {
    const { storage: choice, scrubEveryMs, clock, log } = options
    this.#storage = storage
    this.makesBackups = options.backup !== undefined
    this.#backups = options.backupLedger
    if (scrubEveryMs > 0 && choice.engine !== 'relay' && choice.engine !== 'memory') {
      const scrubbed = { storage, clock, log, everyMs: scrubEveryMs }
      this.#scrubber = new Scrubber(isShared({ storage: choice }) ? { ...scrubbed, isTurn } : scrubbed)
    }
  }

  start(): this {
    this.#scrubber?.start()
    return this
  }

  /** True where `now` is all that there is to know: it is never of another process. */
  get isOwn(): boolean {
    return this.#storage.report === undefined
  }

  /** Asks the process that holds the store. */
  async refresh(): Promise<void> {
    this.#told = await this.#storage.report?.()
  }

  now(): StoreReport {
    return (
      this.#told ?? {
        condition: this.#storage.condition?.(),
        scrub: this.#scrubber?.report(),
        backups: this.#backups?.report(),
      }
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#scrubber?.[Symbol.asyncDispose]()
  }
}
