import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { describeStorageModel } from './storage.ts'

const directories: string[] = []
afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true })
})

describeStorageModel(
  'sqlite',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'borough-model-'))
    directories.push(directory)
    let storage = await SqliteStorage.open({ directory })
    const reopen = async () => {
      await storage[Symbol.asyncDispose]()
      storage = await SqliteStorage.open({ directory })
      return storage
    }
    return { storage, reopen }
  },
  { runs: 15 },
)
