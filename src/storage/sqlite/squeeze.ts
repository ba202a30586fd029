/**
 * Makes the file no larger than what it holds, and leaves nothing in it of what was removed: pages that were freed, and
 * frames of the log that were copied into the file, keep their bytes until they are used again. Only for a store that
 * no process has open. It needs as much room again as the store takes.
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StorageError } from '../storage.ts'
import { OwnerLock } from './owner-lock.ts'
import { errorOf, faultOf } from './sqlite-faults.ts'

/** @throws StorageError code=locked where the store is open or read, full where there is no room */
export function squeeze(directory: string): void {
  using owner = new OwnerLock(directory)
  const path = join(directory, 'state.db')
  owner.checkNotLost(path)
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    database.exec('VACUUM')
    // No error to SQLite: for a reader the file, and the log, stay as they were.
    if (database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] !== 0) throw stillRead(path)
  } catch (error) {
    const fault = faultOf(error, path)
    throw fault.code === 'full' ? noRoom(path) : errorOf(fault)
  } finally {
    database.close()
  }
}

function noRoom(path: string): StorageError {
  const where = 'beside it, and in the directory for temporary files (SQLITE_TMPDIR, TMPDIR, /var/tmp)'
  const left = 'what was there before is still in it. Do this again when there is'
  return new StorageError('full', `there is no room to write ${path} anew: as much as it takes, ${where}: ${left}`)
}

function stillRead(path: string): StorageError {
  const left = `${path} is read by another process (a backup, or storage verify)`
  return new StorageError('locked', `${left}: what was there before is still in it. Do this again when that has ended`)
}
