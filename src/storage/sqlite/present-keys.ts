/** The index of what exists, as an opened store reads it: whole, in key order, and compared with what was written. */
import type { DatabaseSync } from 'node:sqlite'
import { endOfCommit, type Revision, type StorageError } from '../storage.ts'
import type { Meta } from './file-format.ts'
import { addPair, emptyDigest } from './live-digest.ts'
import type { LogKey } from './log-entries.ts'
import { columns } from './rows.ts'
import { damagedFile, errorOf, faultOf } from './sqlite-faults.ts'

/** Keys that are read at once: a row that is asked for alone costs twice as much. */
const step = 4096

type Damaged = (what: string) => StorageError

/** Some at a time. Nothing may be written meanwhile. @throws StorageError code=corrupt */
export function* presentKeys(
  database: DatabaseSync,
  meta: Pick<Meta, 'head' | 'live' | 'digest'>,
  path: string,
): Generator<readonly LogKey[]> {
  const damaged: Damaged = (what) => damagedFile(path, what)
  const page = database.prepare('SELECT key, revision FROM present WHERE key > ? ORDER BY key LIMIT ?')
  page.setReturnArrays(true)
  let live = 0
  let digest = emptyDigest
  try {
    for (let reached = ''; ; ) {
      const keys = page.all(reached, step).map((row) => checkedKey(row, meta, damaged))
      const last = keys.at(-1)
      if (last === undefined) break
      // Where a key is damaged, what follows it may lie before it: the same keys would be found without end.
      if (byteOrder(last[0], reached) <= 0) throw damaged(`the index is out of order at ${last[0]}`)
      for (const [key, revision] of keys) digest = addPair(digest, key, revision)
      live += keys.length
      reached = last[0]
      yield keys
    }
  } catch (error) {
    throw errorOf(faultOf(error, path))
  }
  if (live !== meta.live || digest !== meta.digest) {
    throw damaged(`the index of what exists is not what was written: ${live} keys, expected ${meta.live}`)
  }
}

/** The keys as they were before some changes: `before` has what each that was changed held then, or undefined. */
export function* keysBefore(
  pages: Iterable<readonly LogKey[]>,
  before: ReadonlyMap<string, Revision | undefined>,
): Generator<readonly LogKey[]> {
  const restored = [...before].flatMap(([key, revision]): LogKey[] => (revision === undefined ? [] : [[key, revision]]))
  restored.sort(byKey)
  for (const page of pages) {
    const last = page.at(-1) as LogKey
    const kept = page.filter(([key]) => !before.has(key))
    while (restored[0] !== undefined && byKey(restored[0], last) <= 0) kept.push(restored.shift() as LogKey)
    yield kept.sort(byKey)
  }
  if (restored.length > 0) yield restored
}

const byteOrder = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
const byKey = ([a]: LogKey, [b]: LogKey): number => byteOrder(a, b)

function checkedKey(row: unknown, { head }: Pick<Meta, 'head'>, damaged: Damaged): LogKey {
  const [key, revision] = columns(row)
  if (typeof key !== 'string' || typeof revision !== 'number') throw damaged('a key or revision is unreadable')
  if (endOfCommit(revision) > head) throw damaged(`${key} is newer than the log`)
  return [key, revision]
}
