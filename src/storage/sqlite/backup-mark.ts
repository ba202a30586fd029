/**
 * How far the store is backed up: what came after it stays in the log, although history in memory is compacted, so
 * that the next backup can be of the changes alone. A mark that no backup moves any more holds nothing back for ever,
 * and one that holds room back on a full disk is passed over: the next backup is then a full one.
 *
 * It names the files that backups of this store ended with, by their digests, the newest first: only such a one is
 * followed by what changed since. A revision does not tell, since every store has come by it.
 *
 *   <revision>
 *   <digest>
 *   …
 */
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Revision } from '../storage.ts'

const markName = 'backup-mark'
const maxAgeMs = 3 * 86_400_000

/** Files that are remembered: of the last backups into each of a few folders. */
const maxFiles = 32

/** The end of a backup that is whole. `sha256`: of the file that it ended with. */
export function markBackup(directory: string, revision: Revision, sha256: string): void {
  const path = join(directory, markName)
  const files = [sha256, ...filesOf(directory).filter((each) => each !== sha256)].slice(0, maxFiles)
  writeFileSync(`${path}.part`, `${[revision, ...files].join('\n')}\n`, { mode: 0o600 })
  renameSync(`${path}.part`, path)
}

/** Nothing is kept for the next backup, which is a full one then. */
export const forgetBackups = (directory: string): void => rmSync(join(directory, markName), { force: true })

/** Whether a backup of this store ended with that file. */
export const isBackedUpIn = (directory: string, sha256: string): boolean => filesOf(directory).includes(sha256)

const linesOf = (directory: string): readonly string[] => {
  const path = join(directory, markName)
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : []
}

const filesOf = (directory: string): readonly string[] => linesOf(directory).slice(1)

/** Up to where the log may be swept, where history is compacted up to `compacted`. */
export function sweepEnd(directory: string, compacted: Revision, isFull: boolean, nowMs: number): Revision {
  const path = join(directory, markName)
  if (isFull || !existsSync(path) || nowMs - statSync(path).mtimeMs > maxAgeMs) return compacted
  const mark = Number(linesOf(directory)[0])
  // One that can't be read holds nothing back.
  return Number.isSafeInteger(mark) && mark > 0 ? Math.min(compacted, mark) : compacted
}
