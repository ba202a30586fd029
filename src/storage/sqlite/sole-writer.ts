/**
 * That no other program writes into a store, asked within each transaction, since the lock that should keep others
 * away can be removed: another program that writes would make every memory of this one wrong.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type Revision, StorageError } from '../storage.ts'
import { columns } from './rows.ts'
import type { Fault } from './sqlite-faults.ts'

export class SoleWriter {
  readonly #path: string
  readonly #newest: StatementSync
  readonly #head: StatementSync

  constructor(database: DatabaseSync, path: string) {
    this.#path = path
    const statement = (sql: string): StatementSync => {
      const prepared = database.prepare(sql)
      prepared.setReturnArrays(true)
      return prepared
    }
    this.#newest = statement('SELECT revision FROM log ORDER BY revision DESC LIMIT 1')
    // Another server's commits may be swept from the log again: this one never goes back.
    this.#head = statement('SELECT head FROM meta')
  }

  /** Within a transaction. @throws StorageError code=unavailable */
  check(head: Revision): void {
    if (first(this.#newest) > head || first(this.#head) !== head) {
      throw new StorageError('unavailable', `another program has written into ${this.#path}`)
    }
  }
}

export const takenOver = (path: string): Fault => ({
  code: 'unavailable',
  message: `owner.lock beside ${path} was removed while the store was open, and another process has opened the store`,
})

function first(statement: StatementSync): number {
  const row = statement.get()
  return row === undefined ? 0 : Number(columns(row)[0])
}
