/** The keys that replicas share, for commands beside them. */
import { systemClock } from '../base/clock.ts'
import { silentLog } from '../base/log.ts'
import { openServedStorage } from '../storage/served-storage.ts'
import type { EtcdChoice } from '../storage/storage-choice.ts'
import { memoryPkiStore, type PkiStore } from './pki.ts'
import { sharedPkiStore } from './shared-pki.ts'

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
