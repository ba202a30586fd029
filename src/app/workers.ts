/**
 * Several processes on one machine that serve one port from one store.
 *
 *   primary   holds the store and the directory, accepts connections and hands them on, compacts; serves no request
 *   workers   each a whole control plane whose store is the primary's, over the channel between the two processes
 *
 * To each other the workers are what replicas on an etcd are: nothing in them assumes to be alone, what one of them
 * acknowledged holds at the others, and one at a time runs the controllers. With an etcd each worker speaks to it itself.
 *
 * A worker that dies is replaced; its clients connect again. When the primary dies, so do its workers.
 */
import cluster, { type Worker } from 'node:cluster'
import type { AuditLog } from '../audit/audit-log.ts'
import { sleep } from '../base/clock.ts'
import type { RelayPort } from '../base/relay-port.ts'
import { openKeys } from '../pki/pki.ts'
import { Compactor } from '../storage/compactor.ts'
import { holdFor } from '../storage/relay/relay-holder.ts'
import { openServedStorage } from '../storage/served-storage.ts'
import type { Storage } from '../storage/storage.ts'
import { openAuditLog } from './audit.ts'
import { keepFor } from './audit-relay.ts'
import type { Config } from './config.ts'
import { GroupMetrics } from './group-metrics.ts'
import { replicaId } from './replica-id.ts'
import { serve } from './serve.ts'

/** What the outside sees of a group of workers. */
export interface Served extends AsyncDisposable {
  readonly url: string
  readonly adminKubeconfig: string
}

/** How long a worker may take to finish what is under way. */
const stopMs = 12_000
const replaceAfterMs = 500
/** Tells a worker which one it is. */
const slotVariable = 'BOROUGH_WORKER_SLOT'

/** What travels between a worker and the primary, each on a way of its own. */
type Way = 'relay' | 'audit' | 'metrics'
type OnWay = { readonly way: Way; readonly message: unknown }

type FromWorker =
  | OnWay
  | { readonly ready: { readonly url: string; readonly adminKubeconfig: string } }
  /** `code` of a system error, for who words it. */
  | { readonly failed: { readonly message: string; readonly code: string | undefined } }
type ToWorker = OnWay | { readonly stop: true }

/** True in a process that `serveWithWorkers` started. */
export const isWorker = (): boolean => cluster.isWorker

/** Resolves when all of them serve. @throws Error of the first that could not start */
export async function serveWithWorkers(config: Config, count: number): Promise<Served> {
  await using opening = new AsyncDisposableStack()
  const storage = opening.use(await openServedStorage(config))
  // Before the workers look: they all find the same.
  await openKeys(config, Promise.resolve(storage))
  const shared = config.storage.engine === 'etcd' ? undefined : storage
  if (shared) {
    const { clock, history, log } = config
    const onError = (error: unknown): void =>
      log.warn({ error }, 'history could not be compacted; it will be tried again')
    const options = { storage: shared, clock, windowMs: history.ageMs, windowBytes: history.bytes, onError }
    opening.use(new Compactor(options)).start()
  }
  cluster.setupPrimary({ serialization: 'advanced' })
  const audit = config.audit && opening.use(await openAuditLog(config.audit, config.log))
  const group = opening.use(new WorkerGroup(config, shared, audit))
  // Made here, so that they all find the same.
  if (config.dataDir !== undefined) await replicaId(config.dataDir, config.ids)
  const [first] = await Promise.all(Array.from({ length: count }, (_, i) => group.start(i + 1)))
  if (!first) throw new Error('there must be at least one worker')
  const running = opening.move()
  return { ...first, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

/** Serves until the primary says that it is enough. */
export async function serveAsWorker(config: Config): Promise<void> {
  const enough = new Promise<void>((resolve) => {
    process.on('message', (message) => {
      if ('stop' in (message as ToWorker)) resolve()
    })
  })
  const say = (message: FromWorker): void => void process.send?.(message)
  const storage =
    config.storage.engine === 'etcd' ? config.storage : ({ engine: 'relay', port: primaryPort('relay') } as const)
  try {
    const group = { audit: primaryPort('audit'), metrics: primaryPort('metrics') }
    await using server = await serve({ ...config, storage, group, workerSlot: Number(process.env[slotVariable]) })
    say({ ready: { url: server.url, adminKubeconfig: server.adminKubeconfig } })
    await enough
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException
    say({ failed: { message, code } })
    throw error
  } finally {
    cluster.worker?.disconnect()
  }
}

function primaryPort(way: Way): RelayPort {
  return {
    send(message) {
      if (process.connected) process.send?.({ way, message } satisfies FromWorker)
    },
    onMessage(listener) {
      process.on('message', (told: ToWorker) => {
        if ('way' in told && told.way === way) listener(told.message)
      })
    },
    onClose: (listener) => void process.once('disconnect', listener),
  }
}

function workerPort(worker: Worker, way: Way): RelayPort {
  return {
    send(message) {
      if (worker.isConnected()) worker.send({ way, message } satisfies ToWorker)
    },
    onMessage(listener) {
      worker.on('message', (told: FromWorker) => {
        if ('way' in told && told.way === way) listener(told.message)
      })
    },
    onClose: (listener) => void worker.once('disconnect', listener),
  }
}

type Ready = Extract<FromWorker, { readonly ready: unknown }>['ready']

class WorkerGroup implements AsyncDisposable {
  readonly #config: Config
  readonly #storage: Storage | undefined
  readonly #audit: AuditLog | undefined
  readonly #metrics: GroupMetrics
  readonly #workers = new Set<Worker>()
  readonly #stop = new AbortController()

  constructor(config: Config, storage: Storage | undefined, audit: AuditLog | undefined) {
    this.#config = config
    this.#storage = storage
    this.#audit = audit
    this.#metrics = new GroupMetrics({ clock: config.clock, log: config.log, audit: () => audit?.counts })
  }

  /** Resolves when it serves; from then on it is replaced when it dies. */
  start(slot: number): Promise<Ready> {
    const worker = cluster.fork({ [slotVariable]: String(slot) })
    this.#workers.add(worker)
    if (this.#storage) holdFor(workerPort(worker, 'relay'), this.#storage)
    if (this.#audit) keepFor(workerPort(worker, 'audit'), this.#audit)
    this.#metrics.join(workerPort(worker, 'metrics'))
    return new Promise((resolve, reject) => {
      let served = false
      worker.on('message', (message: FromWorker) => {
        if ('ready' in message) {
          served = true
          resolve(message.ready)
        } else if ('failed' in message)
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
