/**
 * The lock of a data directory: SQLite's file lock, the one lock Node has that dies with its process.
 *
 * It is on a file, not on its name. Where the file is removed, or another is put in its place, nothing would keep a
 * second server away. So the holder looks at the name now and then, and takes the lock of what it finds there; where
 * another process holds that, and goes on holding it, the directory is theirs.
 */
import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type Clock, systemClock, type Timer } from '../base/clock.ts'
import { inodeOf } from '../base/inode.ts'
import { ensurePrivateFile, PrivateFileError } from '../base/private-files.ts'

/** Between two looks. */
const lookMs = 1000
/** As many looks as a start takes that is refused by the store of the first server, and more. */
const patientLooks = 10

export const isBusy = (error: unknown): boolean => error instanceof Error && /locked|busy/i.test(error.message)

/** The bytes of the file are none of SQLite's. */
export const isNoLock = (error: unknown): boolean =>
  error instanceof Error && /not a database|malformed/i.test(error.message)

export class DirectoryLock implements Disposable {
  readonly isShared = false
  /** Resolves when another process has had the name for a while; never, where it stays ours. */
  readonly lost: Promise<void>
  readonly #path: string
  readonly #clock: Clock
  readonly #lose: () => void
  #file: DatabaseSync
  #inode: string
  #looksInVain = 0
  #timer: Timer | undefined

  private constructor(path: string, file: DatabaseSync, clock: Clock) {
    this.#path = path
    this.#clock = clock
    this.#file = file
    this.#inode = inodeOf(path) ?? 'gone'
    const { promise, resolve } = Promise.withResolvers<void>()
    this.lost = promise
    this.#lose = resolve
    this.#lookSoon()
  }

  /** @throws PrivateFileError; Error for which `isBusy` holds, where another process has it */
  static async take(path: string, clock: Clock = systemClock): Promise<DirectoryLock> {
    // So that the file has its mode before SQLite opens it.
    await ensurePrivateFile(path)
    return new DirectoryLock(path, lockFile(path), clock)
  }

  /** Another process has the name, and is what serves the directory. */
  get isLost(): boolean {
    return this.#looksInVain > patientLooks
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel()
    this.#file.close()
  }

  #lookSoon(): void {
    this.#timer = this.#clock.after(lookMs, () => {
      void this.#look().then(() => {
        if (this.isLost) this.#lose()
        else if (this.#file.isOpen) this.#lookSoon()
      })
    })
  }

  async #look(): Promise<void> {
    if (inodeOf(this.#path) === this.#inode) {
      this.#looksInVain = 0
      return
    }
    try {
      await ensurePrivateFile(this.#path)
      if (!this.#file.isOpen) return
      const file = lockFile(this.#path)
      this.#file.close()
      this.#file = file
      this.#inode = inodeOf(this.#path) ?? 'gone'
    } catch (error) {
      // A directory that was moved, or has no room, is no other server's: the next look tries again.
      if (isBusy(error)) this.#looksInVain++
    }
  }
}

/**
 * Of a directory that can't be written, for a server that only reads it: beside others that do, and none that writes.
 * Where there is no file of that name, none can be made, and there is nothing to hold.
 */
export class SharedLock implements Disposable {
  readonly isShared = true
  readonly isLost = false
  readonly lost: Promise<void> = new Promise(() => undefined)
  readonly #file: DatabaseSync | undefined

  /** @throws PrivateFileError; Error for which `isBusy` holds, where a server has it that may write */
  constructor(path: string) {
    if (!existsSync(path)) return
    requireFile(path)
    this.#file = new DatabaseSync(path, { readOnly: true })
    try {
      this.#file.exec('BEGIN; SELECT count(*) FROM sqlite_schema')
    } catch (error) {
      this.#file.close()
      throw error
    }
  }

  [Symbol.dispose](): void {
    this.#file?.close()
  }
}

/** Of a lock that is held: only by servers that do not write. */
export function isOnlyShared(path: string): boolean {
  try {
    new SharedLock(path)[Symbol.dispose]()
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw error
  }
}

/** Looks without taking or making anything. @throws PrivateFileError, Error of SQLite */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false
  requireFile(path)
  try {
    using database = new DatabaseSync(path, { readOnly: true })
    // The first thing that reads the file.
    database.prepare('SELECT count(*) FROM sqlite_schema').get()
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw error
  }
}

function lockFile(path: string): DatabaseSync {
  const file = new DatabaseSync(path)
  try {
    file.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return file
  } catch (error) {
    file.close()
    throw error
  }
}

/** To open a pipe would wait for ever. */
function requireFile(path: string): void {
  if (!statSync(path).isFile()) throw new PrivateFileError(`${path} is no file`)
}
