/** A store whose values are encrypted, for the contracts of storage. */
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { EncryptedStorage } from '../../src/encryption/encrypted-storage.ts'
import { Encryption } from '../../src/encryption/encryption.ts'
import { MemoryStorage } from '../../src/storage/memory/memory-storage.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { writeConfiguration } from './configurations.ts'

/** `seeds`: where a plugin's are kept; elsewhere than in the store, since the contract begins with an empty one. */
export async function encryptedIn(
  folder: string,
  storage: Storage,
  provider: object,
  seeds: MemoryStorage = new MemoryStorage({}),
): Promise<Storage> {
  // The contract's keys are no objects, so they go as the server's own: as secrets.
  const path = await writeConfiguration(folder, { resources: ['secrets'], providers: [provider] })
  const choice = { path, automaticReload: false }
  return new EncryptedStorage(
    storage,
    await Encryption.open({ choice, storage: seeds, clock: systemClock, log: silentLog }),
  )
}
