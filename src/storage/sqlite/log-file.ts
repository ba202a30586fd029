/**
 * The file: a log of every change and a table of what exists, kept by SQLite. Runs in the writer's thread only.
 *
 *   log(revision, key, previous, value)   one row per write; value NULL = deleted, previous NULL = created
 *   present(key, revision)                what exists now: its value is the log's row of that revision
 *   facts(name, value)                    head, compacted, swept
 *
 * Guards are checked against the file inside the transaction that writes, so nothing depends on what a process
 * believes to know. Everything that waits is committed together: one flush for all (group commit).
 *
 * After a fault whose outcome is unknown (a flush that failed), nothing is written any more: what the operating system
 * then still holds of the file can not be trusted. See docs/storage-format.md for the layout.
 */
import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { endOfCommit, positionsPerCommit, type Revision, StorageError } from '../storage.ts'
import type { WriterOptions } from './messages.ts'
import { expectAbsent, expectNever } from './messages.ts'
import { errorOf, type Fault, faultOf } from './sqlite-faults.ts'

/** 'Boro' in ASCII. Tells our files from other SQLite files. */
export const applicationId = 0x426f726f
export const formatVersion = 1
/** Pages of the write-ahead log after which it is copied into the file: 16 MiB. */
const checkpointPages = 4096
/** Rows of the log that one step of a compaction looks at. */
const sweepStep = 1000
/** Changes per answer to a question for history. */
const historyStep = 2000

/** A transaction as the writer sees it. Keys and expectations: guards first, then writes. */
export interface LogTransaction {
  readonly ticket: number
  readonly guards: number
  readonly keys: readonly string[]
  /** See `messages.ts`: a revision, `expectAbsent`, `expectNever`, or a ticket as -1 - id. */
  readonly expects: readonly number[]
  /** Per write; undefined deletes. */
  readonly values: readonly (Uint8Array | undefined)[]
}

/** The first revision; or the places (in `keys`) of lost expectations; or a fault. */
export type LogOutcome = Revision | readonly number[] | Fault

export interface LogEntry {
  readonly key: string
  readonly revision: Revision
  readonly value: Uint8Array
}

export interface LogChange {
  readonly key: string
  readonly revision: Revision
  readonly previous: Revision | undefined
  readonly previousValue: Uint8Array | undefined
  readonly deleted: boolean
}

export class LogFile {
  readonly path: string
  readonly #database: DatabaseSync
  readonly #owner: DatabaseSync
  readonly #find: StatementSync
  readonly #newest: StatementSync
  readonly #append: StatementSync
  readonly #create: StatementSync
  readonly #update: StatementSync
  readonly #remove: StatementSync
  /** What transactions left behind whose outcome the main thread may not know yet: key → revision, 0 = absent. */
  readonly #left = new Map<number, ReadonlyMap<string, number> | undefined>()
  #oldestLeft = 1
  #head: Revision
  #compacted: Revision
  #swept: Revision
  #broken: Fault | undefined

  /** @throws StorageError code=locked | corrupt | unavailable | full */
  constructor(options: WriterOptions) {
    this.path = join(options.directory, 'state.db')
    this.#owner = takeOwnership(options.directory)
    let database: DatabaseSync | undefined
    try {
      createFile(this.path, this.#owner)
      database = new DatabaseSync(this.path, { timeout: options.lockTimeoutMs })
      prepareFile(database, this.path, options.maxFileBytes)
      rememberStore(this.#owner, options.directory)
      const facts = readFacts(database)
      this.#database = database
      this.#head = facts.head
      this.#compacted = facts.compacted
      this.#swept = facts.swept
      const statement = (sql: string): StatementSync => {
        const prepared = this.#database.prepare(sql)
        prepared.setReturnArrays(true)
        return prepared
      }
      this.#find = statement('SELECT revision FROM present WHERE key = ?')
      this.#newest = statement('SELECT revision FROM log ORDER BY revision DESC LIMIT 1')
      this.#append = statement('INSERT INTO log (revision, key, previous, value) VALUES (?, ?, ?, ?)')
      this.#create = statement('INSERT INTO present (key, revision) VALUES (?, ?)')
      this.#update = statement('UPDATE present SET revision = ?2 WHERE key = ?1')
      this.#remove = statement('DELETE FROM present WHERE key = ?')
    } catch (error) {
      if (database?.isOpen) database.close()
      this.#owner.close()
      throw errorOf(faultOf(error, this.path))
    }
  }

  get head(): Revision {
    return this.#head
  }

  get compacted(): Revision {
    return this.#compacted
  }

  /** Everything that exists, ascending by key. @throws StorageError code=corrupt */
  *entries(): Generator<LogEntry> {
    const rows = this.#database.prepare(
      'SELECT p.key, p.revision, l.value, l.key = p.key FROM present p LEFT JOIN log l ON l.revision = ' +
        'p.revision ORDER BY p.key',
    )
    rows.setReturnArrays(true)
    try {
      for (const row of rows.iterate()) {
        const [key, revision, value, sameKey] = columns(row)
        if (typeof key !== 'string' || typeof revision !== 'number')
          throw this.#damaged('a key or revision is unreadable')
        if (!(value instanceof Uint8Array) || sameKey !== 1) throw this.#damaged(`the value of ${key} is missing`)
        if (endOfCommit(revision) > this.#head) throw this.#damaged(`${key} is newer than the log`)
        yield { key, revision, value }
      }
    } catch (error) {
      throw errorOf(faultOf(error, this.path))
    }
  }

  /** Commits what can be committed, in order, with one flush. All of it is durable when this returns. */
  commit(group: readonly LogTransaction[], settledThrough: number): LogOutcome[] {
    this.#forgetLeft(settledThrough)
    const outcomes = this.#commitTogether(group)
    // Without room for all there may be room for some, above all for deletes: try each by itself.
    if (group.length > 1 && outcomes.every(isFullFault)) {
      return group.map((transaction) => this.#commitTogether([transaction])[0] as LogOutcome)
    }
    return outcomes
  }

  /** The newest changes up to `base`, newest first, whole commits. Nothing left: an empty list. */
  history(base: Revision): { readonly changes: readonly LogChange[]; readonly base: Revision } {
    try {
      const bound = this.#database.prepare(
        'SELECT revision FROM log WHERE revision > ? AND revision <= ? ORDER BY revision DESC LIMIT 1 OFFSET ?',
      )
      const last = bound.get(this.#compacted, base, historyStep - 1)?.['revision']
      const after = typeof last === 'number' ? endOfCommit(last) - positionsPerCommit : this.#compacted
      const rows = this.#database.prepare(
        `SELECT l.revision, l.key, l.previous, p.value, l.value IS NULL
         FROM log l LEFT JOIN log p ON p.revision = l.previous
         WHERE l.revision > ? AND l.revision <= ? ORDER BY l.revision DESC`,
      )
      rows.setReturnArrays(true)
      const changes: LogChange[] = []
      for (const row of rows.iterate(after, base)) {
        const [revision, key, previous, previousValue, deleted] = columns(row)
        if (typeof key !== 'string' || typeof revision !== 'number') throw this.#damaged('a change is unreadable')
        const hasValue = previousValue instanceof Uint8Array
        if (hasValue !== (typeof previous === 'number'))
          throw this.#damaged(`the value of ${key} before ${revision} is missing`)
        changes.push({
          key,
          revision,
          previous: typeof previous === 'number' ? previous : undefined,
          previousValue: hasValue ? previousValue : undefined,
          deleted: deleted === 1,
        })
      }
      return { changes, base: after }
    } catch (error) {
      throw errorOf(faultOf(error, this.path))
    }
  }

  /** Remembers durably that history before `before` is gone; `sweep` then frees it. */
  compact(before: Revision): void {
    if (before <= this.#compacted) return
    this.#transact(() => {
      this.#setFact('compacted', before)
      // The newest row of the log may be a deletion that is swept: the head must not go back.
      this.#setFact('head', this.#head)
    })
    this.#compacted = before
  }

  /** One step. True when nothing is left to sweep. */
  sweep(): boolean {
    if (this.#swept >= this.#compacted) return true
    const from = this.#swept
    const step = this.#database.prepare(
      `SELECT max(revision) AS last, count(*) AS rows FROM
         (SELECT revision FROM log WHERE revision > ? AND revision <= ? ORDER BY revision LIMIT ?)`,
    )
    try {
      const { last, rows } = step.get(from, this.#compacted, sweepStep) ?? {}
      const to = rows === sweepStep && typeof last === 'number' ? last : this.#compacted
      this.#transact(() => {
        this.#database
          .prepare(
            `DELETE FROM log WHERE revision IN
               (SELECT previous FROM log WHERE revision > ? AND revision <= ? AND previous IS NOT NULL)`,
          )
          .run(from, to)
        this.#database.prepare('DELETE FROM log WHERE revision > ? AND revision <= ? AND value IS NULL').run(from, to)
        this.#setFact('swept', to)
      })
      this.#swept = to
      return to >= this.#compacted
    } catch (error) {
      throw errorOf(faultOf(error, this.path))
    }
  }

  close(): void {
    try {
      this.#database.close()
    } catch (error) {
      throw errorOf(faultOf(error, this.path))
    } finally {
      this.#owner.close()
    }
  }

  #commitTogether(group: readonly LogTransaction[]): LogOutcome[] {
    const headBefore = this.#head
    const outcomes: LogOutcome[] = []
    try {
      this.#transact(() => {
        this.#checkNewest()
        for (const transaction of group) outcomes.push(this.#apply(transaction))
      })
      return outcomes
    } catch (error) {
      this.#head = headBefore
      for (const { ticket } of group) this.#left.set(ticket, undefined)
      const fault = faultOf(error, this.path)
      return group.map(() => fault)
    }
  }

  #apply(transaction: LogTransaction): LogOutcome {
    const { ticket, guards, keys, expects, values } = transaction
    const found: number[] = []
    const lost: number[] = []
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string
      const row = this.#find.get(key)
      const revision = row === undefined ? expectAbsent : (columns(row)[0] as number)
      found.push(revision)
      const deletesNothing = i >= guards && values[i - guards] === undefined && revision === expectAbsent
      if (deletesNothing || this.#settle(key, expects[i] as number) !== revision) lost.push(i)
    }
    if (lost.length > 0) {
      this.#left.set(ticket, undefined)
      return lost
    }
    const first = this.#head + 1
    const left = new Map<string, number>()
    for (let i = 0; i < guards; i++) left.set(keys[i] as string, found[i] as number)
    for (let position = 0; position < values.length; position++) {
      const key = keys[guards + position] as string
      const before = found[guards + position] as number
      const value = values[position]
      const revision = first + position
      this.#append.run(revision, key, before === expectAbsent ? null : before, value ?? null)
      if (value === undefined) this.#remove.run(key)
      else if (before === expectAbsent) this.#create.run(key, revision)
      else this.#update.run(key, revision)
      left.set(key, value === undefined ? expectAbsent : revision)
    }
    this.#left.set(ticket, left)
    this.#head = endOfCommit(first)
    return first
  }

  #settle(key: string, expect: number): number {
    return expect < expectNever ? (this.#left.get(-1 - expect)?.get(key) ?? expectNever) : expect
  }

  #forgetLeft(settledThrough: number): void {
    for (; this.#oldestLeft <= settledThrough; this.#oldestLeft++) this.#left.delete(this.#oldestLeft)
  }

  /** Another program that writes into the log would make every memory of this one wrong. */
  #checkNewest(): void {
    const row = this.#newest.get()
    const newest = row === undefined ? 0 : (columns(row)[0] as number)
    if (newest > this.#head) {
      throw new StorageError('unavailable', `another program has written into ${this.path}`)
    }
  }

  /** @throws StorageError */
  #transact(work: () => void): void {
    if (this.#broken) throw errorOf(this.#broken)
    try {
      this.#database.exec('BEGIN IMMEDIATE')
      work()
      this.#database.exec('COMMIT')
    } catch (error) {
      const fault = faultOf(error, this.path)
      // Full and locked are answered before anything is flushed: the file is as it was. All else is not known.
      if (fault.code !== 'full' && fault.code !== 'locked') {
        this.#broken = { code: fault.code, message: `${fault.message}; no more writes are taken until a restart` }
      }
      // Some faults have rolled back already.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw new StorageError(fault.code, fault.message, { cause: error })
    }
  }

  #setFact(name: string, value: number): void {
    this.#database.prepare('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)').run(name, value)
  }

  #damaged(what: string): StorageError {
    return new StorageError('corrupt', `${this.path} is damaged (${what}); restore it from a backup`)
  }
}

function isFullFault(outcome: LogOutcome): boolean {
  return typeof outcome === 'object' && 'code' in outcome && outcome.code === 'full'
}

/** `setReturnArrays` makes rows arrays, which the types of node:sqlite do not tell. */
function columns(row: unknown): readonly unknown[] {
  return row as readonly unknown[]
}

/**
 * One process owns the store: the others' memory of it would be wrong. The lock is SQLite's own, on a file of its own,
 * so that the system frees it when the process dies, and `sqlite3` and backups may still read the store itself.
 */
function takeOwnership(directory: string): DatabaseSync {
  const path = join(directory, 'owner.lock')
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'a', 0o600))
    const owner = new DatabaseSync(path, { timeout: 0 })
    try {
      // In this mode the lock outlives the transaction, until the file is closed.
      owner.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT')
      return owner
    } catch (error) {
      owner.close()
      throw error
    }
  } catch (error) {
    const fault = faultOf(error, path)
    const message = fault.code === 'locked' ? `the store in ${directory} is in use by another process` : fault.message
    throw new StorageError(fault.code, message, { cause: error })
  }
}

/** An empty file is a new store to SQLite. Where there was a store before, it is a lost one. */
function createFile(path: string, owner: DatabaseSync): void {
  const handle = openSync(path, 'a', 0o600)
  try {
    if (
      fstatSync(handle).size === 0 &&
      owner.prepare('PRAGMA user_version').get()?.['user_version'] === formatVersion
    ) {
      throw new StorageError('corrupt', `${path} is empty or gone, but there was a store; restore it from a backup`)
    }
  } finally {
    closeSync(handle)
  }
}

/** From now on a missing file means damage. */
function rememberStore(owner: DatabaseSync, directory: string): void {
  if (owner.prepare('PRAGMA user_version').get()?.['user_version'] === formatVersion) return
  syncDirectory(directory)
  owner.exec(`PRAGMA user_version = ${formatVersion}`)
}

function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function prepareFile(database: DatabaseSync, path: string, maxFileBytes: number): void {
  const pragma = (text: string): unknown => Object.values(database.prepare(`PRAGMA ${text}`).get() ?? {})[0]
  const version = pragma('user_version')
  const id = pragma('application_id')
  const isNew =
    version === 0 && id === 0 && database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n'] === 0
  if (!isNew && id !== applicationId) throw new StorageError('corrupt', `${path} is not a store of Borough`)
  if (!isNew && version !== formatVersion) {
    throw new StorageError('unavailable', `${path} has format ${version}, this version reads format ${formatVersion}`)
  }
  const mode = pragma('journal_mode = WAL')
  if (mode !== 'wal')
    throw new StorageError('unavailable', `${path} can not keep a write-ahead log (journal mode ${mode})`)
  database.exec('PRAGMA synchronous = FULL')
  database.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`)
  database.exec(`PRAGMA journal_size_limit = ${checkpointPages * 4096 * 2}`)
  database.exec('PRAGMA cache_size = -65536')
  if (maxFileBytes > 0)
    pragma(`max_page_count = ${Math.max(1, Math.floor(maxFileBytes / Number(pragma('page_size'))))}`)
  database.exec('BEGIN IMMEDIATE')
  if (isNew) {
    database.exec(`
      CREATE TABLE log (revision INTEGER PRIMARY KEY, key TEXT NOT NULL, previous INTEGER, value BLOB);
      CREATE TABLE present (key TEXT PRIMARY KEY, revision INTEGER NOT NULL) WITHOUT ROWID;
      CREATE TABLE facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
      PRAGMA application_id = ${applicationId};
      PRAGMA user_version = ${formatVersion};
    `)
  }
  database.exec('COMMIT')
}

export function readFacts(database: DatabaseSync): { head: Revision; compacted: Revision; swept: Revision } {
  const start = endOfCommit(0)
  const facts = new Map(
    database
      .prepare('SELECT name, value FROM facts')
      .all()
      .map((row) => [row['name'], Number(row['value'])]),
  )
  const newest = Number(database.prepare('SELECT max(revision) AS newest FROM log').get()?.['newest'] ?? 0)
  return {
    // Not 0 in a new store: clients of Kubernetes read a resourceVersion of "0" as 'any'.
    head: Math.max(endOfCommit(newest), facts.get('head') ?? start),
    compacted: facts.get('compacted') ?? start,
    swept: facts.get('swept') ?? start,
  }
}
