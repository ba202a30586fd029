/**
 * What exists, read from the file at the moment it is asked for, in the main thread: nothing of it is kept in memory.
 *
 * The writer may have flushed what has not been told here yet. So every answer is as of `head`: a row that is newer, or
 * missing, is looked for among the few changes after it, and what they replaced is still in the log.
 *
 * A page of the log that is damaged concerns the values on it and no others: each is answered as a note. Where the disk
 * can't read one, the error names the first value that lies there.
 */
import { statSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { damageNote } from '../damaged-value.ts'
import type { EntryCursor, Present } from '../mvcc/present.ts'
import { type Entry, type Revision, type Span, StorageError } from '../storage.ts'
import { pragma, readMeta } from './file-format.ts'
import { HeldSnapshot } from './held-snapshot.ts'
import { openReadOnly } from './read-only.ts'
import { openRow } from './rows.ts'
import { errorOf, faultOf } from './sqlite-faults.ts'
import type { FileRoom } from './store-condition.ts'

const cacheKiB = 4096
const maxUnreadable = 100

export class FilePresent implements Present, Disposable {
  readonly #path: string
  /** Values up to this revision may lack a header. */
  readonly #sealedAfter: Revision
  readonly #head: () => Revision
  readonly #database: DatabaseSync
  readonly #byKey: StatementSync
  readonly #byRevision: StatementSync
  readonly #newer: StatementSync
  readonly #span: StatementSync
  /** The index alone. */
  readonly #revisionOf: StatementSync
  readonly #revisionsIn: StatementSync
  readonly #snapshot: HeldSnapshot
  /** What the disk could not read when it was last asked for, by key. */
  readonly #unreadable = new Map<string, string>()

  /**
   * `head`: the newest commit that was told. `broken`: from the start on, no process writes the store.
   * @throws StorageError
   */
  constructor(path: string, head: () => Revision, { broken }: { readonly broken?: string | undefined } = {}) {
    this.#path = path
    this.#head = head
    try {
      this.#database = openReadOnly(path, broken !== undefined)
      this.#sealedAfter = readMeta(this.#database, path).sealedAfter
      this.#database.exec(`PRAGMA cache_size = -${cacheKiB}`)
      this.#snapshot = new HeldSnapshot(this.#database, head)
      const statement = (sql: string): StatementSync => {
        const prepared = this.#database.prepare(sql)
        prepared.setReturnArrays(true)
        return prepared
      }
      const joined =
        'SELECT p.key, p.revision, l.key, l.value, l.header FROM present p LEFT JOIN log l ON l.revision = p.revision'
      this.#byKey = statement(`${joined} WHERE p.key = ?`)
      this.#span = statement(`${joined} WHERE p.key >= ? AND p.key < ? ORDER BY p.key`)
      this.#revisionOf = statement('SELECT key, revision FROM present WHERE key = ?')
      this.#revisionsIn = statement('SELECT key, revision FROM present WHERE key > ? AND key < ? ORDER BY key')
      this.#byRevision = statement('SELECT key, value, header FROM log WHERE revision = ?')
      this.#newer = statement('SELECT key, previous FROM log WHERE revision > ? ORDER BY revision')
    } catch (error) {
      throw errorOf(faultOf(error, path))
    }
  }

  get(key: string): Entry | undefined {
    return this.#reading(() => {
      const found = this.#find(key)
      if (found !== undefined && found.revision <= this.#head()) return found
      return this.#before().get(key)?.()
    })
  }

  /** The value that a key has, or had not long ago, at a revision; a damage note where it is not what was written. */
  valueAt(key: string, revision: Revision): Uint8Array {
    return this.#reading(() => this.#valueOf(key, revision))
  }

  collect(span: Span, limit: number): { readonly entries: readonly Entry[]; readonly more: boolean } {
    return this.walk(span, (cursor) => {
      const entries: Entry[] = []
      for (let { entry } = cursor; entry !== undefined; { entry } = cursor) {
        if (entries.length === limit) return { entries, more: true }
        entries.push(entry)
        cursor.next()
      }
      return { entries, more: false }
    })
  }

  walk<T>(span: Span, use: (cursor: EntryCursor) => T): T {
    return this.#reading(() => {
      const entries = this.#entries(span)
      try {
        let { value: entry } = entries.next()
        return use({
          get entry() {
            return entry ?? undefined
          },
          next: () => {
            entry = entries.next().value
          },
        })
      } finally {
        entries.return(undefined)
      }
    })
  }

  /** To be iterated over at once: nothing else may read a span meanwhile. */
  *entries(span: Span): Iterable<Entry> {
    try {
      this.#snapshot.hold()
      yield* this.#entries(span)
    } catch (error) {
      throw errorOf(faultOf(error, this.#path))
    }
  }

  put(
    key: string,
    _value: Uint8Array | undefined,
    _revision: Revision,
    before: Revision | undefined,
  ): Entry | undefined {
    return before === undefined ? undefined : this.entryOf(key, before)
  }

  /** Its value is read when it is asked for. */
  entryOf(key: string, revision: Revision): Entry {
    const valueAt = (): Uint8Array => this.#reading(() => this.#keptValueOf(key, revision))
    return {
      key,
      revision,
      get value() {
        return valueAt()
      },
    }
  }

  /** One line for each value. */
  unreadable(): readonly string[] {
    return [...this.#unreadable.values()]
  }

  /** With what is in the log; without it where the disk can't be read. */
  fileRoom(): FileRoom {
    try {
      const pageBytes = Number(pragma(this.#database, 'page_size'))
      const bytes = Number(pragma(this.#database, 'page_count')) * pageBytes
      return { bytes, freeBytes: Number(pragma(this.#database, 'freelist_count')) * pageBytes }
    } catch {
      return { bytes: statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0, freeBytes: 0 }
    }
  }

  [Symbol.dispose](): void {
    this.#snapshot[Symbol.dispose]()
    if (this.#database.isOpen) this.#database.close()
  }

  /** In key order, as of the head. */
  *#entries({ start, end }: Span): Generator<Entry, undefined> {
    const restored = [...this.#before(start, end)].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    const changed = new Set(restored.map(([key]) => key))
    let next = 0
    for (const row of this.#rows(start, end)) {
      if (changed.has(row.key)) continue
      for (; next < restored.length && isBefore(restored[next]?.[0] ?? '', row.key); next++) {
        const entry = restored[next]?.[1]()
        if (entry !== undefined) yield entry
      }
      yield row
    }
    for (; next < restored.length; next++) {
      const entry = restored[next]?.[1]()
      if (entry !== undefined) yield entry
    }
    return undefined
  }

  #find(key: string): Entry | undefined {
    try {
      const columns = this.#byKey.get(key)
      return columns && this.#checked(columns)
    } catch (error) {
      if (!concernsPages(error, this.#path)) throw error
      const columns = this.#revisionOf.get(key)
      return columns && this.#indexed(columns)
    }
  }

  /** In key order, as the file has them. */
  *#rows(start: string, end: string): Generator<Entry, undefined> {
    let last: string | undefined
    try {
      for (const columns of this.#span.iterate(start, end)) {
        const row = this.#checked(columns)
        last = row.key
        yield row
      }
    } catch (error) {
      if (!concernsPages(error, this.#path)) throw error
      if (last === undefined) {
        const first = this.#revisionOf.get(start)
        if (first !== undefined) yield this.#indexed(first)
      }
      for (const columns of this.#revisionsIn.iterate(last ?? start, end)) yield this.#indexed(columns)
    }
    return undefined
  }

  /** Of a row of the index: its value is looked for by itself. */
  #indexed(columns: unknown): Entry {
    const [key, revision] = columnsOf(columns)
    if (typeof key !== 'string' || typeof revision !== 'number') throw this.#damaged('a key or revision is unreadable')
    return { key, revision, value: this.#valueOf(key, revision) }
  }

  /** Of each key that has changed after the head: what it held there. */
  #before(start = '', end?: string): Map<string, () => Entry | undefined> {
    const before = new Map<string, () => Entry | undefined>()
    for (const columns of this.#newerRows()) {
      const [key, previous] = columns as unknown as readonly [string, Revision | null]
      if (before.has(key) || isBefore(key, start) || (end !== undefined && !isBefore(key, end))) continue
      before.set(key, () =>
        previous === null ? undefined : { key, revision: previous, value: this.#valueOf(key, previous) },
      )
    }
    return before
  }

  /** Where the end of the log can't be read, `meta` tells whether there is anything to be told. */
  #newerRows(): readonly unknown[] {
    try {
      return this.#newer.all(this.#head())
    } catch (error) {
      if (concernsPages(error, this.#path) && readMeta(this.#database, this.#path).head <= this.#head()) return []
      throw error
    }
  }

  #valueOf(key: string, revision: Revision): Uint8Array {
    let row: unknown
    try {
      row = this.#byRevision.get(revision)
    } catch (error) {
      const { code, message } = faultOf(error, this.#path)
      const place = `the stored value of ${key} at revision ${revision}`
      if (code !== 'corrupt') {
        const fault = new StorageError('damaged', `${place} can't be read: ${message}`, { cause: error })
        if (this.#unreadable.size < maxUnreadable) this.#unreadable.set(key, fault.message)
        throw fault
      }
      return damageNote(`${place} is damaged: ${message}`)
    }
    if (this.#unreadable.size > 0) this.#unreadable.delete(key)
    // A row that is missing is told as one that has nothing.
    const [logKey = null, value = null, header = null] = columnsOf(row)
    return openRow({ key, revision, logKey, value, header }, this.#sealedAfter)
  }

  /** Of what was replaced: a compaction may have swept it away. */
  #keptValueOf(key: string, revision: Revision): Uint8Array {
    if (this.#byRevision.get(revision) !== undefined) return this.#valueOf(key, revision)
    throw new StorageError('compacted', `what ${key} was at revision ${revision} is compacted`)
  }

  #checked(row: unknown): Entry {
    const [key, revision, logKey, value, header] = columnsOf(row)
    if (typeof key !== 'string' || typeof revision !== 'number') throw this.#damaged('a key or revision is unreadable')
    return { key, revision, value: openRow({ key, revision, logKey, value, header }, this.#sealedAfter) }
  }

  #damaged(what: string): StorageError {
    return new StorageError('corrupt', `${this.#path} is damaged (${what}); restore it from a backup`)
  }

  #reading<T>(read: () => T): T {
    try {
      this.#snapshot.hold()
      return read()
    } catch (error) {
      throw errorOf(faultOf(error, this.#path))
    }
  }
}

/** What is wrong may be wrong of some pages of the file alone. */
const concernsPages = (error: unknown, path: string): boolean =>
  ['corrupt', 'unavailable'].includes(faultOf(error, path).code)

/** `setReturnArrays` makes rows arrays, which the types of node:sqlite do not tell. */
function columnsOf(row: unknown): readonly unknown[] {
  return (row ?? []) as readonly unknown[]
}

function isBefore(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0
}
