/** A moment of a folder of backups, on the command line. */
import { InvalidArgumentError } from 'commander'
import type { RestorePoint } from '../backup/backup.ts'

/** A revision, or RFC 3339. */
export function parsePoint(text: string): RestorePoint {
  if (/^\d+$/.test(text)) return { revision: Number(text) }
  // Without a zone it would be that of this process.
  const timeMs = /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(timeMs)) throw new InvalidArgumentError('It must be a revision, or like 2026-11-21T06:00:00Z.')
  return { timeMs }
}
