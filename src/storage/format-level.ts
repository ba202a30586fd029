/**
 * In which form values are written to a store that servers of several versions may share: the newest that all of them
 * read. Levels only name forms that an earlier version can't read:
 *
 *   0   without a checksum
 *   1   with one (`sealed-value.ts`)
 *
 * Which level was ever written is recorded in the store. A server that does not read it refuses to start. To raise it,
 * a server must have seen that all that are there can read it, and none may have come since: who comes adds one to a
 * count, and the record is written under the guard of that count.
 *
 * The count says too that there is a record, and the least that it can say: a record that is gone, or is not what was
 * written, is damage. It is never taken for the store of an earlier version, and never written over.
 */
import { parseJsonText } from '../base/parse-json-text.ts'
import { damageOf } from './damaged-value.ts'
import { type Entry, prefixSpan, type Revision, type Storage, StorageError, type Write } from './storage.ts'

/** The newest that this version reads, and writes. */
export const newestLevel = 1

const records = '/borough/format-'
export const levelKey: string = `${records}level`
const arrivalsKey = `${records}arrivals`

/** Engines write these with their checksum whatever the level: all versions that read them can read that. */
export const isFormatRecord = (key: string): boolean => key.startsWith(records)

/** What both records say together. */
interface FormatRecords {
  readonly record: Entry | undefined
  readonly arrivals: Entry | undefined
  /** Of servers that came. */
  readonly count: number
  readonly level: number
  /** Why the level is not known; one line. */
  readonly damage: string | undefined
}

/** `level`: of the record when the last server came; undefined: a version before this one wrote the count alone. */
interface Arrivals {
  readonly count: number
  readonly level?: number | undefined
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/** undefined: it is neither form. */
function parseArrivals(value: Uint8Array): Arrivals | undefined {
  try {
    const parsed: unknown = parseJsonText(Buffer.from(value).toString('utf8'))
    if (isCount(parsed)) return { count: parsed }
    const { count, level } = parsed as Partial<Arrivals>
    return isCount(count) && isCount(level) ? { count, level } : undefined
  } catch {
    return undefined
  }
}

const decimal = /^(?:0|[1-9]\d{0,8})$/

/** What is wrong with an entry of the record by itself; undefined: nothing. One line. */
export function recordDamage({ key, revision, value }: Entry): string | undefined {
  const damage = damageOf(value)
  if (damage !== undefined || key !== levelKey) return damage
  if (decimal.test(Buffer.from(value).toString('utf8'))) return undefined
  return damaged({ key, revision }, 'it is no format level')
}

const damaged = ({ key, revision }: Pick<Entry, 'key' | 'revision'>, what: string): string =>
  `the stored value of ${key} at revision ${revision} is damaged: ${what}`

async function read(storage: Pick<Storage, 'range'>): Promise<FormatRecords> {
  // One read: the count never tells of a record that is not there yet.
  const { entries } = await storage.range(prefixSpan(records))
  const record = entries.find(({ key }) => key === levelKey)
  const arrivals = entries.find(({ key }) => key === arrivalsKey)
  const came = arrivals === undefined ? { count: 0 } : parseArrivals(arrivals.value)
  const parts = { record, arrivals, count: came?.count ?? 0 }
  if (record !== undefined) {
    const damage = recordDamage(record)
    if (damage !== undefined) return { ...parts, level: 0, damage }
    const level = Number(Buffer.from(record.value).toString('utf8'))
    const least = came?.level ?? 0
    if (level >= least) return { ...parts, level, damage: undefined }
    return { ...parts, level, damage: damaged(record, `it says level ${level}, and was ${least} before`) }
  }
  if (came !== undefined && came.level === undefined) return { ...parts, level: 0, damage: undefined }
  return { ...parts, level: 0, damage: `${levelKey} is missing: in which form values were written is not known` }
}

async function readSound(storage: Pick<Storage, 'range'>): Promise<FormatRecords> {
  const found = await read(storage)
  if (found.damage !== undefined) throw new StorageError('damaged', `${found.damage}; see 'borough storage repair'`)
  return found
}

/** Why the level is not known, in one line, and where the record lies; undefined: all is well. */
export async function levelDamage(
  storage: Pick<Storage, 'range'>,
): Promise<{ readonly damage: string; readonly record: Entry | undefined } | undefined> {
  const { damage, record } = await read(storage)
  return damage === undefined ? undefined : { damage, record }
}

/** Servers agree anew, as on a store that has no record yet. */
export async function levelRemoval(storage: Pick<Storage, 'range'>): Promise<readonly Write[]> {
  const { record, arrivals } = await read(storage)
  return [record, arrivals].flatMap((entry) =>
    entry === undefined ? [] : [{ key: entry.key, value: undefined, expect: entry.revision }],
  )
}

/** @throws StorageError code=unavailable for a store of a later version; code=damaged where that can't be known */
export async function checkLevel(storage: Storage, name: string): Promise<void> {
  const { level, damage } = await read(storage)
  if (damage !== undefined) throw new StorageError('damaged', `${name}: ${damage}; see 'borough storage repair'`)
  checkReadable(level, name)
}

/**
 * As `checkLevel`, for what repairs: a damaged record is no obstacle. What was recorded is written: all that may serve
 * the store can read it.
 */
export async function checkKnownLevel(storage: Storage, name: string): Promise<void> {
  const { level, damage } = await read(storage)
  if (damage !== undefined) return
  checkReadable(level, name)
  if (level > 0) storage.writeLevel?.(level)
}

function checkReadable(level: number, name: string): void {
  if (level <= newestLevel) return
  throw new StorageError(
    'unavailable',
    `${name} holds values of format level ${level}, this version reads levels up to ${newestLevel}: ` +
      'start a later version',
  )
}

const bytesOf = (value: number): Uint8Array => Buffer.from(String(value))

/** From now on no server raises the level without having looked again. @throws StorageError code=damaged */
export async function announceArrival(storage: Storage): Promise<void> {
  for (;;) {
    const { record, arrivals, count, level } = await readSound(storage)
    const came: Arrivals = { count: count + 1, level }
    const writes: readonly Write[] = [
      { key: arrivalsKey, value: Buffer.from(JSON.stringify(came)), expect: arrivals?.revision ?? 'absent' },
      // Written again where it is there: it may be without a checksum.
      { key: levelKey, value: bytesOf(level), expect: record?.revision ?? 'absent' },
    ]
    if ((await storage.commit({ guards: [], writes }).done).ok) return
  }
}

/**
 * Of a store that no server has served: everything that it is filled with is written in the newest form. Servers of a
 * version that does not read that refuse it.
 *
 * @throws StorageError
 */
export async function beginAtNewestLevel(storage: Storage): Promise<void> {
  const writes = [{ key: levelKey, value: bytesOf(newestLevel), expect: 'absent' as const }]
  const commit = await storage.commit({ guards: [], writes }).done
  if (!commit.ok) throw new StorageError('unavailable', `${levelKey} was written meanwhile`)
  storage.writeLevel?.(newestLevel)
}

/** What `raiseLevel` is guarded by: to be asked for before it is looked who is there. */
export async function arrivalsAt(storage: Storage): Promise<Revision | 'absent'> {
  return (await storage.get(arrivalsKey)).entry?.revision ?? 'absent'
}

/**
 * False: another server came meanwhile, or raised it; look again.
 *
 * @throws StorageError code=damaged
 */
export async function raiseLevel(storage: Storage, level: number, arrivals: Revision | 'absent'): Promise<boolean> {
  const { record, level: recorded } = await readSound(storage)
  if (recorded >= level) return true
  const guards = [{ key: arrivalsKey, expect: arrivals }]
  const writes = [{ key: levelKey, value: bytesOf(level), expect: record?.revision ?? ('absent' as const) }]
  return (await storage.commit({ guards, writes }).done).ok
}
