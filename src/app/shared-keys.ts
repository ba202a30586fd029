/** The keys that replicas share, for commands beside them. */
import { systemClock } from '../base/clock.ts'
import { silentLog } from '../base/log.ts'
import type { EtcdChoice } from './config.ts'
import { memoryPkiStore, type PkiStore } from './pki.ts'
import { sharedPkiStore } from './shared-pki.ts'
import { openServedStorage } from './unfinished-copy.ts'

export interface SharedKeys extends AsyncDisposable {
  readonly keys: PkiStore
}

/** @throws StorageError, UnfinishedCopyError */
export async function openSharedKeys(etcd: EtcdChoice): Promise<SharedKeys> {
  const storage = await openServedStorage({ storage: etcd, clock: systemClock, log: silentLog })
  return {
    keys: sharedPkiStore(storage, memoryPkiStore()),
    [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
  }
}
