/**
 * Which store a file is: revisions do not tell, since every store comes by every one. The identity is given once, and
 * lies in the row that each commit writes, so a log of another store brings that one's. Beside the store the mark of
 * the last acknowledged revision has it, and outside of the folder what remembers that a store was made.
 *
 * A version before this one leaves it alone. What a backup or a copy fills is a store of its own; a folder that is
 * copied is the same one twice.
 */
import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { faultOf } from './sqlite-faults.ts'

export const newStoreId = (): string => randomUUID()

/** undefined: of a version before identities, or not given yet. */
export function storeIdIn(database: DatabaseSync): string | undefined {
  const hasOne = database.prepare("SELECT 1 FROM pragma_table_info('meta') WHERE name = 'store'").get() !== undefined
  const id = hasOne ? database.prepare('SELECT store FROM meta').get()?.['store'] : undefined
  return typeof id === 'string' && id !== '' ? id : undefined
}

/**
 * Of a store that is opened to be written; given where a version before made it. undefined: there is no room for it, so
 * it gets it at a start with more.
 */
export function identify(database: DatabaseSync, path: string): string | undefined {
  const known = storeIdIn(database)
  if (known !== undefined) return known
  const made = newStoreId()
  database.exec('BEGIN IMMEDIATE')
  try {
    const columns = database.prepare("SELECT name FROM pragma_table_info('meta')").all()
    if (!columns.some(({ name }) => name === 'store')) database.exec('ALTER TABLE meta ADD COLUMN store TEXT')
    database.prepare('UPDATE meta SET store = ?').run(made)
    database.exec('COMMIT')
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    if (faultOf(error, path).code !== 'full') throw error
    return undefined
  }
  return made
}

export interface KnownStores {
  /** In the file. */
  readonly found: string | undefined
  /** Of `acknowledged`. */
  readonly marked: string | undefined
  /** Of `store-made`. */
  readonly made: string | undefined
}

/** Why a store is not the one that its place has known, in one line; undefined: it is, as far as that can be told. */
export function otherStore(path: string, { found, marked, made }: KnownStores): string | undefined {
  const known = [marked, made].find((id) => id !== undefined && id !== found)
  if (known === undefined) return undefined
  const what = found === undefined ? 'one without an identity' : `store ${found}`
  const both = `it is ${what}, and ${known} was here`
  return `${path}, with its log, is not the store that was served here, but another: ${both}`
}
