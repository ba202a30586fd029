/**
 * Checks a whole store against itself, also while it is served: what SQLite says of its pages, every row of the log,
 * what each row replaced, what exists according to the log against the index, and the marked end.
 */
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { ReportProgress } from '../../base/progress.ts'
import { isEncrypted } from '../encrypted-mark.ts'
import { isStorageError, positionsPerCommit, type Revision, StorageError } from '../storage.ts'
import { readMark } from './acknowledged-mark.ts'
import { firstFormat, type Meta, pragma, readMeta } from './file-format.ts'
import { addPair, emptyDigest } from './live-digest.ts'
import { markName, otherStoreIn, problemOfMark, withRemedy } from './loss.ts'
import { checkRow } from './rows.ts'
import { openForReading } from './snapshot.ts'
import { errorOf, faultOf } from './sqlite-faults.ts'
import { findMade, lossOfAll, type MadeStore } from './store-made.ts'

export interface Verification {
  readonly revision: Revision
  /** What exists. */
  readonly entries: number
  /** Rows of the log. */
  readonly changes: number
  /** Of them, how many are from before there were checksums. */
  readonly unsealed: number
  /** Of them, how many are encrypted. */
  readonly encrypted: number
  /** One line each; empty: all is as it was written. */
  readonly findings: readonly string[]
  /** Of them, how many are of changes that later ones took the place of: nothing exists that needs a repair. */
  readonly past: number
}

/** Of damage that nothing exists of. */
const pastRemedy = 'it was replaced or removed since, so nothing is to be repaired: it goes with history'
/** Findings that are listed; there may be as many as rows. */
const maxFindings = 1000

/** @throws StorageError when there is no store, or nothing of it can be read */
export function verifyStore(
  directory: string,
  report: ReportProgress = () => undefined,
  madePath?: string,
): Verification {
  const made = findMade(madePath)
  const gone = lossOfAll(directory, made)
  if (gone !== undefined) throw new StorageError('corrupt', withRemedy(gone))
  const findings: string[] = []
  const find = (message: string): void => {
    if (findings.length < maxFindings) findings.push(message)
  }
  // Before the reading begins: a mark is never ahead of what was flushed before it.
  const problem = noted(find, () => problemOfMark(directory))
  if (problem !== undefined) find(withRemedy(problem))
  const mark = noted(
    () => undefined,
    () => readMark(join(directory, markName)),
  )
  using store = openForReading(directory, { leaveNothing: true })
  const { database, path } = store
  try {
    const total = changesIn(database)
    const tell = (doing: string) => (done: number) => report({ doing, done, total, unit: 'changes' })
    tell('checking pages of')(0)
    for (const row of database.prepare('PRAGMA integrity_check').all()) {
      const [text] = Object.values(row)
      if (text !== 'ok') find(`${path}: ${String(text)}`)
    }
    const other = otherStoreIn(directory, database, made)
    if (other !== undefined) find(withRemedy(other, true))
    return { ...verifyContent({ database, path, mark, made, find, tell: tell('verifying') }), findings }
  } catch (error) {
    // Pages that SQLite can't go on from, among others that it could name.
    const fault = faultOf(error, path)
    if (isStorageError(error) || fault.code !== 'corrupt' || findings.length === 0) throw errorOf(fault)
    find(fault.message)
    return { revision: 0, entries: 0, changes: 0, unsealed: 0, encrypted: 0, past: 0, findings }
  }
}

interface Content {
  readonly database: DatabaseSync
  readonly path: string
  readonly mark: Revision | undefined
  readonly made: MadeStore | undefined
  readonly find: (message: string) => void
  readonly tell: (done: number) => void
}

function verifyContent({ database, path, mark, made, find, tell }: Content): Omit<Verification, 'findings'> {
  const meta = readMeta(database, path)
  if (mark !== undefined && mark > meta.head) {
    find(withRemedy(`${path} ends at revision ${meta.head}, but ${mark} was acknowledged`))
  }
  if (made?.revision !== undefined && made.revision > meta.head) {
    find(withRemedy(`${path} ends at revision ${meta.head}, but it had come to ${made.revision}`))
  }
  const log = readLog(database, meta, find, tell)
  const entries = compareIndex(database, meta, log.present, find)
  const { changes, unsealed, encrypted, past } = log
  return { revision: meta.head, entries, changes, unsealed, encrypted, past }
}

const toldEach = 256

const changesIn = (database: DatabaseSync): number =>
  Number(database.prepare('SELECT count(*) AS n FROM log').get()?.['n'])

function noted<T>(find: (message: string) => void, read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!isStorageError(error)) throw error
    find(error.message)
    return undefined
  }
}

interface ReadLog {
  /** By key, as the log tells. */
  readonly present: Map<string, Revision>
  readonly changes: number
  readonly unsealed: number
  readonly encrypted: number
  readonly past: number
}

function readLog(
  database: DatabaseSync,
  meta: Meta,
  find: (message: string) => void,
  tell: (done: number) => void,
): ReadLog {
  const header = pragma(database, 'user_version') === firstFormat ? 'NULL' : 'header'
  const rows = database.prepare(
    `SELECT revision, key, previous, value, value IS NULL AS gone, ${header} AS header FROM log ORDER BY revision`,
  )
  const present = new Map<string, Revision>()
  let changes = 0
  let unsealed = 0
  let encrypted = 0
  let past = 0
  const damaged: { readonly key: string; readonly revision: Revision; readonly message: string }[] = []
  let expected: Revision = meta.compacted + 1
  for (const row of rows.iterate()) {
    const { key, previous, gone, header, value } = row
    const revision = Number(row['revision'])
    if (typeof key !== 'string') {
      find(`the log's row of revision ${revision} is unreadable`)
      continue
    }
    if (++changes % toldEach === 0) tell(changes)
    if (header === null) unsealed++
    if (value instanceof Uint8Array && isEncrypted(value)) encrypted++
    const checked = { key, revision, logKey: key, value: gone === 1 ? undefined : value, header }
    const note = (message: string): void => {
      if (damaged.length < maxFindings) damaged.push({ key, revision, message })
    }
    noted(note, () => checkRow(checked, meta.sealedAfter))
    if (revision > meta.compacted) {
      if (!follows(revision, expected)) find(`revisions ${expected} to ${revision - 1} are missing in the log`)
      expected = revision + 1
      const before = present.get(key) ?? null
      if (before !== previous)
        find(`${key} at revision ${revision} replaced ${String(previous)}, not ${String(before)}`)
    }
    if (gone === 1) present.delete(key)
    else present.set(key, revision)
  }
  for (const { key, revision, message } of damaged) {
    const isPast = present.get(key) !== revision
    if (isPast) past++
    find(isPast ? `${message}; ${pastRemedy}` : message)
  }
  return { present, changes, unsealed, encrypted, past }
}

/** The next position of the commit, or the first of the next one. */
const follows = (revision: Revision, expected: Revision): boolean =>
  revision === expected || revision === Math.ceil(expected / positionsPerCommit) * positionsPerCommit

function compareIndex(
  database: DatabaseSync,
  meta: Meta,
  present: Map<string, Revision>,
  find: (message: string) => void,
): number {
  let entries = 0
  let digest = emptyDigest
  for (const row of database.prepare('SELECT key, revision FROM present').iterate()) {
    const key = String(row['key'])
    const revision = Number(row['revision'])
    entries++
    digest = addPair(digest, key, revision)
    const told = present.get(key)
    if (told !== revision) find(`the index has ${key} at revision ${revision}, the log at ${told ?? 'none'}`)
    present.delete(key)
  }
  for (const [key, revision] of present) find(`the index lacks ${key}, which the log has at revision ${revision}`)
  if (entries !== meta.live || digest !== meta.digest) {
    find(`the index is not what was written with the last commit: it has ${entries} keys, ${meta.live} were written`)
  }
  return entries
}
