/**
 * What operators are told of the store, in metrics and health checks: its room, and what the scrub has found. In a
 * process that asks another one for the store (`relay/`) it is what that one has told last.
 */
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { Scrubber } from './scrubber.ts'
import type { Storage, StoreReport } from './storage.ts'
import { isShared, type StorageChoice } from './storage-choice.ts'

export interface ReporterOptions {
  readonly storage: StorageChoice
  /** 0 = never. */
  readonly scrubEveryMs: number
  readonly clock: Clock
  readonly log: Log
}

export class StoreReporter implements AsyncDisposable {
  readonly #storage: Storage
  readonly #scrubber: Scrubber | undefined
  #told: StoreReport | undefined

  /** `isTurn`: of the processes that serve a shared store, this one works for all. */
  constructor(storage: Storage, { storage: choice, scrubEveryMs, clock, log }: ReporterOptions, isTurn: () => boolean) {
    this.#storage = storage
    if (scrubEveryMs > 0 && choice.engine !== 'relay' && choice.engine !== 'memory') {
      const options = { storage, clock, log, everyMs: scrubEveryMs }
      this.#scrubber = new Scrubber(isShared({ storage: choice }) ? { ...options, isTurn } : options)
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
    return this.#told ?? { condition: this.#storage.condition?.(), scrub: this.#scrubber?.report() }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#scrubber?.[Symbol.asyncDispose]()
  }
}
