/**
 * Reads the present of a store from its file, beside the process that owns it, at one revision: SQLite gives a reader
 * the file as it was when the reading began. What is read was flushed before. Writers do not wait; their write-ahead
 * log grows until the reading ends.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Entry, endOfCommit, type Revision, StorageError } from '../storage.ts'
import { checkFormat, firstFormat, type Meta, pragma, readMeta, writeMeta } from './file-format.ts'
import { addPair, emptyDigest } from './live-digest.ts'
import { requireEnd } from './loss.ts'
import { openReadOnly } from './read-only.ts'
import { openRow } from './rows.ts'
import { errorOf, faultOf } from './sqlite-faults.ts'
import { storeIdIn } from './store-identity.ts'

export interface FileSnapshot extends Disposable {
  readonly revision: Revision
  /** How many entries there are. */
  readonly size: number
  /** undefined: of a version before identities. */
  readonly storeId: string | undefined
  /** Ascending by key. @throws StorageError code=corrupt */
  entries(): Generator<Entry>
}

/**
 * A reader of the file, at one revision. `leaveNothing`: where no process has the store open, SQLite makes none of its
 * files beside it either; a store that is opened to be written meanwhile may then look damaged.
 * @throws StorageError code=unavailable when there is no store
 */
export function openForReading(
  directory: string,
  { leaveNothing = false }: { readonly leaveNothing?: boolean } = {},
): Disposable & {
  readonly database: DatabaseSync
  readonly path: string
} {
  const path = join(directory, 'state.db')
  if (!existsSync(path)) throw new StorageError('unavailable', `there is no store in ${directory}`)
  const database = open(path, () => openReadOnly(path, leaveNothing))
  try {
    database.exec('BEGIN')
    return { database, path, [Symbol.dispose]: () => database.close() }
  } catch (error) {
    database.close()
    throw errorOf(faultOf(error, path))
  }
}

/**
 * @throws StorageError code=unavailable when there is no store, corrupt when it is not one of ours, or ends before what
 * was acknowledged
 */
export function openSnapshot(directory: string, madePath?: string): FileSnapshot {
  requireEnd(directory, madePath)
  return snapshotIn(openForReading(directory))
}

/** As it is, for what looks for what is wrong with it: also where its end is missing. @throws StorageError */
export const openToExamine = (directory: string): FileSnapshot =>
  snapshotIn(openForReading(directory, { leaveNothing: true }))

function snapshotIn({ database, path, [Symbol.dispose]: dispose }: ReturnType<typeof openForReading>): FileSnapshot {
  try {
    const meta = readMeta(database, path)
    return {
      revision: meta.head,
      size: meta.live,
      storeId: storeIdIn(database),
      entries: () => entriesOf(database, path, meta),
      [Symbol.dispose]: dispose,
    }
  } catch (error) {
    dispose()
    throw errorOf(faultOf(error, path))
  }
}

/**
 * Makes a store that no server has opened go on after `revision`, and after its own, without a past: so that no
 * resourceVersion is given out twice, and watches of the store that it was copied from begin anew.
 */
export function beginAfter(directory: string, revision: Revision): void {
  const path = join(directory, 'state.db')
  const database = open(path, () => new DatabaseSync(path, { timeout: 5000 }))
  try {
    const meta = readMeta(database, path)
    const head = Math.max(meta.head, endOfCommit(revision))
    database.exec('BEGIN IMMEDIATE')
    writeMeta(database, { ...meta, head, compacted: head, swept: head })
    database.exec('COMMIT')
  } catch (error) {
    throw errorOf(faultOf(error, path))
  } finally {
    database.close()
  }
}

function open(path: string, connect: () => DatabaseSync): DatabaseSync {
  try {
    const database = connect()
    try {
      if (checkFormat(database, path) === undefined) throw new StorageError('corrupt', `${path} is empty`)
      return database
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    throw errorOf(faultOf(error, path))
  }
}

function* entriesOf(database: DatabaseSync, path: string, { live, digest, sealedAfter }: Meta): Generator<Entry> {
  // Before format 2 there was no header.
  const header = pragma(database, 'user_version') === firstFormat ? 'NULL' : 'l.header'
  const rows = database.prepare(
    `SELECT p.key, p.revision, l.key AS logKey, l.value, ${header} AS header
     FROM present p LEFT JOIN log l ON l.revision = p.revision ORDER BY p.key`,
  )
  let found = 0
  let foundDigest = emptyDigest
  for (const { key, revision, logKey, value, header } of rows.iterate()) {
    if (typeof key !== 'string' || typeof revision !== 'number') {
      throw new StorageError('corrupt', `${path} is damaged (a key or revision is unreadable)`)
    }
    found++
    foundDigest = addPair(foundDigest, key, revision)
    yield { key, revision, value: openRow({ key, revision, logKey, value, header }, sealedAfter) }
  }
  if (found !== live || foundDigest !== digest) {
    throw new StorageError('corrupt', `${path} is damaged (the index of what exists is not what was written)`)
  }
}
