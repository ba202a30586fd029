/**
 * Several processes on one machine that serve one port from one store.
 *
 *   primary   holds the store and the directory, accepts connections and hands them on, compacts; serves no request
 *   workers   each a whole control plane whose store is the primary's, over the channel between the two processes
 *
 * To each other the workers are what replicas on an etcd are: nothing in them assumes to be alone, what one of them
 * acknowledged holds at the others, and one at a time runs the controllers. With an etcd each worker speaks to it
 * itself.
 *
 * A worker that dies is replaced; its clients connect again. When the primary dies, so do its workers.
 */
import cluster from 'node:cluster'
import type { Config } from '../app/config.ts'
import { serve } from '../app/serve.ts'
import { openAuditLog } from '../audit/open-audit.ts'
import { replicaId } from '../datadir/data-dir.ts'
import { openServerStorage } from '../encryption/server-storage.ts'
import { openKeys } from '../pki/pki.ts'
import { Compactor } from '../storage/compactor.ts'
import { StoreReporter } from '../storage/store-report.ts'
import { type FromWorker, primaryPort, slotVariable, type ToWorker } from './channel.ts'
import { WorkerGroup } from './worker-group.ts'

/** What the outside sees of a group of workers. */
export interface Served extends AsyncDisposable {
  readonly url: string
  readonly adminUrl?: string
  readonly adminKubeconfig: string
}

/** True in a process that `serveWithWorkers` started. */
export const isWorker = (): boolean => cluster.isWorker

/** Resolves when all of them serve. @throws Error of the first that could not start */
export async function serveWithWorkers(
  config: Config,
  count: number,
  onAdminKubeconfig: (kubeconfig: string) => void,
): Promise<Served> {
  await using opening = new AsyncDisposableStack()
  const storage = opening.use(await openServerStorage(config))
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
  const held = shared && {
    storage: shared,
    reporter: opening.use(new StoreReporter(shared, config, () => true).start()),
  }
  const group = opening.use(new WorkerGroup(config, held, audit, onAdminKubeconfig))
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
    const own = { ...config, storage, group, workerSlot: Number(process.env[slotVariable]) }
    await using server = await serve(own, undefined, (kubeconfig) => say({ adminKubeconfig: kubeconfig }))
    const { url, adminUrl, adminKubeconfig } = server
    say({ ready: { url, ...(adminUrl === undefined ? {} : { adminUrl }), adminKubeconfig } })
    await enough
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException
    say({ failed: { message, code } })
    throw error
  } finally {
    cluster.worker?.disconnect()
  }
}
