import { MemoryStorage } from '../../src/storage/memory/memory-storage.ts'
import { describeStorageModel } from './storage.ts'

describeStorageModel('memory', async () => ({ storage: new MemoryStorage() }), { runs: 300 })
