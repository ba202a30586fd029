import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { EncryptedStorage } from '../../src/encryption/encrypted-storage.ts'
import { Encryption } from '../../src/encryption/encryption.ts'
import { MemoryStorage } from '../../src/storage/memory/memory-storage.ts'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { describeStorageContract } from '../contract/storage.ts'
import { aesgcm, kms, writeConfiguration } from './configurations.ts'
import { KmsPlugin } from './kms-plugin.ts'

let folder: string
let plugin: KmsPlugin
/** Elsewhere: the contract begins with an empty store. */
const seeds = new MemoryStorage({})
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borough-encrypted-contract-'))
  plugin = await KmsPlugin.start(folder)
})
afterAll(async () => {
  await plugin[Symbol.asyncDispose]()
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

let stores = 0
describeStorageContract(
  'sqlite, encrypted',
  async (options) => {
    const open = async (): Promise<Storage> =>
      encrypted(await SqliteStorage.open({ directory, ...options }), kms(plugin.endpoint))
    const directory = join(folder, `store-${++stores}`)
    const storage = await open()
    const reopen = async (): Promise<Storage> => {
      await storage[Symbol.asyncDispose]()
      return await open()
    }
    return { storage, reopen }
  },
  { propertyRuns: 10 },
)
