/**
 * The form of the file, its versions, and the one row that describes the whole: `meta`.
 *
 *   log(revision, key, previous, value, header)   one row per write; value NULL = deleted, previous NULL = created
 *   present(key, revision)                        what exists now: its value is the log's row of that revision
 *   meta(head, compacted, swept, …, store)        see `Meta` and `store-identity.ts`; written with every commit
 *
 * Format 1 had no header and no meta, but `facts`. It is read as it is and becomes format 2 in place, in one
 * transaction, when the store is opened to be written; rows from before stay without a header (`sealedAfter`).
 */
import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { endOfCommit, type Revision, StorageError } from '../storage.ts'
import { flushAnew } from './flush-anew.ts'
import { addPair, emptyDigest } from './live-digest.ts'
import { newStoreId } from './store-identity.ts'

/** 'Boro' in ASCII. Tells our files from other SQLite files. */
export const applicationId = 0x426f726f
export const formatVersion = 2
/** Without headers and `meta`. */
export const firstFormat = 1
/** Pages of the write-ahead log after which it is copied into the file: 16 MiB. */
export const checkpointPages = 4096

/** What is known of the store as a whole. */
export interface Meta {
  /** The revision of the store. */
  readonly head: Revision
  /** History before it is gone. */
  readonly compacted: Revision
  /** Rows that only such history needs are removed up to here. */
  readonly swept: Revision
  /** Rows up to here may lie without a header: they are from before there were any. */
  readonly sealedAfter: Revision
  /** Of the newest commit, in ms since 1970; 0: not known. */
  readonly timeMs: number
  /** Rows of `present`. */
  readonly live: number
  /** See `live-digest.ts`. */
  readonly digest: number
}

const columns = ['head', 'compacted', 'swept', 'sealed_after', 'time', 'live', 'digest'] as const

const createMeta = `CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), ${columns
  .map((name) => `${name} INTEGER NOT NULL`)
  .join(', ')}, checksum INTEGER NOT NULL, store TEXT)`

/** For a connection that will write: makes the file, or brings it to this format. @throws StorageError */
export function prepareFile(database: DatabaseSync, path: string, maxFileBytes: number): void {
  // Before anything is added to it, and before it is copied into the file.
  flushAnew(`${path}-wal`)
  const version = checkFormat(database, path)
  const mode = pragma(database, 'journal_mode = WAL')
  if (mode !== 'wal')
    throw new StorageError('unavailable', `${path} can not keep a write-ahead log (journal mode ${mode})`)
  database.exec('PRAGMA synchronous = FULL')
  boundLog(database, checkpointPages)
  database.exec('PRAGMA cache_size = -65536')
  if (maxFileBytes > 0) {
    const pages = Math.max(1, Math.floor(maxFileBytes / Number(pragma(database, 'page_size'))))
    pragma(database, `max_page_count = ${pages}`)
  }
  database.exec('BEGIN IMMEDIATE')
  if (version === undefined) createTables(database)
  else if (version === firstFormat) upgrade(database)
  database.exec('COMMIT')
}

/**
 * `pages`: after which the log is copied into the file, 0 = it is not. When it begins anew, what is beyond twice
 * `keptPages` is given back to the disk.
 */
export function boundLog(database: DatabaseSync, pages: number, keptPages: number = pages): void {
  database.exec(`PRAGMA wal_autocheckpoint = ${pages}`)
  database.exec(`PRAGMA journal_size_limit = ${keptPages * 4096 * 2}`)
}

/** The format of a file of ours; undefined: there is nothing in it yet. @throws StorageError */
export function checkFormat(database: DatabaseSync, path: string): number | undefined {
  const version = pragma(database, 'user_version')
  const id = pragma(database, 'application_id')
  const isNew =
    version === 0 && id === 0 && database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n'] === 0
  if (isNew) return undefined
  if (id !== applicationId) throw new StorageError('corrupt', `${path} is not a store of Borough`)
  if (version !== firstFormat && version !== formatVersion) {
    throw new StorageError(
      'unavailable',
      `${path} has format ${version}, this version reads formats ${firstFormat} to ${formatVersion}`,
    )
  }
  return version
}

function createTables(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE log (revision INTEGER PRIMARY KEY, key TEXT NOT NULL, previous INTEGER, value BLOB, header BLOB);
    CREATE TABLE present (key TEXT PRIMARY KEY, revision INTEGER NOT NULL) WITHOUT ROWID;
    ${createMeta};
    PRAGMA application_id = ${applicationId};
    PRAGMA user_version = ${formatVersion};
  `)
  // Not 0 in a new store: clients of Kubernetes read a resourceVersion of "0" as 'any'.
  const head = endOfCommit(0)
  const empty = { head, compacted: head, swept: head, sealedAfter: head, timeMs: 0, live: 0, digest: emptyDigest }
  writeMeta(database, empty)
  database.prepare('UPDATE meta SET store = ?').run(newStoreId())
}

function upgrade(database: DatabaseSync): void {
  const meta = metaOfFirstFormat(database)
  database.exec(`
    ALTER TABLE log ADD COLUMN header BLOB;
    DROP TABLE facts;
    ${createMeta};
    PRAGMA user_version = ${formatVersion};
  `)
  writeMeta(database, meta)
}

/** Of a file of any format. @throws StorageError code=corrupt */
export function readMeta(database: DatabaseSync, path: string): Meta {
  if (pragma(database, 'user_version') === firstFormat) return metaOfFirstFormat(database)
  const row = database.prepare('SELECT * FROM meta').get()
  const values = columns.map((name) => row?.[name])
  if (!values.every((value) => typeof value === 'number') || row?.['checksum'] !== checksumOf(values)) {
    throw new StorageError('corrupt', `${path} is damaged (its table meta is not what was written)`)
  }
  const [head, compacted, swept, sealedAfter, timeMs, live, digest] = values as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  return { head, compacted, swept, sealedAfter, timeMs, live, digest }
}

export function writeMeta(database: DatabaseSync, meta: Meta): void {
  const values = valuesOf(meta)
  const places = values.map(() => '?').join(', ')
  const set = [...columns, 'checksum'].map((name) => `${name} = excluded.${name}`).join(', ')
  database
    .prepare(
      `INSERT INTO meta (id, ${columns.join(', ')}, checksum) VALUES (1, ${places}, ?)
       ON CONFLICT (id) DO UPDATE SET ${set}`,
    )
    .run(...values, checksumOf(values))
}

/** For every commit: the statement, and what it is run with. */
export const updateMeta: string = `UPDATE meta SET ${[...columns, 'checksum'].map((name) => `${name} = ?`).join(', ')}`

export function metaValues(meta: Meta): number[] {
  const values = valuesOf(meta)
  return [...values, checksumOf(values)]
}

function valuesOf({ head, compacted, swept, sealedAfter, timeMs, live, digest }: Meta): number[] {
  return [head, compacted, swept, sealedAfter, timeMs, live, digest]
}

const checksumOf = (values: readonly number[]): number => crc32(values.join(' '))

function metaOfFirstFormat(database: DatabaseSync): Meta {
  const start = endOfCommit(0)
  const facts = new Map(
    database
      .prepare('SELECT name, value FROM facts')
      .all()
      .map((row) => [row['name'], Number(row['value'])]),
  )
  const newest = Number(database.prepare('SELECT max(revision) AS newest FROM log').get()?.['newest'] ?? 0)
  const head = Math.max(endOfCommit(newest), facts.get('head') ?? start)
  let live = 0
  let digest = emptyDigest
  for (const { key, revision } of database.prepare('SELECT key, revision FROM present').iterate()) {
    live++
    digest = addPair(digest, String(key), Number(revision))
  }
  const compacted = facts.get('compacted') ?? start
  return { head, compacted, swept: facts.get('swept') ?? start, sealedAfter: head, timeMs: 0, live, digest }
}

export function pragma(database: DatabaseSync, text: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${text}`).get() ?? {})[0]
}
