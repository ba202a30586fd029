/**
 * Files that only their owner may read: keys and credentials. Created 0600 in a directory of 0700, written whole or not
 * at all, and refused when other users of the machine may read them. Every refusal is one line that says what to do.
 */
import { constants, type Stats } from 'node:fs'
import { access, type FileHandle, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { shellWord } from './shell-text.ts'

/** A file that is missing rights, too open, or damaged. The message is one line for the operator. */
export class PrivateFileError extends Error {
  override readonly name = 'PrivateFileError'
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : String(error)

/** Codes of a place where this process may read and not write, or has no room. */
const unwritable: ReadonlySet<string> = new Set(['EROFS', 'EACCES', 'EPERM', 'ENOSPC', 'EDQUOT', 'EIO'])

/** It could not be written because of its place: the file system, its room, or what this user may. */
export function isUnwritable(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) if (unwritable.has(codeOf(each))) return true
  return false
}

/** Makes the directory (0700, parents too) or checks the one that is there. @throws PrivateFileError */
export async function ensurePrivateDirectory(path: string): Promise<void> {
  try {
    await makeDirectories(path)
  } catch (error) {
    throw new PrivateFileError(`can't make the directory ${path} (${codeOf(error)}): choose another place for it`, {
      cause: error,
    })
  }
  const directory = await openChecked(path, constants.O_RDONLY | constants.O_DIRECTORY, 'chmod 700')
  await directory.close()
}

/**
 * With its parents. Node's own way with those never ends on a file system that takes no directories and says that there
 * is no such place, as /proc does.
 */
async function makeDirectories(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await isDirectory(path))) return
    const parent = dirname(path)
    if (codeOf(error) !== 'ENOENT' || (await isDirectory(parent))) throw error
    await makeDirectories(parent)
    await makeDirectories(path)
  }
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  })
  return found?.isDirectory() === true
}

/** The names in a private directory; empty if there is none yet. @throws PrivateFileError */
export async function listPrivateDirectory(path: string): Promise<string[]> {
  let directory: FileHandle | undefined
  try {
    directory = await openChecked(path, constants.O_RDONLY | constants.O_DIRECTORY, 'chmod 700')
    return await readdir(path)
  } catch (error) {
    if (error instanceof PrivateFileError && codeOf(error.cause) === 'ENOENT') return []
    throw error
  } finally {
    await directory?.close()
  }
}

/** @throws PrivateFileError */
export async function readPrivateFile(path: string): Promise<string> {
  const file = await openChecked(path, constants.O_RDONLY, 'chmod 600')
  try {
    return await file.readFile('utf8')
  } catch (error) {
    throw new PrivateFileError(`can't read ${path} (${codeOf(error)})`, { cause: error })
  } finally {
    await file.close()
  }
}

/** Replaces the file in one step and flushes it and its name; a crash leaves the old one or the new one. */
export const writePrivateFile = (path: string, text: string): Promise<void> =>
  writePrivateFiles(dirname(path), new Map([[basename(path), text]]))

/**
 * Writes a file that is not there yet, in one step. Neither a file nor a link of that name is touched or followed:
 * any user who may write in the directory could have put it there.
 * @throws PrivateFileError
 */
export async function createPrivateFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`
  try {
    await rm(temporary, { force: true })
    await writeAndFlush(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, (f) => f.writeFile(text))
    try {
      await link(temporary, path)
    } finally {
      await rm(temporary, { force: true })
    }
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new PrivateFileError(`${path} is there already`, { cause: error })
    throw new PrivateFileError(`can't write ${path} (${codeOf(error)})`, { cause: error })
  }
  await flushDirectory(dirname(path))
}

/**
 * A file to be written, and renamed when it is whole. What an earlier run left of it is removed. A file or link that
 * another user puts there is not written to: what is written would be theirs. @throws PrivateFileError
 */
export async function openPrivatePart(path: string): Promise<FileHandle> {
  try {
    await rm(path, { force: true })
    return await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  } catch (error) {
    throw new PrivateFileError(`can't write ${path} (${codeOf(error)})`, { cause: error })
  }
}

/** What the system refuses `work` is told with the file that it was for. @throws PrivateFileError */
export async function writingTo<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new PrivateFileError(`can't write ${path} (${codeOf(error)})`, { cause: error })
  }
}

/** `createPrivateFile` found something of that name. */
export const isTaken = (error: unknown): boolean =>
  error instanceof PrivateFileError && codeOf(error.cause) === 'EEXIST'

/** All of them side by side, each as `writePrivateFile`. @throws PrivateFileError */
export async function writePrivateFiles(directory: string, files: ReadonlyMap<string, string>): Promise<void> {
  if (files.size === 0) return
  await Promise.all([...files].map(([name, text]) => replaceFile(join(directory, name), text)))
  await flushDirectory(directory)
}

/** What was renamed or removed in it is durable afterwards. @throws PrivateFileError */
export async function flushDirectory(directory: string): Promise<void> {
  try {
    await writeAndFlush(directory, constants.O_RDONLY, async () => undefined)
  } catch (error) {
    throw new PrivateFileError(`can't flush ${directory} (${codeOf(error)})`, { cause: error })
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`
  try {
    await rm(temporary, { force: true })
    await writeAndFlush(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, (f) => f.writeFile(text))
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw new PrivateFileError(`can't write ${path} (${codeOf(error)})`, { cause: error })
  }
}

async function writeAndFlush(path: string, flags: number, write: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, flags, 0o600)
  try {
    await write(file)
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * Makes an empty one where there is none. One that is there is looked at without being opened: to close it would free
 * every lock that this process holds on it. @throws PrivateFileError
 */
export async function ensurePrivateFile(path: string): Promise<void> {
  try {
    const made = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
    await made.close()
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') {
      throw new PrivateFileError(`can't write ${path} (${codeOf(error)})`, { cause: error })
    }
    const found = await stat(path).catch((cause: unknown) => {
      throw new PrivateFileError(`can't read ${path} (${codeOf(cause)})`, { cause })
    })
    if (!found.isFile()) throw new PrivateFileError(`${path} is no file`, { cause: error })
    const problem = problemOf(path, found, 'chmod 600')
    if (problem !== undefined) throw new PrivateFileError(problem, { cause: error })
    await access(path, constants.W_OK).catch((cause: unknown) => {
      throw new PrivateFileError(`can't write ${path} (${codeOf(cause)})`, { cause })
    })
  }
}

/** Opens for appending; makes the file, but not its directory. @throws PrivateFileError */
export const openPrivateForAppend = (path: string): Promise<FileHandle> =>
  openChecked(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, 'chmod 600')

/** Checks what was opened, not what the path names a moment later. */
async function openChecked(path: string, flags: number, remedy: string): Promise<FileHandle> {
  // What is appended to may be a pipe. To open one that is read would wait for ever.
  const mayBePipe = (flags & constants.O_APPEND) !== 0
  let file: FileHandle
  try {
    file = await open(path, mayBePipe ? flags : flags | constants.O_NONBLOCK, 0o600)
  } catch (error) {
    throw new PrivateFileError(`can't ${flags & constants.O_APPEND ? 'write' : 'read'} ${path} (${codeOf(error)})`, {
      cause: error,
    })
  }
  const found = await file.stat()
  if (!mayBePipe && !found.isFile() && !found.isDirectory()) {
    await file.close()
    throw new PrivateFileError(`${path} is no file`)
  }
  const problem = problemOf(path, found, remedy)
  if (problem === undefined) return file
  await file.close()
  throw new PrivateFileError(problem)
}

/** undefined: its owner alone may use it. */
function problemOf(path: string, { mode, uid }: Stats, remedy: string): string | undefined {
  const self = process.getuid?.()
  const mine = self === undefined || self === 0 || uid === self
  // Windows has no such modes.
  if (mine && (process.platform === 'win32' || (mode & 0o077) === 0)) return undefined
  return mine
    ? `${path} is open to other users (mode ${(mode & 0o777).toString(8)}): run: ${remedy} ${shellWord(path)}`
    : `${path} belongs to another user (uid ${uid})`
}
