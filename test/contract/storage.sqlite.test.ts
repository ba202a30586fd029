import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { describeStorageContract } from './storage.ts'

const directories: string[] = []
afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true })
})

describeStorageContract('sqlite', async (options) => {
  const directory = await mkdtemp(join(tmpdir(), 'borough-contract-'))
  directories.push(directory)
  const storage = await SqliteStorage.open({ directory, ...options })
  const reopen = async () => {
    await storage[Symbol.asyncDispose]()
    return SqliteStorage.open({ directory, ...options })
  }
  return { storage, reopen }
})
