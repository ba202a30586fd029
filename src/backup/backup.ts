/**
 * Copies of everything that a store holds, from one place to another: a data directory, an etcd, a file of `borough
 * backup`. What other folders see of this one. `store-copy.ts` copies and verifies; `store-places.ts` and
 * `backup-file.ts` are the places.
 */
import { formatTime } from '../kube/time.ts'
import { backupSource, backupTarget } from './backup-file.ts'
import type { Source, Target } from './store-copy.ts'
import { type PlaceOptions, type StorePlace, storeSource, storeTarget } from './store-places.ts'

export {
  type DamagedEntry,
  damagedAt,
  type Remedy,
  rebuildIndexAt,
  repairAt,
  type Verification,
  verifyStoreAt,
} from './repair.ts'
export { type CopyResult, copyStore, type Source, type Target } from './store-copy.ts'
export type { PlaceOptions, StorePlace } from './store-places.ts'

export type Place = StorePlace | { readonly file: string }

export function sourceAt(place: Place, options: PlaceOptions): Source {
  return 'file' in place ? backupSource(place.file) : storeSource(place, options)
}

/** @throws CopyError, PrivateFileError, DataDirBusyError, StorageError */
export async function targetAt(place: Place, options: PlaceOptions): Promise<Target> {
  return 'file' in place ? backupTarget(place.file, formatTime(options.clock.now())) : storeTarget(place, options)
}
