/** The workers of a primary: each is started, given its ways to the primary, and replaced when it dies. */
import cluster, { type Worker } from 'node:cluster'
import type { Config } from '../app/config.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { keepFor } from '../audit/audit-relay.ts'
import { sleep } from '../base/clock.ts'
import { storeParts } from '../encryption/store-health.ts'
import { GroupMetrics } from '../metrics/metrics.ts'
import { holdFor } from '../storage/relay/relay-holder.ts'
import type { Storage } from '../storage/storage.ts'
import type { StoreReporter } from '../storage/store-report.ts'
import { type FromWorker, slotVariable, type ToWorker, workerPort } from './channel.ts'

/** How long a worker may take to finish what is under way. */
const stopMs = 12_000
const replaceAfterMs = 500
export type Ready = Extract<FromWorker, { readonly ready: unknown }>['ready']

export interface HeldStore {
  readonly storage: Storage
  readonly reporter: StoreReporter
}

export class WorkerGroup implements AsyncDisposable {
  readonly #config: Config
  readonly #held: HeldStore | undefined
  readonly #audit: AuditLog | undefined
  readonly #onAdminKubeconfig: (kubeconfig: string) => void
  readonly #metrics: GroupMetrics
  readonly #workers = new Set<Worker>()
  readonly #stop = new AbortController()

  /** `held`: by this process; undefined = each worker speaks to the store itself. */
  constructor(
    config: Config,
    held: HeldStore | undefined,
    audit: AuditLog | undefined,
    onAdminKubeconfig: (kubeconfig: string) => void,
  ) {
    this.#onAdminKubeconfig = onAdminKubeconfig
    this.#config = config
    this.#held = held
    this.#audit = audit
    this.#metrics = new GroupMetrics({
      clock: config.clock,
      log: config.log,
      audit: () => audit?.counts,
      parts: held === undefined ? [] : [storeParts(held.storage, held.reporter)],
    })
  }

  /** Resolves when it serves; from then on it is replaced when it dies. */
  start(slot: number): Promise<Ready> {
    const worker = cluster.fork({ [slotVariable]: String(slot) })
    this.#workers.add(worker)
    const { storage, reporter } = this.#held ?? {}
    if (storage && reporter) holdFor(workerPort(worker, 'relay'), storage, () => reporter.now())
    if (this.#audit) keepFor(workerPort(worker, 'audit'), this.#audit)
    this.#metrics.join(workerPort(worker, 'metrics'))
    return new Promise((resolve, reject) => {
      let served = false
      worker.on('message', (message: FromWorker) => {
        if ('ready' in message) {
          served = true
          resolve(message.ready)
        } else if ('adminKubeconfig' in message) this.#onAdminKubeconfig(message.adminKubeconfig)
        else if ('failed' in message)
          reject(Object.assign(new Error(message.failed.message), { code: message.failed.code }))
      })
      // A message to a worker that is ending: its exit is what matters.
      worker.on('error', (error) => this.#config.log.debug({ error }, 'a worker could not be told something'))
      worker.once('exit', (code, signal) => {
        this.#workers.delete(worker)
        reject(new Error(`a worker ended before it served (${signal || code})`))
        if (served && !this.#stop.signal.aborted) void this.#replace(worker, slot, signal || code)
      })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await Promise.all([...this.#workers].map((worker) => this.#end(worker)))
  }

  async #replace(dead: Worker, slot: number, why: string | number): Promise<void> {
    const { log, clock } = this.#config
    log.error({ worker: dead.process.pid, why }, 'a worker died; another takes its place')
    while (!this.#stop.signal.aborted) {
      await sleep(clock, replaceAfterMs, this.#stop.signal)
      if (this.#stop.signal.aborted) return
      try {
        await this.start(slot)
        return
      } catch (error) {
        log.error({ error }, 'a worker could not be started; it is tried again')
      }
    }
  }

  async #end(worker: Worker): Promise<void> {
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    const late = this.#config.clock.after(stopMs, () => worker.process.kill('SIGKILL'))
    if (worker.isConnected()) worker.send({ stop: true } satisfies ToWorker)
    else worker.process.kill('SIGKILL')
    await ended
    late.cancel()
  }
}
