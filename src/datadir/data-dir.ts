/**
 * The data directory: one server at a time, owner only.
 *
 *   store/           the engine's
 *   pki/             CA, serving certificate, service account keys
 *   admin.kubeconfig
 *   endpoint.json    who serves it and where, for commands that run beside the server
 *   replica-id       who it is among the servers of one store
 *   lock             held while a server runs; the kernel lets go of it however the process ends
 *   backup-lock      held while an incremental backup is made
 */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { parseJsonText } from '../base/parse-json-text.ts'
import {
  ensurePrivateDirectory,
  isUnwritable,
  PrivateFileError,
  readPrivateFile,
  writePrivateFile,
} from '../base/private-files.ts'
import { DirectoryLock, isBusy, isLocked, isNoLock, isOnlyShared, SharedLock } from './directory-lock.ts'
import { lockHolders } from './lock-holders.ts'

export { replicaId } from './replica-id.ts'

export interface Endpoint {
  readonly url: string
  readonly pid: number
}

export class DataDirBusyError extends Error {
  override readonly name = 'DataDirBusyError'
}

export interface DataDir extends AsyncDisposable {
  readonly path: string
  /** Resolves where another server has taken the directory, although its lock was held. */
  readonly lost: Promise<DataDirBusyError>
  announce(endpoint: Endpoint): Promise<void>
}

const lockPath = (path: string): string => join(path, 'lock')
const endpointPath = (path: string): string => join(path, 'endpoint.json')
export const adminKubeconfigPath = (path: string): string => join(path, 'admin.kubeconfig')

export interface OpenOptions {
  readonly clock?: Clock | undefined
  /** Where it can't be written it is shared with others that only read it. Default: it is refused. */
  readonly mayShare?: boolean
}

/** Makes it or takes it. @throws PrivateFileError, DataDirBusyError: one line for the operator */
export async function openDataDir(path: string, { clock, mayShare = false }: OpenOptions = {}): Promise<DataDir> {
  await ensurePrivateDirectory(path)
  const lock = await takeLock(path, clock, mayShare)
  const lost = lock.lost.then(
    async () =>
      new DataDirBusyError(
        `${lockPath(path)} was removed while this server ran, and ${path} is in use by another borough` +
          `${await holdersOf(path)}: this one ends`,
      ),
  )
  return {
    path,
    lost,
    announce: (endpoint) => writePrivateFile(endpointPath(path), `${JSON.stringify(endpoint)}\n`),
    async [Symbol.asyncDispose]() {
      // It may be another server's.
      if (!lock.isLost && !lock.isShared) await rm(endpointPath(path), { force: true }).catch(unlessUnwritable)
      lock[Symbol.dispose]()
    },
  }
}

/** Who serves the directory, or undefined. A server that was killed leaves its word behind: ask, do not trust. */
export async function findEndpoint(path: string): Promise<Endpoint | undefined> {
  try {
    return parseJsonText(await readPrivateFile(endpointPath(path))) as Endpoint
  } catch {
    return undefined
  }
}

export interface FoundLock {
  readonly state: 'held' | 'free'
  readonly endpoint: Endpoint | undefined
  /** Processes that only read the directory, where the system tells: they keep out who would write it. */
  readonly readers: readonly number[]
}

/** Whether a server runs on a directory; looks without taking or making anything. */
export async function dataDirLock(path: string): Promise<FoundLock> {
  const endpoint = await findEndpoint(path)
  const file = lockPath(path)
  try {
    const isHeld = isLocked(file)
    return { state: isHeld ? 'held' : 'free', endpoint, readers: isHeld ? [] : lockHolders(file) }
  } catch (error) {
    throw lockFault(file, error)
  }
}

/** Keeps out others that back the directory up, while it may be served. @throws PrivateFileError, DataDirBusyError */
export const lockBackups = (path: string): Promise<Disposable> =>
  lock(join(path, 'backup-lock'), {}, async () => `another backup of ${path} is under way: wait for its end`)

const takeLock = (path: string, clock: Clock | undefined, mayShare: boolean): Promise<DirectoryLock | SharedLock> =>
  lock(lockPath(path), { clock, mayShare }, async () => {
    const only = isOnlyShared(lockPath(path)) ? ' that only reads it, since it could not write' : ''
    return `${path} is in use by another borough${only}${await holdersOf(path)}: stop it, or choose another --data-dir`
  })

async function lock(
  file: string,
  { clock, mayShare = false }: OpenOptions,
  busy: () => Promise<string>,
): Promise<DirectoryLock | SharedLock> {
  try {
    return await DirectoryLock.take(file, clock).catch((error: unknown) => {
      if (mayShare && isUnwritable(error)) return new SharedLock(file)
      throw error
    })
  } catch (cause) {
    if (isBusy(cause)) throw new DataDirBusyError(await busy(), { cause })
    throw lockFault(file, cause)
  }
}

function lockFault(file: string, cause: unknown): PrivateFileError {
  if (cause instanceof PrivateFileError) return cause
  const text = cause instanceof Error ? cause.message : String(cause)
  const message = isNoLock(cause)
    ? `${file} is damaged (${text}): it holds nothing but the lock, so remove it, ` +
      'unless a borough that runs has it open'
    : `can't lock ${file}: ${text}`
  return new PrivateFileError(message, { cause })
}

/** A file system that became read-only keeps it. */
function unlessUnwritable(error: unknown): void {
  if (!isUnwritable(error)) throw error
}

/** By the lock, where the system tells: the word of a server that was killed is still there beside another one. */
async function holdersOf(path: string): Promise<string> {
  const holders = lockHolders(lockPath(path))
  const endpoint = await findEndpoint(path)
  if (endpoint !== undefined && (holders.length === 0 ? !isOnlyShared(lockPath(path)) : holders.includes(endpoint.pid)))
    return ` (process ${endpoint.pid}, ${endpoint.url})`
  if (holders.length > 0) return ` (process ${holders.join(', ')})`
  return ` (which one, \`fuser ${lockPath(path)}\` says)`
}
