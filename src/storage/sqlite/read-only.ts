/** A connection that reads a store's file, beside the process that owns it, or where none does. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { isWritable } from './sqlite-faults.ts'

/**
 * `leaveNothing`: where no process has the store open, SQLite makes none of its files beside it either. It never does
 * where it can't.
 *
 * @throws Error of SQLite, here or with the first statement
 */
export function openReadOnly(path: string, leaveNothing = false): DatabaseSync {
  // Whatever has the store open keeps a write-ahead log. Where none can be made, none was begun.
  const isAlone = (leaveNothing || !isWritable(dirname(path))) && !existsSync(`${path}-wal`)
  const place = isAlone ? new URL(`${pathToFileURL(path).href}?immutable=1`) : path
  return new DatabaseSync(place, { readOnly: true, timeout: 5000 })
}
