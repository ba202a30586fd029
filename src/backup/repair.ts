/**
 * What can be done about entries whose stored value is damaged, or that no key opens. Nothing is done that the operator
 * did not choose.
 */
import { stat } from 'node:fs/promises'
import { openDataDir } from '../datadir/data-dir.ts'
import { levelDamage, levelKey, levelRemoval } from '../storage/format-level.ts'
import { rebuildIndexOf } from '../storage/open-storage.ts'
import type { Entry, Revision, Storage } from '../storage/storage.ts'
import { requireWhole } from '../storage/unfinished-copy.ts'
import { backupSource } from './backup-file.ts'
import { Examination, inOneLine, type Problem, type UnopenedEntry } from './examination.ts'
import { examineStore, openToRepair } from './examine-store.ts'
import { type RestorePoint, setSource } from './set-source.ts'
import { CopyError } from './store-copy.ts'
import type { PlaceOptions, StorePlace } from './store-places.ts'

export type Remedy = 'previous' | 'backup' | 'removal'

/** What can be done about an entry, beside removing it. */
interface Remedies {
  /** The newest version before this one that is still known, and can be read. */
  readonly previous: Revision | undefined
  /** A backup was named, and has the key, with a value that can be read. */
  readonly inBackup: boolean
}

export interface DamagedEntry extends Remedies {
  readonly key: string
  readonly revision: Revision
  /** One line. */
  readonly damage: string
}

export interface UnopenedToRepair extends UnopenedEntry, Remedies {}

export interface ToRepair {
  readonly damaged: readonly DamagedEntry[]
  /** As they were written, and no key opens them; empty where no configuration was given. */
  readonly unopened: readonly UnopenedToRepair[]
}

/** Values that are listed; there may be as many as there are entries. */
const maxUnopened = 1000

/**
 * `backup`: a file of `borough backup` to look into, or a folder of them: what its newest one holds, or what was there
 * at `point`. `encryption`: values that it can't open are looked for, and none of them is a remedy.
 */
export interface RepairOptions extends PlaceOptions {
  readonly backup?: string
  readonly point?: RestorePoint
}

export async function damagedAt(place: StorePlace, options: RepairOptions): Promise<ToRepair> {
  await using opened = await openToRepair(place, options)
  const { storage } = opened
  const examination = new Examination(options)
  const kept = options.backup === undefined ? new Map<string, Uint8Array>() : await pairsOf(options.backup, options)
  const unopened: UnopenedToRepair[] = []
  const remediesFor = async ({ key, revision }: Pick<Entry, 'key' | 'revision'>): Promise<Remedies> => ({
    previous: (await examination.versionBefore(storage, key, revision))?.revision,
    inBackup: (await soundIn(kept, key, examination)) !== undefined,
  })
  const { damaged } = await examineStore(storage, examination, options, async (entry, problem) => {
    if (problem?.kind !== 'unopened' || unopened.length === maxUnopened) return
    unopened.push({ ...problem.unopened, ...(await remediesFor(entry)) })
  })
  const withRemedies: DamagedEntry[] = []
  for (const found of damaged) withRemedies.push({ ...found, ...(await remediesFor(found)) })
  return { damaged: withRemedies, unopened }
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
  await requireWhole(dataDir)
  await using _ = await openDataDir(dataDir)
  return await rebuildIndexOf(dataDir, acceptLoss)
}

/** @throws CopyError where the remedy is not to be had, or another writer came first */
async function repairEntry(storage: Storage, key: string, remedy: Remedy, options: RepairOptions): Promise<Revision> {
  const examination = new Examination(options)
  const { entry } = await storage.get(key)
  const isLevel = key === levelKey && (await levelDamage(storage)) !== undefined
  if (entry === undefined && !isLevel) throw new CopyError(`${key} does not exist`)
  if (entry !== undefined && !isLevel) requireProblem(key, await examination.problemOf(entry), examination)
  const expect = entry?.revision ?? ('absent' as const)
  const found = entry ?? { key, revision: 0 }
  const sound = remedy === 'removal' ? undefined : await soundValue(storage, found, remedy, options, examination)
  const writes = remedy === 'removal' && isLevel ? await levelRemoval(storage) : [{ key, value: sound, expect }]
  const commit = await storage.commit({ guards: [], writes }).done
  if (!commit.ok) throw new CopyError(`${key} was written meanwhile: look again`)
  return commit.revision
}

/** What would be given up must be unreadable, and not only for now. @throws CopyError */
function requireProblem(key: string, problem: Problem | undefined, { opens }: Examination): void {
  if (problem === undefined) throw new CopyError(`${key} is not damaged${opens ? ', and can be decrypted' : ''}`)
  if (problem.kind === 'damaged' || problem.unopened.needs === 'key') return
  throw new CopyError(`${inOneLine(problem.unopened)}. It is not lost: ${whatOpens(problem.unopened)}`)
}

const opening: Readonly<Record<UnopenedEntry['needs'], string>> = {
  key: 'add its key to the configuration, behind those that are there',
  plugin: 'it can be read when that plugin answers',
  identity: 'add provider identity to the configuration',
}

/** For what nothing needs to be given up. */
export const whatOpens = ({ needs }: Pick<UnopenedEntry, 'needs'>): string => opening[needs]

async function soundValue(
  storage: Storage,
  { key, revision }: Pick<Entry, 'key' | 'revision'>,
  remedy: 'previous' | 'backup',
  options: RepairOptions,
  examination: Examination,
): Promise<Uint8Array> {
  const { backup } = options
  if (remedy === 'previous') {
    const value = (await examination.versionBefore(storage, key, revision))?.value
    if (value !== undefined) return value
    const either = examination.opens ? ", damaged too, or can't be decrypted either" : ', or damaged too'
    throw new CopyError(`the version of ${key} before revision ${revision} is not known any more${either}`)
  }
  const value = backup === undefined ? undefined : await soundIn(await pairsOf(backup, options), key, examination)
  if (value !== undefined) return value
  const either = examination.opens ? ", or can't be decrypted there either" : ''
  throw new CopyError(`${backup ?? 'no backup'} does not have ${key}${either}`)
}

/** What a backup holds of a key, where it can be read. */
async function soundIn(
  pairs: ReadonlyMap<string, Uint8Array>,
  key: string,
  examination: Examination,
): Promise<Uint8Array | undefined> {
  const value = pairs.get(key)
  if (value === undefined) return undefined
  return (await examination.problemOf({ key, revision: 0, value })) === undefined ? value : undefined
}

/** Their bytes as they lie there: what is encrypted in the store is so in its backup. */
async function pairsOf(path: string, { clock, log, point }: RepairOptions): Promise<ReadonlyMap<string, Uint8Array>> {
  const isFolder = (await stat(path)).isDirectory()
  const source = isFolder ? setSource(path, point, { clock, log }) : backupSource(path)
  await using contents = await source.read()
  const pairs = new Map<string, Uint8Array>()
  for await (const { key, value } of contents.pairs()) pairs.set(key, value)
  return pairs
}
