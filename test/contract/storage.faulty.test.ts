import { systemClock } from '../../src/base/clock.ts'
import { FaultyStorage } from '../../src/storage/faulty.ts'
import { MemoryStorage } from '../../src/storage/memory/memory-storage.ts'
import { describeStorageContract } from './storage.ts'

describeStorageContract('memory, acknowledged late', async (options) => ({
  storage: new FaultyStorage({
    storage: new MemoryStorage(options),
    clock: systemClock,
    seed: 1,
    rates: { delayCommit: 0.3 },
    maxDelayMs: 2,
  }),
}))
