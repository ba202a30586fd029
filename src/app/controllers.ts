/**
 * What goes on beside requests: the controllers that the features bring, each as a service account of its own, through
 * the pipeline, in one process of all that serve a store.
 *
 * Where others may serve the same store it is the one that holds the Lease `kube-system/borough-controllers`; alone,
 * this one, at once. A leader that stops gives the lease back when its controllers have ended, and another takes it at
 * once; one that is killed or cut off is followed when its lease lapses, or goes on itself as soon as it is back.
 */

import type { Client } from '../client/client.ts'
import { leadWhileElected } from '../controller/leader.ts'
import { controllersLease } from '../controller/lease.ts'
import { type ControllerRuntime, runController } from '../controller/run-controller.ts'
import { whatFailed } from '../controller/what-failed.ts'
import { replicaId } from '../datadir/data-dir.ts'
import type { ControllerContext } from '../feature/feature.ts'
import type { FlowControl } from '../flowcontrol/flowcontrol.ts'
import { serviceAccountUser, type UserInfo } from '../kube/user.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { SigningKeys } from '../pki/pki.ts'
import { fromStorage } from '../registry/errors.ts'
import { isShared } from '../storage/storage-choice.ts'
import { type Config, controllerNames } from './config.ts'
import type { Core } from './wire.ts'

const account = 'leader-election'

export class Leadership {
  readonly #config: Config
  readonly #client: ClientFor
  #leading = false
  #identity: Promise<string> | undefined
  #known: string | undefined

  constructor(config: Config, client: ClientFor) {
    this.#config = config
    this.#client = client
  }

  /** True while this process runs the controllers. */
  get leading(): boolean {
    return this.#leading
  }

  /** Of this process among all that serve the store. */
  async identity(): Promise<string> {
    const { dataDir, ids, workerSlot } = this.#config
    this.#identity ??= replicaId(dataDir, ids).then((id) => (workerSlot === undefined ? id : `${id}_${workerSlot}`))
    this.#known = await this.#identity
    return this.#known
  }

  /** Whether a lease with this holder was taken by this process. */
  isOwn(holder: string): boolean {
    return holder === this.#known
  }

  /** Runs `work` whenever it is this process's turn, until the signal aborts. */
  async run(work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#config
    const onLeading = (leading: boolean): void => {
      this.#leading = leading
    }
    // A process without controllers must not keep others from running theirs.
    if (!controllerNames.some(this.#config.controllers)) return
    if (!isShared(this.#config)) {
      onLeading(true)
      return work(signal)
    }
    const election = {
      client: this.#client(serviceAccountUser('kube-system', account), account),
      clock,
      log,
      lease: controllersLease,
      timing: this.#config.leaseTiming,
      identity: await this.identity(),
      onLeading,
    }
    return leadWhileElected(election, work, signal)
  }
}

/** `sharesValues`: only for controllers that never change an object they were given. */
export type ClientFor = (user: UserInfo, userAgent: string, sharesValues?: boolean) => Client

/** Resolves when all have stopped. */
async function runControllers(
  core: Core,
  client: ClientFor,
  observe: NonNullable<ControllerRuntime['observe']>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, controllers: isOn } = core.config
  const run: ControllerContext = {
    client: (account, sharesValues) => client(serviceAccountUser('kube-system', account), account, sharesValues),
    onError: (component) => (error) => log.warn({ error, component }, whatFailed(fromStorage(error))),
  }
  const specs = core.parts.flatMap((parts) => parts.controllers?.(run) ?? [])
  const running = specs.filter(({ name, account = name }) => isOn(account))
  await Promise.all(running.map((spec) => runController(spec, { clock, log, turns: core.turns, observe }, signal)))
}

interface Running {
  readonly core: Core
  readonly client: ClientFor
  readonly leadership: Leadership
  readonly flowControl: FlowControl
  readonly keys: SigningKeys
  readonly metrics: Metrics
}

/** Answers what stops all of it, and waits until it has ended. */
export function runUntilStopped(running: Running): () => Promise<void> {
  const { core, client, leadership, flowControl, keys, metrics } = running
  const stop = new AbortController()
  const controllers = leadership.run(
    (signal) => runControllers(core, client, (...reconciled) => metrics.reconciled(...reconciled), signal),
    stop.signal,
  )
  flowControl.start()
  const following = keys.follow(stop.signal)
  return async () => {
    stop.abort()
    flowControl.stop()
    await Promise.all([controllers, following])
  }
}
