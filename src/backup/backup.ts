/**
 * Copies of everything that a store holds, from one place to another: a data directory, an etcd, a file of `borough
 * backup`. What other folders see of this one. `store-copy.ts` copies and verifies; `store-places.ts` and
 * `backup-file.ts` are the places.
 */
import { backupSource, backupTarget, lastIssued } from './backup-file.ts'
import { decryptedSource, encryptedTarget } from './key-entries.ts'
import { type RestorePoint, setSource } from './set-source.ts'
import type { Source, Target } from './store-copy.ts'
import { type PlaceOptions, type StorePlace, storeSource, storeTarget } from './store-places.ts'

export { hadStore } from '../storage/open-storage.ts'
export { requireWhole } from '../storage/unfinished-copy.ts'
export { BackupLedger } from './backup-ledger.ts'
export { type BackupPlan, BackupSchedule } from './backup-schedule.ts'
export { backUpInto, forgetOld, type SetBackup } from './backup-set.ts'
export { type CopiedFigures, CopiedValues, type UnopenedGroup } from './copied-values.ts'
export { type EncryptedCount, inOneLine, type UnopenedEntry } from './examination.ts'
export {
  type DamagedEntry,
  damagedAt,
  type Remedy,
  rebuildIndexAt,
  repairAt,
  type ToRepair,
  type UnopenedToRepair,
  whatOpens,
} from './repair.ts'
export type { RestorePoint } from './set-source.ts'
export { type CopyResult, copyStore, type Source, type Target } from './store-copy.ts'
export { type PlaceOptions, placeName, type StorePlace } from './store-places.ts'
export { type Verification, verifyStoreAt } from './verify-store.ts'

import { Encryption, type EncryptionChoice, nothingStored } from '../encryption/encryption.ts'

export type { Reencryption } from '../encryption/encryption.ts'
export { reencryptAt } from './reencrypt-store.ts'

/** For keys on their way: a seed of a KMS plugin goes with what it encrypts, so it needs no record. */
export function openCopyEncryption(choice: EncryptionChoice, options: PlaceOptions): Promise<Encryption> {
  return Encryption.open({ choice, storage: nothingStored, clock: options.clock, log: options.log })
}

/** To look whether values can be opened: plugins may be away. */
export function openReadingEncryption(choice: EncryptionChoice, options: PlaceOptions): Promise<Encryption> {
  const { clock, log } = options
  return Encryption.open({ choice, storage: nothingStored, clock, log, isForReading: true })
}

export type TargetPlace = StorePlace | { readonly file: string }
export type Place =
  | TargetPlace
  /** Of `backUpInto`; to read from. */
  | { readonly folder: string; readonly point: RestorePoint }

export function sourceAt(place: Place, options: PlaceOptions): Source {
  if ('folder' in place) return setSource(place.folder, place.point, options)
  const source = 'file' in place ? datedSource(place.file, options) : storeSource(place, options)
  const { encryption } = options
  return encryption === undefined || 'dataDir' in place ? source : decryptedSource(source, encryption)
}

/** A restore goes on above every revision that can have been given out since. */
const datedSource = (file: string, { clock, report }: PlaceOptions): Source => ({
  name: file,
  async read() {
    const contents = await backupSource(file, report).read()
    return { ...contents, lastIssued: lastIssued(contents.revision, contents.timeMs, clock.now()) }
  },
})

/** @throws CopyError, PrivateFileError, DataDirBusyError, StorageError */
export async function targetAt(place: TargetPlace, options: PlaceOptions): Promise<Target> {
  const target = 'file' in place ? await backupTarget(place.file, options.clock) : await storeTarget(place, options)
  const { encryption } = options
  return encryption === undefined || 'dataDir' in place ? target : encryptedTarget(target, encryption)
}
