/**
 * Makes the index of what exists anew from the log, and what `meta` says of it. Only for a store that no process has
 * open, and whose log is sound and whole: a row that can't be believed, or that is missing, would decide what exists.
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { endOfCommit, isStorageError, type Revision, StorageError } from '../storage.ts'
import { forgetBackups } from './backup-mark.ts'
import { checkFormat, formatVersion, type Meta, readMeta, writeMeta } from './file-format.ts'
import { flushAnew } from './flush-anew.ts'
import { addPair, emptyDigest } from './live-digest.ts'
import { findEnd, requirePlace } from './loss.ts'
import { OwnerLock } from './owner-lock.ts'
import { checkRow } from './rows.ts'
import { errorOf, faultOf } from './sqlite-faults.ts'
import { findMade } from './store-made.ts'

export interface RebuiltIndex {
  readonly entries: number
  readonly revision: Revision
}

/**
 * `acceptLoss`: of what is left, where the log is not whole.
 * @throws StorageError code=corrupt where the log is damaged too, or not whole; locked where the store is open
 */
export function rebuildIndex(directory: string, acceptLoss: boolean, madePath?: string): RebuiltIndex {
  requirePlace({ directory, acceptLoss: false, ...(madePath === undefined ? {} : { madePath }) })
  using owner = new OwnerLock(directory)
  const path = join(directory, 'state.db')
  owner.checkNotLost(path)
  // Before the file is opened to be written: then SQLite drops what follows a damaged frame of its log.
  const end = findEnd(directory, { expectMark: owner.hasMark, made: findMade(madePath), headIn: endOfLog })
  if (end.loss !== undefined && !acceptLoss) throw notWhole(end.loss)
  flushAnew(`${path}-wal`)
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    if (checkFormat(database, path) !== formatVersion) {
      throw new StorageError('invalid', `${path} is of another format: start a server on it first`)
    }
    // How far the log was swept is not known afterwards, nor whether it lacks what a backup holds.
    forgetBackups(directory)
    database.exec('BEGIN IMMEDIATE')
    const meta = metaOfLog(database, end.acknowledged)
    const present = presentOf(database, meta.sealedAfter)
    const written = writtenMeta(database, path)
    database.exec('DELETE FROM present')
    const insert = database.prepare('INSERT INTO present (key, revision) VALUES (?, ?)')
    let digest = emptyDigest
    for (const [key, revision] of present) {
      insert.run(key, revision)
      digest = addPair(digest, key, revision)
    }
    if (written !== undefined && digest !== written.digest && !acceptLoss) {
      throw notWhole(`the log of ${path} has ${present.size} keys that are not the ${written.live} that were written`)
    }
    writeMeta(database, { ...meta, live: present.size, digest })
    database.exec('COMMIT')
    return { entries: present.size, revision: meta.head }
  } catch (error) {
    throw errorOf(faultOf(error, path))
  } finally {
    database.close()
  }
}

const notWhole = (what: string): StorageError =>
  new StorageError('corrupt', `${what}. Restore a backup, or make an index of what is left with --accept-loss`)

/** As `meta` says, or as the log does where that is damaged too. */
function endOfLog(database: DatabaseSync, path: string): Revision {
  return writtenMeta(database, path)?.head ?? endOfCommit(newestIn(database))
}

/** undefined: it is damaged. */
function writtenMeta(database: DatabaseSync, path: string): Meta | undefined {
  try {
    return readMeta(database, path)
  } catch (error) {
    if (isStorageError(error, 'corrupt')) return undefined
    throw error
  }
}

const newestIn = (database: DatabaseSync): Revision =>
  Number(database.prepare('SELECT max(revision) AS newest FROM log').get()?.['newest'] ?? 0)

/** Every row must be sound: one that is not may be the one that removed a key. */
function presentOf(database: DatabaseSync, sealedAfter: Revision): Map<string, Revision> {
  const rows = database.prepare('SELECT revision, key, value, header FROM log ORDER BY revision')
  const present = new Map<string, Revision>()
  for (const row of rows.iterate()) {
    const { key, value, header } = row
    if (typeof key !== 'string') throw new StorageError('corrupt', 'a key of the log is unreadable')
    const revision = Number(row['revision'])
    checkRow({ key, revision, logKey: key, value: value === null ? undefined : value, header }, sealedAfter)
    if (value === null) present.delete(key)
    else present.set(key, revision)
  }
  return present
}

/** As far as the log tells; the past is given up. */
function metaOfLog(database: DatabaseSync, acknowledged: Revision): Meta {
  const newest = newestIn(database)
  const oldestSealed = Number(
    database.prepare('SELECT min(revision) AS oldest FROM log WHERE header IS NOT NULL').get()?.['oldest'] ??
      newest + 1,
  )
  const head = Math.max(endOfCommit(newest), endOfCommit(acknowledged))
  // Only rows of before there were headers lack one, and those lie in front.
  const sealedAfter = oldestSealed - 1
  return { head, compacted: head, swept: endOfCommit(0), sealedAfter, timeMs: 0, live: 0, digest: emptyDigest }
}
