/**
 * Backups of one data directory in one folder: full ones, and files of what changed after each. Their names tell what
 * follows what: `full-<revision>`, `changes-<revision after which>-<revision>`, revisions with leading zeros. Each file
 * is read back as a whole before it counts.
 */
import { existsSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { lockBackups } from '../datadir/data-dir.ts'
import { type Encryption, encryptedMarker } from '../encryption/encryption.ts'
import { formatTime } from '../kube/time.ts'
import { changesOf, isBackedUp, markBackedUp, snapshotOf } from '../storage/open-storage.ts'
import { isStorageError } from '../storage/storage.ts'
import { checkDirectory } from '../storage/unfinished-copy.ts'
import { backupTarget, endOf } from './backup-file.ts'
import { type KeptChange, readChangeFile, writeChangeFile } from './change-file.ts'
import { encryptedTarget } from './key-entries.ts'
import { digestOfFile, digits, filesOf, freshPart, type SetFile } from './set-files.ts'
import { CopyError, copyStore, type Pair } from './store-copy.ts'
import { keysInClear, keysOf, type PlaceOptions, storeSource } from './store-places.ts'

export interface SetBackup {
  readonly path: string
  /** Else of what changed. */
  readonly full: boolean
  readonly revision: number
  readonly entries: number
}

interface Written extends SetBackup {
  /** Of the file, as its last line has it. */
  readonly sha256: string
}

/** By how much a clock may be set back and be believed. */
const clockJumpMs = 60_000
/** More than the first line of a backup. */
const headBytes = 1024

export interface SetOptions extends PlaceOptions {
  /** A full one where the newest full one is older. Default: never for that alone. */
  readonly fullAfterMs?: number
  /** Called between pieces of the work, by a process that has other things to do. */
  readonly rest?: () => Promise<void>
}

/**
 * Of what changed since the newest backup of the folder, where that is of this store and can be had; else a full one.
 *
 * @throws CopyError, DataDirBusyError where another one is under way
 */
export async function backUpInto(folder: string, dataDir: string, options: SetOptions): Promise<SetBackup> {
  using _ = await lockBackups(dataDir)
  const { sha256: _digest, ...done } = await writeInto(folder, dataDir, options)
  return done
}

async function writeInto(folder: string, dataDir: string, given: SetOptions): Promise<Written> {
  await checkDirectory(dataDir)
  const options = { ...given, part: await freshPart(folder, await storeIdOf(dataDir)) }
  const files = await filesOf(folder)
  const newest = files.at(-1)
  const full = files.findLast(({ after }) => after === undefined)
  const isDue = full === undefined || (await isOlder(full.path, options))
  const changes = newest === undefined || isDue ? undefined : await backUpChanges(folder, dataDir, newest, options)
  if (changes === undefined && newest !== undefined) await requireAhead(dataDir, newest)
  const done = changes ?? (await backUpWhole(folder, dataDir, options))
  try {
    // What lies between the two can be restored, too.
    if (done.full && newest !== undefined) await backUpChanges(folder, dataDir, newest, options, done.revision)
  } finally {
    await markBackedUp(dataDir, done.revision, done.sha256)
  }
  return done
}

/**
 * The newest of a folder is what has the highest revision: what is behind it would not be restored, and be the first to
 * be forgotten.
 *
 * @throws CopyError
 */
async function requireAhead(dataDir: string, { path, revision }: SetFile): Promise<void> {
  using snapshot = await snapshotOf(dataDir)
  if (revision <= snapshot.revision) return
  const both = `${path} ends at revision ${revision}, and ${dataDir} is at ${snapshot.revision}`
  const what = 'that is of another store, or this one is an older copy of it'
  throw new CopyError(`${both}: ${what}. Back up into a folder of its own`)
}

/** One of the future is of a clock that was set back since, and tells nothing of its age: it counts as old. */
async function isOlder(path: string, { fullAfterMs, clock }: SetOptions): Promise<boolean> {
  if (fullAfterMs === undefined) return false
  const ageMs = clock.now() - (await timeOf(path))
  return ageMs >= fullAfterMs || ageMs < -clockJumpMs
}

/** When it was begun, by the clock of what made it; that of the file where it does not tell. */
async function timeOf(path: string): Promise<number> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
    const [, time = ''] = /^\{[^\n]*"time":"([^"\n]*)"/.exec(buffer.toString('utf8', 0, bytesRead)) ?? []
    const timeMs = Date.parse(time)
    return Number.isNaN(timeMs) ? (await file.stat()).mtimeMs : timeMs
  } finally {
    await file.close()
  }
}

interface WriteOptions extends SetOptions {
  /** Where a file is made, without `.part`. */
  readonly part: string
}

async function storeIdOf(dataDir: string): Promise<string | undefined> {
  using snapshot = await snapshotOf(dataDir)
  return snapshot.storeId
}

async function backUpWhole(folder: string, dataDir: string, options: WriteOptions): Promise<Written> {
  const { encryption, part } = options
  const source = storeSource({ dataDir }, options)
  let path = part
  const file = await backupTarget(part, options.clock, async (revision, sha256) => {
    path = join(folder, `full-${digits(revision)}`)
    await requireOwn(path, dataDir, sha256)
    return path
  })
  await using target = encryption === undefined ? file : encryptedTarget(file, encryption)
  const report = options.report ?? (() => undefined)
  const { revision, entries } = await copyStore(source, target, report, options.rest)
  // Its own: where keys are encrypted, another one than that of the copy, which is over them in clear.
  const { sha256 = '' } = (await endOf(path)) ?? {}
  return { path, full: true, revision, entries, sha256 }
}

/** What is there may be the only backup of another store. @throws CopyError */
async function requireOwn(path: string, dataDir: string, sha256: string): Promise<void> {
  if (!existsSync(path)) return
  const found = (await endOf(path))?.sha256
  if (found === sha256 || (found !== undefined && (await isBackedUp(dataDir, found)))) return
  const what = 'it is of another store, or from before a repair of this one'
  throw new CopyError(
    `${path} is there already, and not known to be of ${dataDir}: ${what}. Back up into a folder of its own`,
  )
}

/** undefined: not all that changed since is kept and sound, or the newest one is damaged or no backup of this store. */
async function backUpChanges(
  folder: string,
  dataDir: string,
  newest: SetFile,
  options: WriteOptions,
  upTo?: number,
): Promise<Written | undefined> {
  const previous = await digestOfFile(newest, options.report).catch((error: unknown) => {
    if (!(error instanceof CopyError)) throw error
    options.log.warn({ error, path: newest.path }, 'the newest backup is damaged: one of everything is made')
  })
  if (previous === undefined || !(await isBackedUp(dataDir, previous))) return undefined
  // Before it is read: what is committed later is not of this time.
  const time = formatTime(options.clock.now())
  using log = await changesOf(dataDir, newest.revision, upTo)
  if (log === undefined) return undefined
  if (options.encryption === undefined && log.has(encryptedMarker)) throw keysInClear(dataDir)
  const { revision } = log
  if (revision === newest.revision) return { path: newest.path, full: false, revision, entries: 0, sha256: previous }
  const keys = (await keysOf(dataDir)).map((pair) => sealed(pair, options.encryption))
  const total = keys.length + log.size
  const tell = (doing: string, done: number): void => options.report?.({ doing, done, total, unit: 'changes' })
  async function* changes(): AsyncGenerator<KeptChange> {
    for (const { key, value } of keys) yield { key, value, revision, timeMs: 0 }
    let since = 0
    for (const change of log?.changes() ?? []) {
      yield change
      if (++since % changesAtOnce !== 0) continue
      tell('copying', keys.length + since)
      await options.rest?.()
    }
  }
  const head = { after: newest.revision, previous, revision, time }
  const path = join(folder, `changes-${digits(newest.revision)}-${digits(revision)}`)
  const written = await writeChangeFile(path, head, changes(), `${options.part}.part`).catch(unlessDamaged)
  if (written === undefined) return undefined
  const { sha256, entries } = written
  const read = await readChangeFile(path, (done) => tell('verifying', done))
  if (read.sha256 !== sha256) throw new CopyError(`${path} does not hold what was written`)
  return { path, full: false, revision, entries, sha256 }
}

const changesAtOnce = 64

/** A change may be damaged that was repaired since: everything that exists can be had, or names what can't. */
function unlessDamaged(error: unknown): undefined {
  if (!isStorageError(error, 'damaged') && !isStorageError(error, 'corrupt')) throw error
}

const sealed = ({ key, value }: Pair, encryption: Encryption | undefined): Pair =>
  encryption === undefined ? { key, value } : { key, value: encryption.seal(key, value) }

/** Removes what is older than the `keep` newest full backups. Answers how many files went. */
export async function forgetOld(folder: string, keep: number): Promise<number> {
  const files = await filesOf(folder)
  const oldest = files.filter(({ after }) => after === undefined).at(-keep)
  const old = oldest === undefined ? [] : files.filter(({ revision, after }) => (after ?? revision) < oldest.revision)
  for (const { path } of old) await rm(path)
  return old.length
}
