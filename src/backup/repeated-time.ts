/**
 * Whether a time is one moment of a folder of backups. Changes lie in it in the order of their commits, with the time
 * that the server's clock showed then: where that was set back, a time comes again, and the first change that is later
 * need not be the end of what the operator means. Nothing tells which one it is, so nothing is chosen.
 */
import { formatTime } from '../kube/time.ts'
import { endOfCommit } from '../storage/storage.ts'
import { backupSource } from './backup-file.ts'
import { readChangeFile } from './change-file.ts'
import type { SetFile } from './set-files.ts'
import { CopyError } from './store-copy.ts'

/** `chosen`: the revision that would be restored. @throws CopyError which names all that it may be */
export async function requireOnce(files: readonly SetFile[], timeMs: number, chosen: number): Promise<void> {
  const others: number[] = []
  let [isWithin, before] = await beginOf(files, timeMs)
  /** Up to `next` the store was as it was at `before`. */
  const endsBefore = (next: number): void => {
    const isChosen = before <= endOfCommit(chosen) && chosen < next
    if (isWithin && !isChosen) others.push(endOfCommit(before))
  }
  for (const file of files) {
    for (const change of await timesOf(file)) {
      if (change.timeMs > timeMs) endsBefore(change.revision)
      isWithin = change.timeMs <= timeMs
      before = change.revision
    }
  }
  endsBefore(Number.POSITIVE_INFINITY)
  if (others.length === 0) return
  const revisions = [...others, endOfCommit(chosen)].sort((a, b) => a - b).join(', ')
  throw new CopyError(
    `${formatTime(timeMs)} was more than once, since the clock of the server was set back: at revision ${revisions}. ` +
      'Say which is meant: --to <revision>',
  )
}

/** Of the oldest full backup: whether it is of then or before, and its revision. */
async function beginOf(files: readonly SetFile[], timeMs: number): Promise<[isWithin: boolean, revision: number]> {
  const oldest = files.find(({ after }) => after === undefined)
  if (oldest === undefined) return [false, 0]
  const isWithin = await orElse(false, async () => {
    await using contents = await backupSource(oldest.path).read()
    return contents.untilMs <= timeMs
  })
  return [isWithin, oldest.revision]
}

interface Moment {
  readonly revision: number
  readonly timeMs: number
}

const timesOf = ({ path, after }: SetFile): Promise<readonly Moment[]> =>
  orElse([], async () => {
    if (after === undefined) return []
    const { changes } = await readChangeFile(path)
    return changes.filter(({ timeMs }) => timeMs > 0).map(({ revision, timeMs }) => ({ revision, timeMs }))
  })

/** What can't be read, and is not restored, is no reason to restore nothing. */
async function orElse<T>(otherwise: T, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof CopyError) return otherwise
    throw error
  }
}
