import { MemoryStorage } from '../../src/storage/memory/memory-storage.ts'
import { describeStorageContract } from './storage.ts'

describeStorageContract('memory', async (options) => ({ storage: new MemoryStorage(options) }))
