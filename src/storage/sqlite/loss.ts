/**
 * Finds out, before a store is opened to be written, whether it still holds everything that was acknowledged. The files
 * stay as they are: a reader of SQLite neither truncates its log nor copies it into the file.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { endOfCommit, positionsPerCommit, type Revision, StorageError } from '../storage.ts'
import { readMark } from './acknowledged-mark.ts'
import { checkFormat, readMeta } from './file-format.ts'
import { wasMarked } from './owner-lock.ts'
import { transactionsAfterDamage } from './wal-examination.ts'

export const markName = 'acknowledged'
/** Where the mark is lost: more revisions than may have been given out since. */
const unknownRevisions: number = 1_000_000 * positionsPerCommit

export interface FoundEnd {
  /** The last revision that was acknowledged, as far as that is known. */
  readonly acknowledged: Revision
  /** For the operator; undefined: nothing is missing. */
  readonly loss: string | undefined
}

type HeadIn = (database: DatabaseSync, path: string) => Revision

const headOfMeta: HeadIn = (database, path) => readMeta(database, path).head

/** `expectMark`: a mark was made here once. `headIn`: the end, as the file tells. @throws StorageError */
export function findEnd(directory: string, expectMark: boolean, headIn: HeadIn = headOfMeta): FoundEnd {
  const path = join(directory, 'state.db')
  if (!existsSync(path)) return { acknowledged: 0, loss: undefined }
  const found = markOf(join(directory, markName))
  // One that can't be read may be a file that was just being made.
  const mark = typeof found === 'number' || expectMark ? found : undefined
  const head = headOf(path, headIn)
  if (head === undefined && mark === undefined) return { acknowledged: 0, loss: undefined }
  return compare(path, head ?? endOfCommit(0), mark)
}

/**
 * Before a store is read beside the process that owns it, or changed by a command: what lacks something at its end must
 * not be taken for the whole. @throws StorageError code=corrupt; the message names what is missing
 */
export function requireEnd(directory: string): void {
  const { loss } = findEnd(directory, wasMarked(directory))
  if (loss === undefined) return
  throw new StorageError(
    'corrupt',
    `${loss}. Restore a backup, or start a server with --accept-loss to go on without them`,
  )
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
function headOf(path: string, headIn: HeadIn): Revision | undefined {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5000 })
  try {
    return checkFormat(database, path) === undefined ? undefined : headIn(database, path)
  } finally {
    database.close()
  }
}
