/** The store as a server opens it: the engine of the configuration, and only if no unfinished copy lies there. */

import { rememberServed, requireServed, ServedNotes } from './etcd-served.ts'
import { checkKnownLevel, checkLevel } from './format-level.ts'
import { type BegunStorage, beginStorage, begun, type StoragePlace } from './open-storage.ts'
import type { Revision, Storage } from './storage.ts'
import type { EtcdChoice } from './storage-choice.ts'
import { checkDirectory, checkStore } from './unfinished-copy.ts'

/** Opens the engine for a server. @throws UnfinishedCopyError, StorageError */
export async function openServedStorage(place: StoragePlace): Promise<Storage> {
  return (await beginServedStorage(place)).opened
}

/** As above, also where the format level is not known any more. @throws UnfinishedCopyError, StorageError */
export async function openStorageToRepair(place: StoragePlace): Promise<Storage> {
  return (await beginServedStorage(place, checkKnownLevel)).opened
}

/** @throws UnfinishedCopyError, StorageError: here, or where `opened` is awaited */
export async function beginServedStorage(place: StoragePlace, check: CheckLevel = checkLevel): Promise<BegunStorage> {
  if (place.storage.engine === 'sqlite' && place.dataDir !== undefined) await checkDirectory(place.dataDir)
  const engine = await beginStorage(place)
  if (place.storage.engine !== 'etcd') return engine
  const name = etcdName(place.storage)
  const { dataDir, acceptLoss = false } = place
  return begun(
    engine.opened.then((storage) =>
      checkServed(storage, async () => {
        await checkStore(storage, name)
        if (dataDir !== undefined && !acceptLoss) await requireServed(storage, dataDir, name)
        await check(storage, name)
      }),
    ),
  )
}

/** For the operator. */
const etcdName = ({ endpoints, prefix }: Pick<EtcdChoice, 'endpoints' | 'prefix'>): string =>
  `etcd at ${endpoints.join(',')}${prefix}`

/**
 * From now on an etcd that holds nothing is not taken for a new one, and one that has gone back is recognised; that is
 * kept up to date until the end. @throws PrivateFileError
 */
export async function rememberStore(
  { storage, dataDir, clock, log }: StoragePlace,
  revision: () => Revision,
): Promise<AsyncDisposable | undefined> {
  if (storage.engine !== 'etcd' || dataDir === undefined) return undefined
  const name = etcdName(storage)
  await rememberServed(dataDir, name, revision())
  return new ServedNotes({ dataDir, name, revision, clock, log })
}

type CheckLevel = (storage: Storage, name: string) => Promise<void>

async function checkServed(storage: Storage, check: () => Promise<void>): Promise<Storage> {
  try {
    await check()
    return storage
  } catch (error) {
    await storage[Symbol.asyncDispose]()
    throw error
  }
}

/** Closes what is being opened, if it opens. */
export const closeOpened = (storing: Promise<Storage>): Promise<void> =>
  storing.then(
    (storage) => storage[Symbol.asyncDispose](),
    () => undefined,
  )
