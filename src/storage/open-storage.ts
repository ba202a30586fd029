/** Opens the engine that was chosen. Engines are loaded when chosen: a server without etcd does not pay for gRPC. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readBoundedFile } from '../base/bounded-file.ts'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { ReportProgress } from '../base/progress.ts'
import { OpenSecretError, readSecretFile } from '../base/secret-file.ts'
import { MemoryStorage } from './memory/memory-storage.ts'
import type { LoggedChanges } from './sqlite/changes.ts'
import type { WriterCondition } from './sqlite/messages.ts'
import type { RebuiltIndex } from './sqlite/rebuild-index.ts'
import type { FileSnapshot } from './sqlite/snapshot.ts'
import type { Verification } from './sqlite/verify.ts'
import { type Revision, type Storage, StorageError } from './storage.ts'
import {
  type EtcdLogin,
  type EtcdTlsFiles,
  etcdPasswordVariable,
  reserveBytes,
  type StorageChoice,
} from './storage-choice.ts'

export const storeFolder = 'store'
/** Beside the folder: that a store was made there. */
const madePathIn = (dataDir: string): string => join(dataDir, 'store-made')

export interface StoragePlace {
  readonly storage: StorageChoice
  /** Needed by sqlite, which keeps its files there. */
  readonly dataDir?: string
  /** Of sqlite: open it although it ends before what was acknowledged. */
  readonly acceptLoss?: boolean
  /** Of sqlite: the largest size of the file. Absent = as large as the disk allows. */
  readonly maxStoreBytes?: number
  readonly clock: Clock
  readonly log: Log
}

export async function openStorage(place: StoragePlace): Promise<Storage> {
  return (await beginStorage(place)).opened
}

/** An engine that has begun to open: its thread, or another process, goes on while the caller does something else. */
export interface BegunStorage {
  /** A rejection waits until a caller asks. */
  readonly opened: Promise<Storage>
}

export function begun(opened: Promise<Storage>): BegunStorage {
  opened.catch(() => undefined)
  return { opened }
}

/** @throws StorageError: here, or where `opened` is awaited */
export async function beginStorage({
  storage,
  dataDir,
  acceptLoss = false,
  maxStoreBytes = 0,
  clock,
  log,
}: StoragePlace): Promise<BegunStorage> {
  switch (storage.engine) {
    case 'memory':
      return begun(Promise.resolve(new MemoryStorage({ clock })))
    case 'sqlite': {
      if (dataDir === undefined) throw new Error('storage sqlite needs a data directory')
      const { SqliteStorage } = await import('./sqlite/sqlite-storage.ts')
      const room = { maxFileBytes: maxStoreBytes, reserveBytes }
      const directory = join(dataDir, storeFolder)
      const madePath = madePathIn(dataDir)
      warnOfKeysAlone(dataDir, log)
      const onCondition = ({ isFull, broken }: WriterCondition): void => {
        if (broken !== undefined) log.error({ directory }, broken)
        else if (isFull) log.error({ directory }, 'the store is full: only deletes and small changes are taken')
        else log.warn({ directory }, 'the store has room again: everything is taken')
      }
      return begun(SqliteStorage.open({ directory, madePath, clock, acceptLoss, onCondition, ...room }))
    }
    case 'relay': {
      const { RelayStorage } = await import('./relay/relay-storage.ts')
      return begun(Promise.resolve(new RelayStorage(storage.port)))
    }
    case 'etcd': {
      const { EtcdStorage } = await import('./etcd/etcd-storage.ts')
      const { tls, prefix, user, checksums = false } = storage
      const opened = EtcdStorage.open({
        endpoints: storage.endpoints.map((e) => `${tls ? 'https' : 'http'}://${e}`),
        prefix,
        checksums,
        ...(tls ? { tls: await readTls(tls) } : {}),
        ...(user ? { user: { name: user.name, password: () => readPassword(user) } } : {}),
        clock,
        onFault: (error) => log.warn({ error }, 'trouble with etcd; it is tried again'),
      })
      return begun(opened)
    }
  }
}

/** Of a data directory: that a SQLite store is there, or was. */
export const hadStore = (dataDir: string): boolean =>
  [madePathIn(dataDir), join(dataDir, storeFolder, 'state.db')].some((path) => existsSync(path))

/** Of a server in memory, or of a version that did not remember its store outside of the folder. */
function warnOfKeysAlone(dataDir: string, log: Log): void {
  if (hadStore(dataDir) || !existsSync(join(dataDir, 'pki', 'ca.key'))) return
  log.warn({ dataDir }, 'the data directory has keys and no store: an empty store is begun. Is a volume not mounted?')
}

async function readPassword({ name, passwordFile }: EtcdLogin): Promise<string> {
  if (passwordFile === undefined) {
    const password = process.env[etcdPasswordVariable]
    if (password !== undefined) return password
    throw new StorageError(
      'invalid',
      `etcd's user ${name} needs a password: --etcd-password-file, or ${etcdPasswordVariable}`,
    )
  }
  try {
    return (await readSecretFile(passwordFile)).toString('utf8').replace(/\r?\n$/, '')
  } catch (cause) {
    if (cause instanceof OpenSecretError) throw new StorageError('invalid', cause.message, { cause })
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    const text = `can't read ${passwordFile} (${reason}): it should hold the password of etcd's user ${name}`
    throw new StorageError('invalid', text, { cause })
  }
}

async function readTls({ caFile, certFile, keyFile }: EtcdTlsFiles): Promise<Record<string, Uint8Array>> {
  const files = { ca: caFile, cert: certFile, key: keyFile }
  const read: Record<string, Uint8Array> = {}
  for (const [name, path] of Object.entries(files))
    if (path !== undefined) read[name] = await readPem(path, name === 'key')
  return read
}

async function readPem(path: string, isSecret: boolean): Promise<Uint8Array> {
  try {
    return await (isSecret ? readSecretFile(path) : readBoundedFile(path))
  } catch (cause) {
    if (cause instanceof OpenSecretError) throw cause
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    throw new Error(`can't read ${path} (${reason}): it should hold a certificate or key for etcd in PEM`, { cause })
  }
}

/** Of a data directory, from its file: also while a server runs on it. @throws StorageError */
export async function snapshotOf(dataDir: string): Promise<FileSnapshot> {
  const { openSnapshot } = await import('./sqlite/snapshot.ts')
  return openSnapshot(join(dataDir, storeFolder), madePathIn(dataDir))
}

/** As above, also where it lacks its end: for what looks for what is wrong with it. @throws StorageError */
export async function snapshotToExamine(dataDir: string): Promise<FileSnapshot> {
  const { openToExamine } = await import('./sqlite/snapshot.ts')
  return openToExamine(join(dataDir, storeFolder))
}

/** Of a data directory, also while a server runs on it. undefined: they are not all kept. @throws StorageError */
export async function changesOf(dataDir: string, after: Revision, upTo?: Revision): Promise<LoggedChanges | undefined> {
  const { openChanges } = await import('./sqlite/changes.ts')
  return openChanges(join(dataDir, storeFolder), after, { upTo, madePath: madePathIn(dataDir) })
}

/** Keeps what comes after `revision` in the log, for the next backup. `sha256`: of the file that this one ends with. */
export async function markBackedUp(dataDir: string, revision: Revision, sha256: string): Promise<void> {
  const { markBackup } = await import('./sqlite/changes.ts')
  markBackup(join(dataDir, storeFolder), revision, sha256)
}

/** Of a data directory that no server runs on: what the log holds for the next backup goes with the next compaction. */
export async function forgetBackupsOf(dataDir: string): Promise<void> {
  const { forgetBackups } = await import('./sqlite/backup-mark.ts')
  forgetBackups(join(dataDir, storeFolder))
}

/** Whether a backup of this data directory ended with that file. */
export async function isBackedUp(dataDir: string, sha256: string): Promise<boolean> {
  const { isBackedUpIn } = await import('./sqlite/changes.ts')
  return isBackedUpIn(join(dataDir, storeFolder), sha256)
}

/** Of a data directory, also while a server runs on it. @throws StorageError */
export async function verifyDirectory(dataDir: string, report?: ReportProgress): Promise<Verification> {
  const { verifyStore } = await import('./sqlite/verify.ts')
  return verifyStore(join(dataDir, storeFolder), report, madePathIn(dataDir))
}

/** Of a data directory that no server runs on; see `rebuildIndex`. @throws StorageError */
export async function rebuildIndexOf(dataDir: string, acceptLoss: boolean): Promise<RebuiltIndex> {
  const { rebuildIndex } = await import('./sqlite/rebuild-index.ts')
  return rebuildIndex(join(dataDir, storeFolder), acceptLoss, madePathIn(dataDir))
}

/** Of a data directory that no server runs on; see `squeeze`. @throws StorageError */
export async function squeezeStore(dataDir: string): Promise<void> {
  const { squeeze } = await import('./sqlite/squeeze.ts')
  squeeze(join(dataDir, storeFolder))
}

/** See `beginAfter`. */
export async function beginStoreAfter(dataDir: string, revision: Revision): Promise<void> {
  const { beginAfter } = await import('./sqlite/snapshot.ts')
  beginAfter(join(dataDir, storeFolder), revision)
}
