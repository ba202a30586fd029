import { afterAll } from 'vitest'
import { SqliteStores } from './sqlite-stores.ts'
import { describeStartContract } from './starts.ts'
import { describeStorageContract } from './storage.ts'

const stores = new SqliteStores()
afterAll(() => stores[Symbol.asyncDispose]())

describeStorageContract('sqlite', (options) => stores.open(options))
describeStartContract('sqlite', (options) => stores.open(options))
