/** `borough storage reencrypt`: a whole store, written anew with the first key; see `reencrypt`. */
import type { ReportProgress } from '../base/progress.ts'
import { type Encryption, markEncrypted, type Reencryption, reencrypt } from '../encryption/encryption.ts'
import { forgetBackupsOf, snapshotOf, squeezeStore } from '../storage/open-storage.ts'
import { prefixSpan, type Storage } from '../storage/storage.ts'
import { openToRepair } from './examine-store.ts'
import type { PlaceOptions, StorePlace } from './store-places.ts'

/** `open`: the operator's encryption, with its records in the store. */
export async function reencryptAt(
  place: StorePlace,
  options: PlaceOptions,
  open: (storage: Storage) => Promise<Encryption>,
  report: ReportProgress,
): Promise<Reencryption> {
  const done = await reencryptStore(place, options, open, report)
  // What the values were before is in the history, and in what SQLite has freed.
  if ('dataDir' in place) await squeezeStore(place.dataDir)
  return done
}

async function reencryptStore(
  place: StorePlace,
  options: PlaceOptions,
  open: (storage: Storage) => Promise<Encryption>,
  report: ReportProgress,
): Promise<Reencryption> {
  await using opened = await openToRepair(place, options)
  const { storage } = opened
  using encryption = await open(storage)
  if (encryption.encrypts) await markEncrypted(storage)
  const done = await reencrypt(
    storage,
    encryption,
    report,
    'dataDir' in place ? await sizeOf(place.dataDir) : await storage.count?.(prefixSpan('/')),
  )
  if ('dataDir' in place) {
    // What waits in the log for the next incremental backup is as it was written, for days.
    await forgetBackupsOf(place.dataDir)
    await storage.compact(await storage.currentRevision())
  }
  return done
}

async function sizeOf(dataDir: string): Promise<number> {
  using snapshot = await snapshotOf(dataDir)
  return snapshot.size
}
