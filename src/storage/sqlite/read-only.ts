/** A connection that reads a store's file, beside the process that owns it, or where none does. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { faultOf, isWritable } from './sqlite-faults.ts'
import { isEmpty } from './store-made.ts'

/**
 * `leaveNothing`: where no process has the store open, SQLite makes none of its files beside it either. It never does
 * where it can't, nor where there is no room for them and nothing is in the log.
 *
 * @throws Error of SQLite, here or with the first statement
 */
export function openReadOnly(path: string, leaveNothing = false): DatabaseSync {
  // Whatever has the store open keeps a write-ahead log. Where none can be made, none was begun.
  const isBegun = existsSync(`${path}-wal`)
  if (!isBegun && (leaveNothing || !isWritable(dirname(path)))) return openAlone(path)
  const database = openAt(path)
  if (!isEmpty(`${path}-wal`)) return database
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get()
    return database
  } catch (error) {
    database.close()
    const { code } = faultOf(error, path)
    if (code !== 'full' && code !== 'unavailable') throw error
    return openAlone(path)
  }
}

const openAlone = (path: string): DatabaseSync => openAt(new URL(`${pathToFileURL(path).href}?immutable=1`))

const openAt = (place: string | URL): DatabaseSync => new DatabaseSync(place, { readOnly: true, timeout: 5000 })
