/** Older changes, as the log has them. */
import type { DatabaseSync } from 'node:sqlite'
import { endOfCommit, positionsPerCommit, type Revision } from '../storage.ts'
import type { Meta } from './file-format.ts'
import type { LogChange, LoggedHistory } from './log-entries.ts'
import { checkRow, columns, isNextBefore, openRow } from './rows.ts'
import { damagedFile, errorOf, faultOf } from './sqlite-faults.ts'

/** Changes per answer. */
const step = 2000

type Known = Pick<Meta, 'compacted' | 'sealedAfter'>

/** The newest changes up to `base`. @throws StorageError */
export function historyIn(database: DatabaseSync, path: string, known: Known, base: Revision): LoggedHistory {
  try {
    return readHistory(database, path, known, base)
  } catch (error) {
    throw errorOf(faultOf(error, path))
  }
}

function readHistory(
  database: DatabaseSync,
  path: string,
  { compacted, sealedAfter }: Known,
  base: Revision,
): LoggedHistory {
  const bound = database.prepare(
    'SELECT revision FROM log WHERE revision > ? AND revision <= ? ORDER BY revision DESC LIMIT 1 OFFSET ?',
  )
  const last = bound.get(compacted, base, step - 1)?.['revision']
  const after = typeof last === 'number' ? endOfCommit(last) - positionsPerCommit : compacted
  const rows = database.prepare(
    `SELECT l.revision, l.key, l.previous, l.value IS NULL, l.header, p.key, p.value, p.header
     FROM log l LEFT JOIN log p ON p.revision = l.previous
     WHERE l.revision > ? AND l.revision <= ? ORDER BY l.revision DESC`,
  )
  rows.setReturnArrays(true)
  const changes: LogChange[] = []
  let newer: Revision = base + 1
  const gap = (from: Revision): Error => damagedFile(path, `what lies between revision ${from} and ${newer} is missing`)
  for (const row of rows.iterate(after, base)) {
    const [revision, key, previous, deleted, header, logKey, value, headerBefore] = columns(row)
    if (typeof key !== 'string' || typeof revision !== 'number') throw damagedFile(path, 'a change is unreadable')
    if (!isNextBefore(newer, revision)) throw gap(revision)
    newer = revision
    // What a change wrote is checked where it is read: as what the next one replaced, or in the present.
    if (deleted === 1) checkRow({ key, revision, logKey: key, value: undefined, header }, sealedAfter)
    const change = { key, revision, deleted: deleted === 1 }
    if (previous === null) changes.push({ ...change, previous: undefined, previousValue: undefined })
    else if (typeof previous !== 'number') throw damagedFile(path, `what ${key} held before is unreadable`)
    else {
      const before = { key, revision: previous, logKey, value, header: headerBefore }
      changes.push({ ...change, previous, previousValue: openRow(before, sealedAfter) })
    }
  }
  if (newer !== after + 1) throw gap(after)
  return { changes, base: after }
}
