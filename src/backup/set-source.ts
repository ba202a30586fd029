/** A folder of backups, read at one moment: its full backup of then or before, and what changed up to it. */
import { formatTime } from '../kube/time.ts'
import { endOfCommit } from '../storage/storage.ts'
import { backupSource, lastIssued } from './backup-file.ts'
import { type KeptChange, readChangeFile } from './change-file.ts'
import { decryptedSource } from './key-entries.ts'
import { requireOnce } from './repeated-time.ts'
import { digestOfFile, filesOf, type SetFile } from './set-files.ts'
import { type Contents, CopyError, type Pair, type Source } from './store-copy.ts'
import type { PlaceOptions } from './store-places.ts'

/** The state of the folder's newest backup, or an earlier one: at a revision, or at a time. */
export type RestorePoint = { readonly revision: number } | { readonly timeMs: number } | undefined

export function setSource(folder: string, point: RestorePoint, options: PlaceOptions): Source {
  const source: Source = { name: folder, read: () => readSet(folder, point, options) }
  return options.encryption === undefined ? source : decryptedSource(source, options.encryption)
}

async function readSet(folder: string, to: RestorePoint, options: PlaceOptions): Promise<Contents> {
  const files = await filesOf(folder)
  // A resourceVersion may be that of one change among others of its commit, and a store never held a part of one.
  const point = to !== undefined && 'revision' in to ? { revision: endOfCommit(to.revision) } : to
  const base = await baseOf(files, point)
  if (base === undefined) throw await noneBefore(folder, files)
  const contents = await backupSource(base.path, options.report).read()
  if (contents.revision !== base.revision) {
    await contents[Symbol.asyncDispose]()
    throw new CopyError(`${base.path} is of revision ${contents.revision}, not of the one that its name says`)
  }
  const { changed, revision, timeMs = contents.timeMs } = await changesUpTo(files, base, contents.timeMs, point)
  if (point !== undefined && 'timeMs' in point) await requireOnce(files, point.timeMs, revision)
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
  // The first whole second that it can be restored for.
  const made = formatTime(contents.untilMs + 999)
  const known = `the oldest is ${oldest.path}, at revision ${oldest.revision} of ${made}`
  return new CopyError(`${folder} has no full backup of then or before: ${known}`)
}

/** The newest full backup that is not beyond the point. */
async function baseOf(files: readonly SetFile[], point: RestorePoint): Promise<SetFile | undefined> {
  for (const file of files.toReversed()) {
    if (file.after !== undefined) continue
    if (point === undefined || ('revision' in point && file.revision <= point.revision)) return file
    if (!('timeMs' in point)) continue
    await using contents = await backupSource(file.path).read()
    if (contents.untilMs <= point.timeMs) return file
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
