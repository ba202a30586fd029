/**
 * One process owns the store: the others' memory of it would be wrong. The lock is SQLite's own, on a file of its own,
 * so that the system frees it when the process dies, and `sqlite3` and backups may still read the store itself.
 *
 * The file also remembers, in `user_version`, what was made beside it, so that a file that is gone is not taken for one
 * that never was: 1 = the store, 2 = the mark of the last acknowledged revision too.
 */
import { closeSync, existsSync, lstatSync, mkdirSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { inodeOf } from '../../base/inode.ts'
import { shellWord } from '../../base/shell-text.ts'
import { StorageError } from '../storage.ts'
import { pragma } from './file-format.ts'
import { errorOf, type Fault, faultOf } from './sqlite-faults.ts'
import { syncDirectory } from './sync-directory.ts'

const lockName = 'owner.lock'
/** All that are opened when a store is. */
const storeFiles = [lockName, 'acknowledged', 'state.db', 'state.db-wal', 'state.db-shm']
const storeMade = 1
const markMade = 2

/** Between two looks whether the name is still that of the file. */
const lookMs = 1000

export class OwnerLock implements Disposable {
  readonly #directory: string
  readonly #path: string
  #file: DatabaseSync
  #inode: string | undefined
  #timer: NodeJS.Timeout | undefined

  /** Makes the directory where it is missing. @throws StorageError code=locked | unavailable | full */
  constructor(directory: string) {
    this.#directory = directory
    const path = join(directory, lockName)
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      for (const name of storeFiles) {
        requireFile(join(directory, name))
        requireOneName(join(directory, name))
      }
      this.#path = path
      this.#file = lockFile(path)
      this.#inode = inodeOf(path)
    } catch (error) {
      if (error instanceof StorageError) throw error
      const fault = faultOf(error, path)
      throw new StorageError(fault.code, refusal(fault, directory, path), { cause: error })
    }
  }

  /**
   * Of a store that is only read: beside others that do the same, and no process that writes. undefined: there is no
   * such file, and none can be made.
   * @throws Error of SQLite, where a process has the store to write
   */
  static share(directory: string): Disposable | undefined {
    for (const name of storeFiles) requireFile(join(directory, name))
    const path = join(directory, lockName)
    if (!existsSync(path)) return undefined
    const file = new DatabaseSync(path, { readOnly: true, timeout: 0 })
    try {
      file.exec('BEGIN; SELECT count(*) FROM sqlite_schema')
      return file
    } catch (error) {
      file.close()
      throw error
    }
  }

  /** An empty file is a new store to SQLite. Where there was a store before, it is a lost one. */
  checkNotLost(path: string): void {
    if (statSync(path).size === 0 && this.#made() >= storeMade) {
      throw new StorageError('corrupt', `${path} is empty or gone, but there was a store; restore it from a backup`)
    }
  }

  get hasMark(): boolean {
    return this.#made() >= markMade
  }

  /** From now on a missing file means damage. */
  rememberFiles(): void {
    if (this.#made() === markMade) return
    syncDirectory(this.#directory)
    this.#file.exec(`PRAGMA user_version = ${markMade}`)
  }

  /**
   * The lock is on a file, not on its name: where that is removed, nothing would keep a second process away. So it
   * is taken anew. `onLost`: another process was faster.
   */
  watch(onLost: () => void): void {
    this.#timer = setTimeout(() => {
      if (this.#keep()) this.watch(onLost)
      else onLost()
    }, lookMs)
    this.#timer.unref()
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#file.close()
  }

  /** False: it is another process's. */
  #keep(): boolean {
    if (inodeOf(this.#path) === this.#inode) return true
    try {
      const file = lockFile(this.#path)
      file.exec(`PRAGMA user_version = ${this.#made()}`)
      this.#file.close()
      this.#file = file
      this.#inode = inodeOf(this.#path)
      return true
    } catch (error) {
      // Without room, or a directory of this name, the next look tries again.
      return faultOf(error, this.#path).code !== 'locked'
    }
  }

  #made(): number {
    return Number(pragma(this.#file, 'user_version'))
  }
}

/**
 * A mark was made here once: asked beside the process that owns the store. The file is opened by SQLite alone, since
 * another descriptor of it that is closed here would free the lock that this process may hold.
 * @throws StorageError
 */
export function wasMarked(directory: string): boolean {
  const path = join(directory, lockName)
  if (!existsSync(path)) return false
  const file = new DatabaseSync(path, { readOnly: true, timeout: 0 })
  try {
    return Number(pragma(file, 'user_version')) >= markMade
  } catch (error) {
    const fault = faultOf(error, path)
    // The process that holds it made the mark when it opened the store.
    if (fault.code === 'locked') return true
    throw errorOf(fault)
  } finally {
    file.close()
  }
}

export const inUse = (directory: string): string =>
  `the store in ${directory} is in use by another process: stop that first`

function refusal({ code, message }: Fault, directory: string, path: string): string {
  if (code === 'locked') return inUse(directory)
  if (code !== 'corrupt') return message
  // A backup has none of it, and the store need not be damaged.
  return (
    `${path} is damaged: it says only what was made beside it. Where no borough runs on it and ` +
    '`borough storage verify` finds the store sound, remove it; else restore a backup'
  )
}

/** With its mode, before SQLite makes it. One that is there is not opened: to close it would free the locks on it. */
export function makePrivate(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
}

function lockFile(path: string): DatabaseSync {
  makePrivate(path)
  const file = new DatabaseSync(path, { timeout: 0 })
  try {
    // In this mode the lock outlives the transaction, until the file is closed.
    file.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT')
    return file
  } catch (error) {
    file.close()
    throw error
  }
}

/** To open a pipe would wait for ever. @throws StorageError code=corrupt */
function requireFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || found.isFile()) return
  throw new StorageError('corrupt', `${path} is no file, but what a store keeps lies there; restore it from a backup`)
}

/** A file of two names has a lock beside each, so two processes would own it. @throws StorageError code=unavailable */
function requireOneName(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined || (!found.isSymbolicLink() && !(found.isFile() && found.nlink > 1))) return
  const own = `${path}.own`
  const way = `cp ${shellWord(path)} ${shellWord(own)} && mv ${shellWord(own)} ${shellWord(path)}`
  const what = 'has another name, by which another process may write to it: stop all that do, then give this directory'
  throw new StorageError('unavailable', `${path} ${what} a file of its own: ${way}`)
}
