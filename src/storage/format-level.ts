/**
 * In which form values are written to a store that servers of several versions may share: the newest that all of them
 * read. Levels only name forms that an earlier version can't read:
 *
 *   0   without a checksum
 *   1   with one (`sealed-value.ts`)
 *
 * Which level was ever written is recorded in the store. A server that does not read it refuses to start. To raise it, a
 * server must have seen that all that are there can read it, and none may have come since: who comes adds one to a
 * count, and the record is written under the guard of that count.
 */
import { type Entry, type Revision, type Storage, StorageError } from './storage.ts'

/** The newest that this version reads, and writes. */
export const newestLevel = 1

const recordKey = '/borough/format-level'
const arrivalsKey = '/borough/format-arrivals'

const numberIn = (entry: Entry | undefined): number => {
  const value = Number(Buffer.from(entry?.value ?? new Uint8Array()).toString('utf8') || '0')
  return Number.isSafeInteger(value) ? value : 0
}

async function find(storage: Storage, key: string): Promise<Entry | undefined> {
  return (await storage.get(key)).entry
}

const bytesOf = (value: number): Uint8Array => Buffer.from(String(value))

/** @throws StorageError code=unavailable for a store of a later version */
export async function checkLevel(storage: Storage, name: string): Promise<void> {
  const level = numberIn(await find(storage, recordKey))
  if (level <= newestLevel) return
  throw new StorageError(
    'unavailable',
    `${name} holds values of format level ${level}, this version reads levels up to ${newestLevel}: start a later version`,
  )
}

/** From now on no server raises the level without having looked again. */
export async function announceArrival(storage: Storage): Promise<void> {
  for (;;) {
    const entry = await find(storage, arrivalsKey)
    const write = {
      key: arrivalsKey,
      value: bytesOf(numberIn(entry) + 1),
      expect: entry?.revision ?? 'absent',
    } as const
    if ((await storage.commit({ guards: [], writes: [write] }).done).ok) return
  }
}

/** What `raiseLevel` is guarded by: to be asked for before it is looked who is there. */
export async function arrivalsAt(storage: Storage): Promise<Revision | 'absent'> {
  return (await find(storage, arrivalsKey))?.revision ?? 'absent'
}

/** False: another server came meanwhile, or raised it; look again. */
export async function raiseLevel(storage: Storage, level: number, arrivals: Revision | 'absent'): Promise<boolean> {
  const entry = await find(storage, recordKey)
  if (numberIn(entry) >= level) return true
  const guards = [{ key: arrivalsKey, expect: arrivals }]
  const writes = [{ key: recordKey, value: bytesOf(level), expect: entry?.revision ?? ('absent' as const) }]
  return (await storage.commit({ guards, writes }).done).ok
}
