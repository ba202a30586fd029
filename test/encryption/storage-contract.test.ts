import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { EncryptedStorage } from '../../src/encryption/encrypted-storage.ts'
import { Encryption } from '../../src/encryption/encryption.ts'
import { MemoryStorage } from '../../src/storage/memory/memory-storage.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { SqliteStores } from '../contract/sqlite-stores.ts'
import { describeStartContract } from '../contract/starts.ts'
import { describeStorageContract, type Opened, type OpenOptions } from '../contract/storage.ts'
import { aesgcm, kms, writeConfiguration } from './configurations.ts'
import { KmsPlugin } from './kms-plugin.ts'

let folder: string
let plugin: KmsPlugin
const stores = new SqliteStores()
/** Elsewhere: the contract begins with an empty store. */
const seeds = new MemoryStorage({})
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-encrypted-contract-'))
  plugin = await KmsPlugin.start(folder)
})
afterAll(async () => {
  await plugin[Symbol.asyncDispose]()
  await stores[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

async function encrypted(storage: Storage, provider: object): Promise<Storage> {
  // The contract's keys are no objects, so they go as the server's own: as secrets.
  const path = await writeConfiguration(folder, { resources: ['secrets'], providers: [provider] })
  const choice = { path, automaticReload: false }
  return new EncryptedStorage(
    storage,
    await Encryption.open({ choice, storage: seeds, clock: systemClock, log: silentLog }),
  )
}

describeStorageContract('memory, encrypted', async (options) => ({
  storage: await encrypted(new MemoryStorage(options), aesgcm(1)),
}))

const onSqlite = (options: OpenOptions, provider: () => object): Promise<Opened> =>
  stores.open(options, (storage) => encrypted(storage, provider()))

describeStorageContract('sqlite, encrypted', (options) => onSqlite(options, () => kms(plugin.endpoint)), {
  propertyRuns: 10,
})
describeStartContract('sqlite, encrypted with a key', (options) => onSqlite(options, () => aesgcm(1)))
describeStartContract('sqlite, encrypted by a plugin', (options) => onSqlite(options, () => kms(plugin.endpoint)))
