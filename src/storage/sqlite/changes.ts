/** The changes of a store after a revision, read from its log beside the process that owns it. */
import { openValue } from '../sealed-value.ts'
import { type Revision, StorageError } from '../storage.ts'
import { isBackedUpIn, markBackup } from './backup-mark.ts'
import { firstFormat, pragma, readMeta } from './file-format.ts'
import { requireEnd } from './loss.ts'
import { checkRow } from './rows.ts'
import { openForReading } from './snapshot.ts'

export interface LoggedChange {
  readonly key: string
  readonly revision: Revision
  /** Of the commit, in ms since 1970; 0: not known. */
  readonly timeMs: number
  /** undefined: deleted. */
  readonly value: Uint8Array | undefined
}

export interface LoggedChanges extends Disposable {
  /** Of the store. */
  readonly revision: Revision
  /** How many changes there are. */
  readonly size: number
  /** It exists. */
  has(key: string): boolean
  /** Ascending. @throws StorageError code=damaged, corrupt */
  changes(): Generator<LoggedChange>
}

/** `upTo`: not beyond this one. undefined: some of them are not in the log any more. @throws StorageError */
export function openChanges(
  directory: string,
  after: Revision,
  { upTo, madePath }: { readonly upTo?: Revision | undefined; readonly madePath?: string } = {},
): LoggedChanges | undefined {
  requireEnd(directory, madePath)
  const { database, path, [Symbol.dispose]: dispose } = openForReading(directory)
  try {
    const meta = readMeta(database, path)
    if (meta.swept > after || after > meta.head || pragma(database, 'user_version') === firstFormat) {
      dispose()
      return undefined
    }
    const end = upTo ?? meta.head
    const within = 'FROM log WHERE revision > ? AND revision <= ?'
    return {
      revision: end,
      size: Number(database.prepare(`SELECT count(*) AS n ${within}`).get(after, end)?.['n']),
      has: (key) => database.prepare('SELECT 1 FROM present WHERE key = ?').get(key) !== undefined,
      *changes() {
        const rows = database.prepare(
          `SELECT revision, key, value, value IS NULL AS gone, header ${within} ORDER BY revision`,
        )
        for (const { revision, key, value, gone, header } of rows.iterate(after, end)) {
          if (typeof key !== 'string' || typeof revision !== 'number') {
            throw new StorageError('corrupt', `${path} is damaged (a change is unreadable)`)
          }
          const bytes = gone === 1 ? undefined : (value as Uint8Array)
          checkRow({ key, revision, logKey: key, value: bytes, header }, meta.sealedAfter)
          const timeMs = header === null ? 0 : openValue({ key, revision }, header as Uint8Array, bytes).timeMs
          yield { key, revision, timeMs, value: bytes }
        }
      },
      [Symbol.dispose]: dispose,
    }
  } catch (error) {
    dispose()
    throw error
  }
}

export { isBackedUpIn, markBackup }
