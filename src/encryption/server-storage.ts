/**
 * The store as a server uses it: opened, and with its values decrypted. Without a configuration nothing of that is
 * loaded; a store that holds encrypted values is then refused.
 */
import type { Ids } from '../base/ids.ts'
import { type BegunStorage, begun, type StoragePlace } from '../storage/open-storage.ts'
import { beginServedStorage } from '../storage/served-storage.ts'
import { isStorageError, type Storage } from '../storage/storage.ts'
import { markEncrypted, requireNoneEncrypted } from './encrypted-marker.ts'
import type { Encryption, EncryptionChoice } from './encryption.ts'

export interface ServerPlace extends StoragePlace {
  /** Absent = values are stored as they are. */
  readonly encryption?: EncryptionChoice
  readonly ids?: Ids
}

/** @throws UnfinishedCopyError, StorageError, EncryptionConfigurationError, EncryptionError */
export async function openServerStorage(place: ServerPlace): Promise<Storage> {
  return (await beginServerStorage(place)).opened
}

/** @throws as above: here, or where `opened` is awaited */
export async function beginServerStorage(place: ServerPlace): Promise<BegunStorage> {
  const { opened } = await beginServedStorage(place)
  // The process that holds the store decrypts.
  return place.storage.engine === 'relay' ? begun(opened) : begun(opened.then((storage) => decrypting(storage, place)))
}

/** Takes the store in charge: it is closed where this fails. */
export async function decrypting(storage: Storage, place: ServerPlace): Promise<Storage> {
  try {
    return await decryptingOf(storage, place)
  } catch (error) {
    await storage[Symbol.asyncDispose]()
    throw error
  }
}

async function decryptingOf(
  storage: Storage,
  { storage: { engine }, dataDir, encryption: choice, clock, ids, log }: ServerPlace,
): Promise<Storage> {
  const options = { storage, clock, log, ...(ids === undefined ? {} : { ids }) }
  if (choice === undefined) {
    await requireNoneEncrypted(storage, engine === 'sqlite' ? (dataDir ?? engine) : engine)
    if (engine !== 'etcd') return storage
  }
  const { EncryptedStorage } = await import('./encrypted-storage.ts')
  const { Encryption } = await import('./encryption.ts')
  const encryption =
    choice === undefined
      ? // Another server of this etcd may begin to encrypt.
        Encryption.none(options)
      : await Encryption.open({ ...options, choice, beforeUse: () => markUnlessReadOnly(storage) })
  return new EncryptedStorage(storage, encryption)
}

/** Into a store that can only be read nothing is written that is encrypted either. */
async function markUnlessReadOnly(storage: Storage): Promise<void> {
  try {
    await markEncrypted(storage)
  } catch (error) {
    if (!isStorageError(error, 'readOnly')) throw error
  }
}

/** Of a store that this process decrypts. */
export const encryptionOf = (storage: Storage & { readonly encryption?: Encryption }): Encryption | undefined =>
  storage.encryption
