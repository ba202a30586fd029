import { afterAll } from 'vitest'
import { MemoryStorage } from '../../src/storage/memory/memory-storage.ts'
import { relayed } from './relayed.ts'
import { SqliteStores } from './sqlite-stores.ts'
import { describeStartContract } from './starts.ts'
import { describeStorageContract } from './storage.ts'

const stores = new SqliteStores()
afterAll(() => stores[Symbol.asyncDispose]())

describeStorageContract('relay', async (options) => ({ storage: relayed(new MemoryStorage(options)) }))
describeStartContract('relay to sqlite', (options) => stores.open(options, relayed))
