/**
 * A store that can't be written, opened to be read: on a file system that is read-only, or without room or inodes even
 * for what a start needs, or whose disk fails. No commit is taken, and nothing of the files is changed. Others may read
 * it in the same way at the same time; a process that would write finds it in use.
 *
 * What was acknowledged is asked for as ever: a store that lacks some of it does not open. And what is visible is
 * durable: where this run of the system wrote the log, a part may be in memory alone, since a flush failed.
 * So nothing after the mark of the last acknowledged revision is shown then. What an earlier run wrote was read from
 * the disk, and is shown whole: that mark is flushed less often than the log.
 */
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { bootId } from '../../base/boot-id.ts'
import { type Revision, StorageError } from '../storage.ts'
import { readMark, readMarkedBoot } from './acknowledged-mark.ts'
import { checkFormat, firstFormat, type Meta, readMeta } from './file-format.ts'
import type { LoggedHistory, LogKey, LogOutcome, LogTransaction, WriterLog } from './log-entries.ts'
import { historyIn } from './log-history.ts'
import { markName, requireEnd } from './loss.ts'
import type { WriterOptions } from './messages.ts'
import { inUse, OwnerLock } from './owner-lock.ts'
import { keysBefore, presentKeys } from './present-keys.ts'
import { openForReading } from './snapshot.ts'
import { errorOf, type Fault, faultOf, stopped } from './sqlite-faults.ts'

export class ReadOnlyLog implements WriterLog {
  readonly path: string
  readonly unwritable: string
  readonly #database: DatabaseSync
  readonly #opened: DisposableStack
  /** As the file has it. */
  readonly #written: Meta
  #meta: Meta

  /** `why`: it can't be opened to be written. @throws StorageError code=locked | corrupt | unavailable | full */
  constructor({ directory, madePath }: Pick<WriterOptions, 'directory' | 'madePath'>, why: Fault) {
    using opened = new DisposableStack()
    try {
      opened.use(sharedLock(directory))
      requireEnd(directory, madePath)
      const { database, path } = opened.use(openForReading(directory, { leaveNothing: true }))
      this.path = path
      this.#database = database
      if (checkFormat(database, path) === firstFormat) {
        throw new StorageError('unavailable', `${path} has format 1, which a start that can write must make format 2`)
      }
      const meta = readMeta(database, path)
      const head = Math.max(meta.compacted, durableEnd(join(directory, markName), meta.head))
      this.#written = meta
      this.#meta = { ...meta, head }
      const more =
        head < meta.head ? `; what its log has after revision ${head} was not acknowledged, nor is shown` : ''
      this.unwritable = `${why.message}: the store is only read, and ${stopped}${more}`
    } catch (error) {
      throw errorOf(notEvenRead(faultOf(error, directory), why))
    }
    this.#opened = opened.move()
  }

  get head(): Revision {
    return this.#meta.head
  }

  get compacted(): Revision {
    return this.#meta.compacted
  }

  get committedMs(): number | undefined {
    return this.#meta.timeMs || undefined
  }

  keys(): Iterable<readonly LogKey[]> {
    const pages = presentKeys(this.#database, this.#written, this.path)
    return this.head === this.#written.head ? pages : keysBefore(pages, this.#changedAfterHead())
  }

  commit(group: readonly LogTransaction[]): LogOutcome[] {
    const fault: Fault = { code: 'readOnly', message: this.unwritable }
    return group.map(() => fault)
  }

  history(base: Revision): LoggedHistory {
    return historyIn(this.#database, this.path, this.#meta, base)
  }

  /** In the file it stays. */
  compact(before: Revision): void {
    if (before > this.compacted) this.#meta = { ...this.#meta, compacted: before }
  }

  sweep(): boolean {
    return true
  }

  close(): void {
    this.#opened.dispose()
  }

  #changedAfterHead(): Map<string, Revision | undefined> {
    const before = new Map<string, Revision | undefined>()
    const newer = this.#database.prepare('SELECT key, previous FROM log WHERE revision > ? ORDER BY revision')
    for (const row of newer.all(this.head)) {
      const { key, previous } = row as { readonly key: string; readonly previous: Revision | null }
      if (!before.has(key)) before.set(key, previous ?? undefined)
    }
    return before
  }
}

/** Of what is written in the log: up to where the disk is known to have it. */
function durableEnd(markPath: string, written: Revision): Revision {
  const boot = bootId()
  if (boot === undefined || readMarkedBoot(markPath) !== boot) return written
  return Math.min(written, readMark(markPath) ?? written)
}

function sharedLock(directory: string): Disposable | undefined {
  try {
    return OwnerLock.share(directory)
  } catch (error) {
    const fault = faultOf(error, directory)
    if (fault.code !== 'locked') throw error
    throw new StorageError('locked', inUse(directory), { cause: error })
  }
}

/** What is wrong with the store itself is said first. */
function notEvenRead(fault: Fault, why: Fault): Fault {
  if (fault.code !== 'unavailable' || fault.message === why.message) return fault
  return { code: why.code, message: `${why.message}, and it can't be only read either: ${fault.message}` }
}
