/**
 * How far the store is backed up: what came after it stays in the log, although history in memory is compacted, so
 * that the next backup can be of the changes alone. A mark that no backup moves any more holds nothing back for ever,
 * and one that holds room back on a full disk is passed over: the next backup is then a full one.
 */
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Revision } from '../storage.ts'

const markName = 'backup-mark'
const maxAgeMs = 3 * 86_400_000

/** The end of a backup that is whole. */
export function markBackup(directory: string, revision: Revision): void {
  const path = join(directory, markName)
  writeFileSync(`${path}.part`, `${revision}\n`, { mode: 0o600 })
  renameSync(`${path}.part`, path)
}

/** Up to where the log may be swept, where history is compacted up to `compacted`. */
export function sweepEnd(directory: string, compacted: Revision, isFull: boolean, nowMs: number): Revision {
  const path = join(directory, markName)
  if (isFull || !existsSync(path) || nowMs - statSync(path).mtimeMs > maxAgeMs) return compacted
  const mark = Number(readFileSync(path, 'utf8'))
  // One that can't be read holds nothing back.
  return Number.isSafeInteger(mark) && mark > 0 ? Math.min(compacted, mark) : compacted
}
