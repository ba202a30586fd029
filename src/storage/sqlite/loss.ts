/**
 * Finds out, before a store is opened to be written, whether it still holds everything that was acknowledged. The files
 * stay as they are: a reader of SQLite neither truncates its log nor copies it into the file.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { endOfCommit, positionsPerCommit, type Revision, StorageError } from '../storage.ts'
import { readMark, readMarkedStore } from './acknowledged-mark.ts'
import { checkFormat, readMeta } from './file-format.ts'
import { makePrivate, type OwnerLock, wasMarked } from './owner-lock.ts'
import { openReadOnly } from './read-only.ts'
import { errorOf, faultOf } from './sqlite-faults.ts'
import { otherStore, storeIdIn } from './store-identity.ts'
import { findMade, lossOfAll, type MadeStore } from './store-made.ts'
import { transactionsAfterDamage } from './wal-examination.ts'

export const markName = 'acknowledged'
/** Where the mark is lost: more revisions than may have been given out since. */
const unknownRevisions: number = 1_000_000 * positionsPerCommit

export interface FoundEnd {
  /** The last revision that was acknowledged, as far as that is known. */
  readonly acknowledged: Revision
  /** For the operator; undefined: nothing is missing. */
  readonly loss: string | undefined
  /** The loss is of the whole: another store lies there. */
  readonly isOther?: boolean
}

type HeadIn = (database: DatabaseSync, path: string) => Revision

const headOfMeta: HeadIn = (database, path) => readMeta(database, path).head

export interface EndOptions {
  /** A mark was made here once. */
  readonly expectMark: boolean
  /** What is remembered outside of the folder. */
  readonly made: MadeStore | undefined
  /** The end, as the file tells. */
  readonly headIn?: HeadIn
}

/** @throws StorageError */
export function findEnd(directory: string, { expectMark, made, headIn = headOfMeta }: EndOptions): FoundEnd {
  const gone = lossOfAll(directory, made)
  if (gone !== undefined) return { acknowledged: (made?.revision ?? endOfCommit(0)) + unknownRevisions, loss: gone }
  const path = join(directory, 'state.db')
  if (!existsSync(path)) return { acknowledged: 0, loss: undefined }
  const found = markOf(join(directory, markName))
  // One that can't be read may be a file that was just being made.
  const mark = typeof found === 'number' || expectMark ? found : undefined
  const inFile = contentOf(path, headIn)
  if (inFile === undefined && mark === undefined) return { acknowledged: 0, loss: undefined }
  const head = inFile?.head ?? endOfCommit(0)
  const other = inFile && otherThan(directory, inFile.store, made)
  if (other === undefined || inFile?.store === undefined) {
    const end = withMade(path, head, compare(path, head, mark), made)
    // A file without an identity may have lost it with its log.
    if (other === undefined || end.loss !== undefined) return end
  }
  const newest = Math.max(head, typeof mark === 'number' ? mark : 0, made?.revision ?? 0)
  return { acknowledged: newest + unknownRevisions, loss: other, isOther: true }
}

interface StoreToOpen {
  readonly directory: string
  readonly madePath?: string
  readonly acceptLoss: boolean
}

/**
 * Before the folder of a store is made, locked or touched: one that is not there must stay so until its volume is.
 * @throws StorageError code=corrupt
 */
export function requirePlace({ directory, madePath, acceptLoss }: StoreToOpen): void {
  const gone = lossOfAll(directory, findMade(madePath))
  if (gone !== undefined && !acceptLoss) throw refusedLoss(gone)
}

/** Of a store that is opened to be written. @throws StorageError code=corrupt where a loss is not accepted */
export function endToOpen({ directory, madePath, acceptLoss }: StoreToOpen, owner: OwnerLock): FoundEnd {
  const path = join(directory, 'state.db')
  makePrivate(path)
  if (!acceptLoss) owner.checkNotLost(path)
  const end = findEnd(directory, { expectMark: owner.hasMark, made: findMade(madePath) })
  if (end.loss !== undefined && !acceptLoss) throw refusedLoss(end.loss, end.isOther)
  return end
}

const refusedLoss = (loss: string, isOther = false): StorageError =>
  new StorageError('corrupt', withRemedy(loss, isOther))

/** Of a loss: what to do. No command but `up` takes the flag for that. */
export function withRemedy(loss: string, isOther = false): string {
  const remedy = isOther
    ? 'Put that one back, or start a server with --accept-loss to go on with this one'
    : 'Restore a backup, or start a server with --accept-loss to go on without them'
  return `${loss.endsWith('?') ? loss : `${loss}.`} ${remedy}`
}

function endIn(directory: string, madePath: string | undefined): FoundEnd {
  try {
    return findEnd(directory, { expectMark: wasMarked(directory), made: findMade(madePath) })
  } catch (error) {
    throw errorOf(faultOf(error, join(directory, 'state.db')))
  }
}

/**
 * Before a store is read beside the process that owns it, or changed by a command: what lacks something at its end must
 * not be taken for the whole. @throws StorageError code=corrupt; the message names what is missing
 */
export function requireEnd(directory: string, madePath?: string): void {
  const { loss, isOther = false } = endIn(directory, madePath)
  if (loss !== undefined) throw refusedLoss(loss, isOther)
}

/** For what looks for all that is wrong. */
export const otherStoreIn = (
  directory: string,
  database: DatabaseSync,
  made: MadeStore | undefined,
): string | undefined => otherThan(directory, storeIdIn(database), made)

/** `found`: the identity in the file. */
function otherThan(directory: string, found: string | undefined, made: MadeStore | undefined): string | undefined {
  const known = { found, marked: readMarkedStore(join(directory, markName)), made: made?.store }
  return otherStore(join(directory, 'state.db'), known)
}

/** What is wrong with the mark itself; undefined: nothing. @throws StorageError */
export function problemOfMark(directory: string): string | undefined {
  const mark = markOf(join(directory, markName))
  return typeof mark === 'number' || !wasMarked(directory) ? undefined : mark
}

function compare(path: string, head: Revision, mark: Revision | string | undefined): FoundEnd {
  // What follows the damage of a log whose acknowledged part is there was never acknowledged.
  if (typeof mark === 'number' && mark <= head) return { acknowledged: head, loss: undefined }
  const log = describeLog(`${path}-wal`)
  if (typeof mark === 'number') {
    const missing = `${path} ends at revision ${head}, but ${mark} was acknowledged: ${head + 1} to ${mark} are missing`
    return { acknowledged: mark, loss: [missing, ...log].join('; ') }
  }
  if (mark === undefined && log.length === 0) return { acknowledged: head, loss: undefined }
  const ends = `${path} ends at revision ${head}, and what followed is not known`
  return {
    acknowledged: head + unknownRevisions,
    loss: [...(mark === undefined ? [] : [mark]), ends, ...log].join('; '),
  }
}

/** A sound store that had come further once is an older copy of itself. */
function withMade(path: string, head: Revision, end: FoundEnd, made: MadeStore | undefined): FoundEnd {
  const known = made?.revision
  if (known === undefined || known <= end.acknowledged) return end
  const missing = `${path} ends at revision ${head}, but it had come to ${known}: ${head + 1} to ${known} are missing`
  return { acknowledged: known, loss: end.loss ?? missing }
}

function describeLog(path: string): string[] {
  const dropped = transactionsAfterDamage(path)
  if (dropped === 0) return []
  return [`${path} is damaged, and at least ${dropped} transactions that follow the damage can't be read`]
}

/** The last acknowledged revision, or why it is not known. */
function markOf(path: string): Revision | string {
  try {
    return readMark(path) ?? `${path} is gone: it told the last acknowledged revision`
  } catch (error) {
    if (error instanceof StorageError) return error.message
    throw error
  }
}

/** undefined: there is nothing in it. */
function contentOf(
  path: string,
  headIn: HeadIn,
): { readonly head: Revision; readonly store: string | undefined } | undefined {
  const database = openReadOnly(path)
  try {
    if (checkFormat(database, path) === undefined) return undefined
    return { head: headIn(database, path), store: storeIdIn(database) }
  } finally {
    database.close()
  }
}
