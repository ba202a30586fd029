/**
 * Reads the present of a store from its file, beside the process that owns it, at one revision: SQLite gives a reader
 * the file as it was when the reading began. What is read was flushed before. Writers do not wait; their write-ahead
 * log grows until the reading ends.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Entry, endOfCommit, type Revision, StorageError } from '../storage.ts'
import { applicationId, formatVersion, readFacts } from './log-file.ts'
import { errorOf, faultOf } from './sqlite-faults.ts'

export interface FileSnapshot extends Disposable {
  readonly revision: Revision
  /** Ascending by key. @throws StorageError code=corrupt */
  entries(): Generator<Entry>
}

/** @throws StorageError code=unavailable when there is no store, corrupt when it is not one of ours */
export function openSnapshot(directory: string): FileSnapshot {
  const path = join(directory, 'state.db')
  if (!existsSync(path)) throw new StorageError('unavailable', `there is no store in ${directory}`)
  const database = open(path, true)
  try {
    database.exec('BEGIN')
    const { head } = readFacts(database)
    return { revision: head, entries: () => entriesOf(database, path), [Symbol.dispose]: () => database.close() }
  } catch (error) {
    database.close()
    throw errorOf(faultOf(error, path))
  }
}

/**
 * Makes a store that nobody has opened begin after `revision`, without a past: so that no resourceVersion is given out
 * twice, and watches of the store that it was copied from begin anew instead of missing something.
 */
export function beginAfter(directory: string, revision: Revision): void {
  const path = join(directory, 'state.db')
  const database = open(path, false)
  try {
    const head = Math.max(readFacts(database).head, endOfCommit(revision))
    database.exec('BEGIN IMMEDIATE')
    const set = database.prepare('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)')
    for (const name of ['head', 'compacted', 'swept']) set.run(name, head)
    database.exec('COMMIT')
  } catch (error) {
    throw errorOf(faultOf(error, path))
  } finally {
    database.close()
  }
}

function open(path: string, readOnly: boolean): DatabaseSync {
  try {
    const database = new DatabaseSync(path, { readOnly, timeout: 5000 })
    const pragma = (name: string): unknown => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]
    if (pragma('application_id') !== applicationId || pragma('user_version') !== formatVersion) {
      database.close()
      throw new StorageError('corrupt', `${path} is not a store of Borough, or of another version`)
    }
    return database
  } catch (error) {
    throw errorOf(faultOf(error, path))
  }
}

function* entriesOf(database: DatabaseSync, path: string): Generator<Entry> {
  const rows = database.prepare(
    'SELECT p.key, p.revision, l.value FROM present p LEFT JOIN log l ON l.revision = p.revision ORDER BY p.key',
  )
  for (const { key, revision, value } of rows.iterate()) {
    if (typeof key !== 'string' || typeof revision !== 'number' || !(value instanceof Uint8Array)) {
      throw new StorageError('corrupt', `${path} is damaged (the value of ${String(key)} is missing)`)
    }
    yield { key, revision, value }
  }
}
