/**
 * Which process runs the controllers: where others may serve the same store, the one that holds the Lease
 * `kube-system/borough-controllers`; alone, this one, at once.
 *
 * A leader that stops gives the lease back when its controllers have ended, and another takes it at once; one that is
 * killed or cut off is followed when its lease lapses, or goes on itself as soon as it is back.
 */
import { leadWhileElected } from '../controller/leader.ts'
import { replicaId } from '../datadir/data-dir.ts'
import { serviceAccountUser } from '../kube/user.ts'
import { isShared } from '../storage/storage-choice.ts'
import type { Config } from './config.ts'
import { controllerNames } from './controller-names.ts'
import type { ClientFor } from './controllers.ts'

export const controllersLease = { namespace: 'kube-system', name: 'borough-controllers' } as const
const account = 'leader-election'

export class Leadership {
  readonly #config: Config
  readonly #client: ClientFor
  #leading = false

  constructor(config: Config, client: ClientFor) {
    this.#config = config
    this.#client = client
  }

  /** True while this process runs the controllers. */
  get leading(): boolean {
    return this.#leading
  }

  /** Runs `work` whenever it is this process's turn, until the signal aborts. */
  async run(work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, ids, log, dataDir, workerSlot } = this.#config
    const onLeading = (leading: boolean): void => {
      this.#leading = leading
    }
    // A process without controllers must not keep others from running theirs.
    if (!controllerNames.some(this.#config.controllers)) return
    if (!isShared(this.#config)) {
      onLeading(true)
      return work(signal)
    }
    const replica = await replicaId(dataDir, ids)
    const election = {
      client: this.#client(serviceAccountUser('kube-system', account), account),
      clock,
      log,
      lease: controllersLease,
      timing: this.#config.leaseTiming,
      identity: workerSlot === undefined ? replica : `${replica}_${workerSlot}`,
      onLeading,
    }
    return leadWhileElected(election, work, signal)
  }
}
