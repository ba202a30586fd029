/**
 * The data directory: one server at a time, owner only.
 *
 *   store/           the engine's
 *   pki/             CA, serving certificate, service account keys
 *   admin.kubeconfig
 *   endpoint.json    who serves it and where, for commands that run beside the server
 *   replica-id       who it is among the servers of one store
 *   lock             held while a server runs; the kernel lets go of it however the process ends
 */
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  ensurePrivateDirectory,
  openPrivateForAppend,
  PrivateFileError,
  readPrivateFile,
  writePrivateFile,
} from '../base/private-files.ts'

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
  announce(endpoint: Endpoint): Promise<void>
}

const endpointPath = (path: string): string => join(path, 'endpoint.json')
export const adminKubeconfigPath = (path: string): string => join(path, 'admin.kubeconfig')

/** Makes it or takes it. @throws PrivateFileError, DataDirBusyError: one line for the operator */
export async function openDataDir(path: string): Promise<DataDir> {
  await ensurePrivateDirectory(path)
  const lock = await takeLock(path)
  return {
    path,
    announce: (endpoint) => writePrivateFile(endpointPath(path), `${JSON.stringify(endpoint)}\n`),
    async [Symbol.asyncDispose]() {
      await rm(endpointPath(path), { force: true })
      lock.close()
    },
  }
}

/** Who serves the directory, or undefined. A server that was killed leaves its word behind: ask, do not trust. */
export async function findEndpoint(path: string): Promise<Endpoint | undefined> {
  try {
    return JSON.parse(await readPrivateFile(endpointPath(path))) as Endpoint
  } catch {
    return undefined
  }
}

/** Whether a server runs on a directory; looks without taking or making anything. */
export async function dataDirLock(
  path: string,
): Promise<{ readonly state: 'held' | 'free'; readonly endpoint: Endpoint | undefined }> {
  const endpoint = await findEndpoint(path)
  return { state: isLocked(join(path, 'lock')) ? 'held' : 'free', endpoint }
}

function isLocked(file: string): boolean {
  if (!existsSync(file)) return false
  try {
    using database = new DatabaseSync(file, { readOnly: true })
    // The first thing that reads the file.
    database.prepare('SELECT count(*) FROM sqlite_schema').get()
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw error
  }
}

const isBusy = (error: unknown): boolean => error instanceof Error && /locked|busy/i.test(error.message)

/** SQLite's file lock is the one lock Node has that dies with its process. */
async function takeLock(path: string): Promise<DatabaseSync> {
  const file = join(path, 'lock')
  // So that the file has its mode before SQLite opens it.
  await (await openPrivateForAppend(file)).close()
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file)
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return database
  } catch (cause) {
    database?.close()
    if (isBusy(cause)) {
      const holder = await findEndpoint(path)
      const who = holder === undefined ? '' : ` (process ${holder.pid}, ${holder.url})`
      throw new DataDirBusyError(`${path} is in use by another borough${who}: stop it, or choose another --data-dir`, {
        cause,
      })
    }
    throw new PrivateFileError(`can't lock ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
}
