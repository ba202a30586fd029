/** Stores of SQLite in folders of their own, opened bare or behind something, and opened again. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SqliteStorage, type SqliteStorageOptions } from '../../src/storage/sqlite/sqlite-storage.ts'
import type { Storage } from '../../src/storage/storage.ts'
import type { Opened, OpenOptions } from './storage.ts'

export class SqliteStores implements AsyncDisposable {
  readonly #folder: Promise<string> = mkdtemp(join(tmpdir(), 'borough-contract-'))
  #count = 0

  /** `behind`: what stands between the caller and the store; it closes the store. */
  async open(options: OpenOptions, behind: (store: Storage) => Storage | Promise<Storage> = (s) => s): Promise<Opened> {
    const place: SqliteStorageOptions = { ...options, directory: join(await this.#folder, `store-${++this.#count}`) }
    const storage = await behind(await SqliteStorage.open(place))
    const reopen = async (): Promise<Storage> => {
      await storage[Symbol.asyncDispose]()
      return await behind(await SqliteStorage.open(place))
    }
    return { storage, reopen }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(await this.#folder, { recursive: true })
  }
}
