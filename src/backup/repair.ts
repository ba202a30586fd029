/**
 * Whether a store is what was written, and what can be done about entries whose stored value is damaged. Nothing is
 * done that the operator did not choose.
 */
import { stat } from 'node:fs/promises'
import { openDataDir } from '../datadir/data-dir.ts'
import { levelDamage, levelKey, levelRemoval, recordDamage } from '../storage/format-level.ts'
import { hadStore, rebuildIndexOf, verifyDirectory } from '../storage/open-storage.ts'
import { openStorageToRepair } from '../storage/served-storage.ts'
import {
  type Entry,
  isStorageError,
  positionsPerCommit,
  prefixSpan,
  type Revision,
  type Storage,
} from '../storage/storage.ts'
import { backupSource } from './backup-file.ts'
import { setSource } from './backup-set.ts'
import { CopyError } from './store-copy.ts'
import type { PlaceOptions, StorePlace } from './store-places.ts'

export type Remedy = 'previous' | 'backup' | 'removal'

export interface DamagedEntry {
  readonly key: string
  readonly revision: Revision
  /** One line. */
  readonly damage: string
  /** Of the version before this one, where it is still known and sound. */
  readonly previous: Revision | undefined
  /** A backup was named, and has the key. */
  readonly inBackup: boolean
}

const everything = prefixSpan('/')
const pageLength = 1000

export interface Verification {
  readonly revision: Revision
  readonly entries: number
  /** Of the log, and how many of them are from before there were checksums; absent where there is no log of ours. */
  readonly changes?: number
  readonly unsealed?: number
  /** One line each; empty: all is as it was written. */
  readonly findings: readonly string[]
}

/** `backup`: a file of `borough backup` to look into, or a folder of them: what its newest one holds. */
export interface RepairOptions extends PlaceOptions {
  readonly backup?: string
}

/** Also while it is served. @throws StorageError, UnfinishedCopyError */
export async function verifyStoreAt(place: StorePlace, options: PlaceOptions): Promise<Verification> {
  if ('dataDir' in place) return verifyDirectory(place.dataDir, options.report)
  await using opened = await openToRepair(place, options)
  const revision = await opened.storage.currentRevision()
  const { entries, damaged } = await damagedEntries(opened.storage, options)
  return { revision, entries, findings: damaged.map(({ damage }) => damage) }
}

export async function damagedAt(place: StorePlace, options: RepairOptions): Promise<readonly DamagedEntry[]> {
  await using opened = await openToRepair(place, options)
  return (await damagedEntries(opened.storage, options)).damaged
}

/** Answers the revision of what it wrote. */
export async function repairAt(
  place: StorePlace,
  options: RepairOptions,
  key: string,
  remedy: Remedy,
): Promise<Revision> {
  await using opened = await openToRepair(place, options)
  return await repairEntry(opened.storage, key, remedy, options)
}

/** Of a data directory that no server runs on. `acceptLoss`: of what is left. */
export async function rebuildIndexAt(
  dataDir: string,
  acceptLoss = false,
): Promise<{ readonly entries: number; readonly revision: Revision }> {
  await using _ = await openDataDir(dataDir)
  return await rebuildIndexOf(dataDir, acceptLoss)
}

/** A data directory is locked; an etcd may be served meanwhile. */
export async function openToRepair(
  place: StorePlace,
  options: PlaceOptions,
): Promise<AsyncDisposable & { readonly storage: Storage }> {
  await using opening = new AsyncDisposableStack()
  if ('dataDir' in place) {
    if (!hadStore(place.dataDir)) throw new CopyError(`${place.dataDir} has no store`)
    opening.use(await openDataDir(place.dataDir))
  }
  const choice = 'dataDir' in place ? ({ storage: { engine: 'sqlite' }, ...place } as const) : { storage: place.etcd }
  const storage = opening.use(await openStorageToRepair({ ...options, ...choice }))
  const opened = opening.move()
  return { storage, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

const toldEach = 256

async function damagedEntries(
  storage: Storage,
  options: RepairOptions,
): Promise<{ readonly entries: number; readonly damaged: readonly DamagedEntry[] }> {
  const { backup, report } = options
  const damaged: DamagedEntry[] = []
  let entries = 0
  const kept = new Set(backup === undefined ? [] : (await pairsOf(backup, options)).keys())
  const total = report && (await storage.count?.(everything))
  const known = total === undefined ? {} : { total }
  for await (const { key, revision, value } of entriesOf(storage)) {
    if (++entries % toldEach === 0) report?.({ doing: 'verifying', done: entries, unit: 'entries', ...known })
    const damage = recordDamage({ key, revision, value })
    if (damage === undefined) continue
    const previous = (await versionBefore(storage, key, revision))?.revision
    damaged.push({ key, revision, damage, previous, inBackup: kept.has(key) })
  }
  const unknown = await levelDamage(storage)
  if (unknown !== undefined && !damaged.some(({ key }) => key === levelKey)) {
    const { damage, record } = unknown
    const previous = record && (await versionBefore(storage, levelKey, record.revision))?.revision
    damaged.push({ key: levelKey, revision: record?.revision ?? 0, damage, previous, inBackup: kept.has(levelKey) })
  }
  return { entries, damaged }
}

/** @throws CopyError where the remedy is not to be had, or another writer came first */
async function repairEntry(storage: Storage, key: string, remedy: Remedy, options: RepairOptions): Promise<Revision> {
  const { entry } = await storage.get(key)
  const isLevel = key === levelKey && (await levelDamage(storage)) !== undefined
  if (entry === undefined && !isLevel) throw new CopyError(`${key} does not exist`)
  if (entry !== undefined && !isLevel && recordDamage(entry) === undefined) throw new CopyError(`${key} is not damaged`)
  const expect = entry?.revision ?? ('absent' as const)
  const found = entry ?? { key, revision: 0 }
  const writes =
    remedy === 'removal' && isLevel
      ? await levelRemoval(storage)
      : [{ key, value: remedy === 'removal' ? undefined : await soundValue(storage, found, remedy, options), expect }]
  const commit = await storage.commit({ guards: [], writes }).done
  if (!commit.ok) throw new CopyError(`${key} was written meanwhile: look again`)
  return commit.revision
}

async function soundValue(
  storage: Storage,
  { key, revision }: Pick<Entry, 'key' | 'revision'>,
  remedy: 'previous' | 'backup',
  options: RepairOptions,
): Promise<Uint8Array> {
  const { backup } = options
  const value =
    remedy === 'previous'
      ? (await versionBefore(storage, key, revision))?.value
      : backup === undefined
        ? undefined
        : (await pairsOf(backup, options)).get(key)
  if (value !== undefined) return value
  throw new CopyError(
    remedy === 'previous'
      ? `the version of ${key} before revision ${revision} is not known any more, or damaged too`
      : `${backup ?? 'no backup'} does not have ${key}`,
  )
}

async function versionBefore(storage: Storage, key: string, revision: Revision): Promise<Entry | undefined> {
  if (revision === 0) return undefined
  try {
    const { entry } = await storage.get(key, { at: revision - positionsPerCommit })
    return entry === undefined || recordDamage(entry) !== undefined ? undefined : entry
  } catch (error) {
    if (isStorageError(error, 'compacted') || isStorageError(error, 'corrupt') || isStorageError(error, 'damaged')) {
      return undefined
    }
    throw error
  }
}

async function* entriesOf(storage: Storage): AsyncGenerator<Entry> {
  const first = await storage.range(everything, { limit: pageLength })
  for (let page = first; ; ) {
    yield* page.entries
    const last = page.entries.at(-1)
    if (!page.more || last === undefined) return
    const rest = { start: `${last.key}\0`, end: everything.end }
    page = await storage.range(rest, { at: first.revision, limit: pageLength })
  }
}

/** Their bytes as they lie there: what is encrypted in the store is so in its backup. */
async function pairsOf(path: string, { clock, log }: PlaceOptions): Promise<ReadonlyMap<string, Uint8Array>> {
  const isFolder = (await stat(path)).isDirectory()
  const source = isFolder ? setSource(path, undefined, { clock, log }) : backupSource(path)
  await using contents = await source.read()
  const pairs = new Map<string, Uint8Array>()
  for await (const { key, value } of contents.pairs()) pairs.set(key, value)
  return pairs
}
