/** A store as a command opens it to look for what is wrong: every entry that exists, with its problem. */
import { openDataDir } from '../datadir/data-dir.ts'
import { levelDamage, levelKey } from '../storage/format-level.ts'
import { hadStore } from '../storage/open-storage.ts'
import { openStorageToRepair } from '../storage/served-storage.ts'
import { type Entry, prefixSpan, type Revision, type Storage } from '../storage/storage.ts'
import type { Examination, Problem } from './examination.ts'
import { CopyError } from './store-copy.ts'
import type { PlaceOptions, StorePlace } from './store-places.ts'

const everything = prefixSpan('/')
const pageLength = 1000
const toldEach = 256

export interface FoundDamage {
  readonly key: string
  readonly revision: Revision
  /** One line. */
  readonly damage: string
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

/** All that exists, with what is wrong with each; and the record of the format, where there is something with that. */
export async function examineStore(
  storage: Storage,
  examination: Examination,
  { report }: PlaceOptions,
  each: (entry: Entry, problem: Problem | undefined) => Promise<void> | void,
): Promise<{ readonly entries: number; readonly damaged: readonly FoundDamage[] }> {
  const damaged: FoundDamage[] = []
  let entries = 0
  const total = report && (await storage.count?.(everything))
  const known = total === undefined ? {} : { total }
  for await (const entry of entriesOf(storage)) {
    if (++entries % toldEach === 0) report?.({ doing: 'verifying', done: entries, unit: 'entries', ...known })
    const { key, revision } = entry
    const problem = await examination.problemOf(entry)
    if (problem?.kind === 'damaged') damaged.push({ key, revision, damage: problem.damage })
    await each(entry, problem)
  }
  const unknown = await levelDamage(storage)
  if (unknown !== undefined && !damaged.some(({ key }) => key === levelKey)) {
    const { damage, record } = unknown
    damaged.push({ key: levelKey, revision: record?.revision ?? 0, damage })
  }
  return { entries, damaged }
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
