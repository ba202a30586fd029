import { afterAll } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { FaultyStorage } from '../../src/storage/faulty.ts'
import { MemoryStorage } from '../../src/storage/memory/memory-storage.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { SqliteStores } from './sqlite-stores.ts'
import { describeStartContract } from './starts.ts'
import { describeStorageContract } from './storage.ts'

const stores = new SqliteStores()
afterAll(() => stores[Symbol.asyncDispose]())

const late = (storage: Storage): Storage =>
  new FaultyStorage({ storage, clock: systemClock, seed: 1, rates: { delayCommit: 0.3 }, maxDelayMs: 2 })

describeStorageContract('memory, acknowledged late', async (options) => ({
  storage: late(new MemoryStorage(options)),
}))
describeStartContract('sqlite, acknowledged late', (options) => stores.open(options, late))
