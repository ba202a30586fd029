/**
 * Backups of one data directory in one folder: full ones, and files of what changed after each. Their names tell what
 * follows what: `full-<revision>`, `changes-<revision after which>-<revision>`, revisions with leading zeros. Each file
 * is read back as a whole before it counts.
 */
import { open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ReportProgress } from '../base/progress.ts'
import { type Encryption, encryptedMarker } from '../encryption/encryption.ts'
import { formatTime } from '../kube/time.ts'
import { changesOf, markBackedUp } from '../storage/open-storage.ts'
import { backupSource, backupTarget, lastIssued } from './backup-file.ts'
import { type KeptChange, readChangeFile, writeChangeFile } from './change-file.ts'
import { decryptedSource, encryptedTarget } from './key-entries.ts'
import { type Contents, CopyError, copyStore, type Pair, type Source } from './store-copy.ts'
import { keysInClear, keysOf, type PlaceOptions, storeSource } from './store-places.ts'

interface SetFile {
  readonly path: string
  readonly after: number | undefined
  readonly revision: number
}

export interface SetBackup {
  readonly path: string
  /** Else of what changed. */
  readonly full: boolean
  readonly revision: number
  readonly entries: number
}

/** By how much a clock may be set back and be believed. */
const clockJumpMs = 60_000
/** More than the first line of a backup. */
const headBytes = 1024

const namePattern = /^(?:full|changes-(\d{16}))-(\d{16})$/
const digits = (revision: number): string => String(revision).padStart(16, '0')

/** Ascending by revision; full ones after what ends at the same. */
async function filesOf(folder: string): Promise<readonly SetFile[]> {
  const names = (await readdir(folder)).filter((name) => namePattern.test(name))
  return names
    .map((name) => {
      const [, after, revision] = namePattern.exec(name) ?? []
      return {
        path: join(folder, name),
        after: after === undefined ? undefined : Number(after),
        revision: Number(revision),
      }
    })
    .sort((a, b) => a.revision - b.revision || (a.after ?? Infinity) - (b.after ?? Infinity))
}

export interface SetOptions extends PlaceOptions {
  /** A full one where the newest full one is older. Default: never for that alone. */
  readonly fullAfterMs?: number
  /** Called between pieces of the work, by a process that has other things to do. */
  readonly rest?: () => Promise<void>
}

/** Of what changed since the newest backup of the folder, where that can be had; else a full one. @throws CopyError */
export async function backUpInto(folder: string, dataDir: string, options: SetOptions): Promise<SetBackup> {
  const files = await filesOf(folder)
  const newest = files.at(-1)
  const full = files.findLast(({ after }) => after === undefined)
  const isDue = full === undefined || (await isOlder(full.path, options))
  const changes = newest === undefined || isDue ? undefined : await backUpChanges(folder, dataDir, newest, options)
  const done = changes ?? (await backUpWhole(folder, dataDir, options))
  try {
    // What lies between the two can be restored, too.
    if (done.full && newest !== undefined) await backUpChanges(folder, dataDir, newest, options, done.revision)
  } finally {
    await markBackedUp(dataDir, done.revision)
  }
  return done
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

async function backUpWhole(folder: string, dataDir: string, options: SetOptions): Promise<SetBackup> {
  const { encryption } = options
  const part = join(folder, 'unfinished-full')
  await rm(part, { force: true })
  const source = storeSource({ dataDir }, options)
  let path = part
  const file = await backupTarget(part, formatTime(options.clock.now()), (revision) => {
    path = join(folder, `full-${digits(revision)}`)
    return path
  })
  await using target = encryption === undefined ? file : encryptedTarget(file, encryption)
  const { revision, entries } = await copyStore(source, target, options.report ?? (() => undefined), options.rest)
  return { path, full: true, revision, entries }
}

/** undefined: not everything that changed since is kept. */
async function backUpChanges(
  folder: string,
  dataDir: string,
  newest: SetFile,
  options: SetOptions,
  upTo?: number,
): Promise<SetBackup | undefined> {
  const previous = await digestOfFile(newest, options.report)
  // Before it is read: what is committed later is not of this time.
  const time = formatTime(options.clock.now())
  using log = await changesOf(dataDir, newest.revision, upTo)
  if (log === undefined) return undefined
  if (options.encryption === undefined && log.has(encryptedMarker)) throw keysInClear(dataDir)
  const { revision } = log
  if (revision === newest.revision) return { path: newest.path, full: false, revision, entries: 0 }
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
  const { sha256, entries } = await writeChangeFile(path, head, changes())
  const read = await readChangeFile(path, (done) => tell('verifying', done))
  if (read.sha256 !== sha256) throw new CopyError(`${path} does not hold what was written`)
  return { path, full: false, revision, entries }
}

const changesAtOnce = 64

const sealed = ({ key, value }: Pair, encryption: Encryption | undefined): Pair =>
  encryption === undefined ? { key, value } : { key, value: encryption.seal(key, value) }

/** Of what a file holds, by its own last line; the whole of it is checked. */
async function digestOfFile({ path, after }: SetFile, report?: ReportProgress): Promise<string> {
  const told = (done: number): void => report?.({ doing: 'checking', done, unit: 'changes' })
  if (after !== undefined) return (await readChangeFile(path, told)).sha256
  await using contents = await backupSource(path, report).read()
  return contents.sha256
}

/** Removes what is older than the `keep` newest full backups. Answers how many files went. */
export async function forgetOld(folder: string, keep: number): Promise<number> {
  const files = await filesOf(folder)
  const oldest = files.filter(({ after }) => after === undefined).at(-keep)
  const old = oldest === undefined ? [] : files.filter(({ revision, after }) => (after ?? revision) < oldest.revision)
  for (const { path } of old) await rm(path)
  return old.length
}

/** The state of the folder's newest backup, or an earlier one: at a revision, or at a time. */
export type RestorePoint = { readonly revision: number } | { readonly timeMs: number } | undefined

export function setSource(folder: string, point: RestorePoint, options: PlaceOptions): Source {
  const source: Source = { name: folder, read: () => readSet(folder, point, options) }
  return options.encryption === undefined ? source : decryptedSource(source, options.encryption)
}

async function readSet(folder: string, point: RestorePoint, options: PlaceOptions): Promise<Contents> {
  const files = await filesOf(folder)
  const base = await baseOf(files, point)
  if (base === undefined) throw await noneBefore(folder, files)
  const contents = await backupSource(base.path, options.report).read()
  const { changed, revision, timeMs = contents.timeMs } = await changesUpTo(files, base, contents.timeMs, point)
  return {
    revision,
    ...(contents.size === undefined ? {} : { size: contents.size }),
    lastIssued: lastIssued(files.at(-1)?.revision ?? revision, timeMs, options.clock.now()),
    pairs: () => merged(contents.pairs(), changed),
    [Symbol.asyncDispose]: () => Promise.resolve(contents[Symbol.asyncDispose]()),
  }
}

async function noneBefore(folder: string, files: readonly SetFile[]): Promise<CopyError> {
  const oldest = files.find(({ after }) => after === undefined)
  if (oldest === undefined) return new CopyError(`${folder} has no full backup`)
  await using contents = await backupSource(oldest.path).read()
  const made = contents.timeMs === undefined ? '' : ` of ${formatTime(contents.timeMs)}`
  const known = `the oldest is ${oldest.path}, at revision ${oldest.revision}${made}`
  return new CopyError(`${folder} has no full backup of then or before: ${known}`)
}

/** The newest full backup that is not beyond the point. */
async function baseOf(files: readonly SetFile[], point: RestorePoint): Promise<SetFile | undefined> {
  for (const file of files.toReversed()) {
    if (file.after !== undefined) continue
    if (point === undefined || ('revision' in point && file.revision <= point.revision)) return file
    if (!('timeMs' in point)) continue
    await using contents = await backupSource(file.path).read()
    if ((contents.timeMs ?? 0) <= point.timeMs) return file
  }
  return undefined
}

interface Changed {
  /** By key: the last of its values; undefined = deleted. */
  readonly changed: ReadonlyMap<string, Uint8Array | undefined>
  readonly revision: number
  /** Of the last file of changes that was read; undefined: none was. */
  readonly timeMs: number | undefined
}

/** @throws CopyError where a file is missing in between, or the point lies beyond what is there */
async function changesUpTo(
  files: readonly SetFile[],
  base: SetFile,
  baseMs: number | undefined,
  point: RestorePoint,
): Promise<Changed> {
  const changed = new Map<string, Uint8Array | undefined>()
  let previous = await digestOfFile(base)
  let end = base.revision
  let revision = base.revision
  let timeMs: number | undefined
  const isWithin = (change: KeptChange): boolean =>
    point === undefined ||
    ('revision' in point ? change.revision <= point.revision : change.timeMs > 0 && change.timeMs <= point.timeMs)
  for (let file = next(files, end); file !== undefined; file = next(files, end)) {
    const { head, sha256, changes } = await readChangeFile(file.path)
    if (head.after !== end || !(head.previous === previous || (await isFullOf(files, end, head.previous)))) {
      throw new CopyError(`${file.path} does not follow what is there before it`)
    }
    timeMs = Date.parse(head.time)
    for (const change of changes) {
      // Keys of the authority have no time of their own: they go with the file.
      if (change.timeMs > 0 && !isWithin(change)) return { changed, revision, timeMs }
      changed.set(change.key, change.value)
      if (change.timeMs > 0) revision = Math.max(revision, change.revision)
    }
    ;({ revision: end } = head)
    revision = end
    previous = sha256
  }
  requireKnown(files, { revision: end, timeMs: timeMs ?? baseMs ?? 0 }, point)
  return { changed, revision, timeMs }
}

/** What follows a full backup may follow the changes that end where it does, as well. */
async function isFullOf(files: readonly SetFile[], revision: number, sha256: string): Promise<boolean> {
  const full = files.find((file) => file.after === undefined && file.revision === revision)
  return full !== undefined && (await digestOfFile(full)) === sha256
}

interface End {
  readonly revision: number
  readonly timeMs: number
}

/** No later change was found, up to the end of what follows one another: then nothing is known of what came after. */
function requireKnown(files: readonly SetFile[], end: End, point: RestorePoint): void {
  const later = files.find(({ revision }) => revision > end.revision)
  if (point === undefined ? later === undefined : isBefore(point, end)) return
  const last = `revision ${end.revision}, of ${formatTime(end.timeMs)}`
  if (later === undefined) {
    throw new CopyError(`what was then is not known: the newest backup ends at ${last}, which is restored without --to`)
  }
  throw new CopyError(
    `what follows ${last}, is missing: the next is ${later.path}. Up to there it is --to ${end.revision}`,
  )
}

const isBefore = (point: Exclude<RestorePoint, undefined>, end: End): boolean =>
  'revision' in point ? point.revision <= end.revision : point.timeMs <= end.timeMs

const next = (files: readonly SetFile[], end: number): SetFile | undefined => files.find(({ after }) => after === end)

/** Ascending by key, as both are. */
async function* merged(
  pairs: AsyncIterable<Pair>,
  changed: ReadonlyMap<string, Uint8Array | undefined>,
): AsyncGenerator<Pair> {
  const changes = [...changed].map(([key, value]) => ({ key, value, bytes: Buffer.from(key) }))
  changes.sort((a, b) => Buffer.compare(a.bytes, b.bytes))
  let i = 0
  for await (const pair of pairs) {
    const bytes = Buffer.from(pair.key)
    for (let change = changes[i]; change && Buffer.compare(change.bytes, bytes) < 0; change = changes[++i]) {
      if (change.value !== undefined) yield { key: change.key, value: change.value }
    }
    if (!changed.has(pair.key)) yield pair
    else {
      const { value } = changes[i++] ?? {}
      if (value !== undefined) yield { key: pair.key, value }
    }
  }
  for (const { key, value } of changes.slice(i)) if (value !== undefined) yield { key, value }
}
