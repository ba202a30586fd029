import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { MemoryStorage } from '../../src/storage/memory/memory-storage.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { relayed } from '../contract/relayed.ts'
import { SqliteStores } from '../contract/sqlite-stores.ts'
import { describeStartContract } from '../contract/starts.ts'
import { describeStorageContract, type Opened, type OpenOptions } from '../contract/storage.ts'
import { aesgcm, kms } from './configurations.ts'
import { encryptedIn } from './encrypted-in.ts'
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

const encrypted = (storage: Storage, provider: object): Promise<Storage> =>
  encryptedIn(folder, storage, provider, seeds)

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
// As workers of one server have it: the process that holds the store decrypts.
describeStartContract('relay to sqlite, encrypted', (options) =>
  stores.open(options, async (storage) => relayed(await encrypted(storage, aesgcm(1)))),
)
