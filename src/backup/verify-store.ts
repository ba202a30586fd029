/** Whether a store is what was written, and whether its values can be opened; also while it is served. */
import { snapshotToExamine, verifyDirectory } from '../storage/open-storage.ts'
import { type Entry, isStorageError, type Revision } from '../storage/storage.ts'
import { requireWhole } from '../storage/unfinished-copy.ts'
import { type EncryptedCount, Examination, type Problem, type UnopenedEntry } from './examination.ts'
import { examineStore, openToRepair } from './examine-store.ts'
import type { PlaceOptions, StorePlace } from './store-places.ts'

/** Values that are listed; there may be as many as there are entries. */
const maxUnopened = 1000

export interface Verification {
  readonly revision: Revision
  readonly entries: number
  /** Of the log, and how many of them are from before there were checksums; absent where there is no log of ours. */
  readonly changes?: number
  readonly unsealed?: number
  /** One line each; empty: all is as it was written. */
  readonly findings: readonly string[]
  /** Of them, how many are of history alone: nothing is to be repaired; absent where there is no log of ours. */
  readonly past?: number
  /** Of the entries: how many with which key. */
  readonly encrypted: readonly EncryptedCount[]
  /** How many of the entries no key opens; undefined: no configuration was given. */
  readonly unopenedEntries?: number
  /** The first of them. */
  readonly unopened?: readonly UnopenedEntry[]
}

const toldEach = 256

/** Also while it is served. `encryption`: whether values can be opened. @throws StorageError, UnfinishedCopyError */
export async function verifyStoreAt(place: StorePlace, options: PlaceOptions): Promise<Verification> {
  const examination = new Examination(options)
  if ('dataDir' in place) return verifyDataDir(place.dataDir, options, examination)
  await using opened = await openToRepair(place, options)
  const revision = await opened.storage.currentRevision()
  const found = new Unopened(examination)
  const { entries, damaged } = await examineStore(opened.storage, examination, options, (entry, problem) =>
    found.take(entry, problem),
  )
  return { revision, entries, findings: damaged.map(({ damage }) => damage), ...found.figures() }
}

async function verifyDataDir(
  dataDir: string,
  { report }: PlaceOptions,
  examination: Examination,
): Promise<Verification> {
  await requireWhole(dataDir)
  const { encrypted, findings, ...figures } = await verifyDirectory(dataDir, report)
  const found = new Unopened(examination)
  if (encrypted === 0 && !examination.opens) return { ...figures, findings, ...found.figures() }
  const total = figures.entries
  try {
    // A pass of its own: a plugin may have to be asked.
    using snapshot = await snapshotToExamine(dataDir)
    let done = 0
    for (const entry of snapshot.entries()) {
      if (++done % toldEach === 0) report?.({ doing: 'decrypting', done, total, unit: 'entries' })
      found.take(entry, await examination.problemOf(entry))
    }
  } catch (error) {
    if (!isStorageError(error)) throw error
    return { ...figures, findings: [...findings, error.message], ...found.figures() }
  }
  return { ...figures, findings, ...found.figures() }
}

/** Keeps what is told of values that can't be opened. */
class Unopened {
  readonly #examination: Examination
  readonly #unopened: UnopenedEntry[] = []
  #entries = 0

  constructor(examination: Examination) {
    this.#examination = examination
  }

  take(entry: Entry, problem: Problem | undefined): void {
    this.#examination.count(entry)
    if (problem?.kind !== 'unopened') return
    this.#entries++
    if (this.#unopened.length < maxUnopened) this.#unopened.push(problem.unopened)
  }

  figures(): Pick<Verification, 'encrypted' | 'unopened' | 'unopenedEntries'> {
    const encrypted = this.#examination.encrypted()
    return this.#examination.opens
      ? { encrypted, unopenedEntries: this.#entries, unopened: this.#unopened }
      : { encrypted }
  }
}
