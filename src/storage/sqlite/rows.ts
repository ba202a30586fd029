/** Rows of the log as they come from the file: checked, or answered as damaged. */
import { damageNote } from '../damaged-value.ts'
import { DamagedValueError, openValue } from '../sealed-value.ts'
import { endOfCommit, positionsPerCommit, type Revision, StorageError } from '../storage.ts'

export interface LogRow {
  /** Where the value should lie. */
  readonly key: string
  readonly revision: Revision
  /** What the row of this revision says of itself, as SQLite gives it; a missing row has null everywhere. */
  readonly logKey: unknown
  readonly value: unknown
  readonly header: unknown
}

/** The value, or a note that says what is wrong with it. `sealedAfter`: rows up to there may lack a header. */
export function openRow(row: LogRow, sealedAfter: Revision): Uint8Array {
  try {
    checkRow(row, sealedAfter)
    return row.value as Uint8Array
  } catch (error) {
    if (error instanceof StorageError) return damageNote(error.message)
    throw error
  }
}

/** `value` undefined: the row removed the key. @throws StorageError code=damaged; the message names key and revision */
export function checkRow({ key, revision, logKey, value, header }: LogRow, sealedAfter: Revision): void {
  const damaged = (what: string): StorageError =>
    new StorageError('damaged', `the stored value of ${key} at revision ${revision} is damaged: ${what}`)
  if (logKey === null) throw damaged('it is missing')
  if (logKey !== key) throw damaged('it lies under another key')
  if (value !== undefined && !(value instanceof Uint8Array)) throw damaged('it is missing')
  if (!(header instanceof Uint8Array)) {
    if (revision <= sealedAfter) return
    throw damaged('its header is missing')
  }
  try {
    const { position } = openValue({ key, revision }, header, value)
    if (position !== revision % positionsPerCommit) throw damaged(`it was written at position ${position}`)
  } catch (error) {
    if (error instanceof DamagedValueError) throw new StorageError('damaged', error.message, { cause: error })
    throw error
  }
}

/** Commits have consecutive numbers, and the changes of one consecutive positions. */
export function isNextBefore(newer: Revision, revision: Revision): boolean {
  const isFirst = newer % positionsPerCommit === 0
  return isFirst ? endOfCommit(revision) === newer - 1 : revision === newer - 1
}

/** `setReturnArrays` makes rows arrays, which the types of node:sqlite do not tell. */
export function columns(row: unknown): readonly unknown[] {
  return row as readonly unknown[]
}
