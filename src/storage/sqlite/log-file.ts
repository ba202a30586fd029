/**
 * The file: a log of every change and a table of what exists, kept by SQLite (`file-format.ts`) in a thread of its own.
 *
 * Guards are checked against the file inside the transaction that writes, so nothing depends on what a process
 * believes to know. Everything that waits is committed together: one flush for all (group commit).
 *
 * After a fault whose outcome is unknown (a flush that failed), nothing is written any more: what the operating system
 * then still holds of the file can not be trusted. See docs/storage-format.md for the layout.
 *
 * Values are sealed here, and opened when they come back. One that is damaged is answered as a note (`damageNote`). A
 * store refuses to open where its index does not fit its log, or its log ends before what was acknowledged.
 */
import { dirname, join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { bootId } from '../../base/boot-id.ts'
import { sealValue } from '../sealed-value.ts'
import { endOfCommit, type Revision, StorageError } from '../storage.ts'
import { AcknowledgedMark } from './acknowledged-mark.ts'
import { forgetBackups, sweepEnd } from './backup-mark.ts'
import { type Meta, metaValues, prepareFile, readMeta, updateMeta } from './file-format.ts'
import { addPair, removePair } from './live-digest.ts'
import type { LoggedHistory, LogKey, LogOutcome, LogTransaction, WriterLog } from './log-entries.ts'
import { historyIn } from './log-history.ts'
import { endToOpen, markName, requirePlace } from './loss.ts'
import { expectAbsent, expectNever, type WriterCondition, type WriterOptions } from './messages.ts'
import { OwnerLock } from './owner-lock.ts'
import { presentKeys } from './present-keys.ts'
import { columns } from './rows.ts'
import { SoleWriter, takenOver } from './sole-writer.ts'
import { errorOf, type Fault, faultOf, fullFault, stopped } from './sqlite-faults.ts'
import { identify } from './store-identity.ts'
import { rememberingMade } from './store-made.ts'
import { StoreRoom, usualBytes } from './store-room.ts'

/** Rows of the log that one step of a compaction looks at. */
const sweepStep = 1000

export class LogFile implements WriterLog {
  readonly path: string
  readonly #database: DatabaseSync
  /** What `close` gives up, the last first. */
  readonly #opened: DisposableStack
  readonly #owner: OwnerLock
  readonly #mark: AcknowledgedMark
  readonly #room: StoreRoom
  readonly #now: () => number
  readonly #onCondition: (condition: WriterCondition) => void
  readonly #sole: SoleWriter
  readonly #rememberMade: () => void
  readonly #find: StatementSync
  readonly #length: StatementSync
  readonly #append: StatementSync
  readonly #create: StatementSync
  readonly #update: StatementSync
  readonly #remove: StatementSync
  readonly #describe: StatementSync
  /** What transactions left behind whose outcome the main thread may not know yet: key → revision, 0 = absent. */
  readonly #left = new Map<number, ReadonlyMap<string, number> | undefined>()
  #oldestLeft = 1
  /** What the keys of the present group hold, as far as they were looked up: many are guarded by one namespace. */
  readonly #looked = new Map<string, number>()
  #meta: Meta
  #broken: Fault | undefined

  /** @throws StorageError code=locked | corrupt | unavailable | full */
  constructor(
    options: WriterOptions,
    onCondition: (condition: WriterCondition) => void = () => undefined,
    now: () => number = Date.now,
  ) {
    this.path = join(options.directory, 'state.db')
    this.#onCondition = onCondition
    this.#now = now
    requirePlace(options)
    using opened = new DisposableStack()
    this.#owner = opened.use(new OwnerLock(options.directory))
    try {
      const end = endToOpen(options, this.#owner)
      this.#database = opened.adopt(new DatabaseSync(this.path, { timeout: options.lockTimeoutMs }), (database) => {
        if (database.isOpen) database.close()
      })
      prepareFile(this.#database, this.path, usualBytes(options.maxFileBytes, options.reserveBytes))
      this.#meta = readMeta(this.#database, this.path)
      const statement = (sql: string): StatementSync => {
        const prepared = this.#database.prepare(sql)
        prepared.setReturnArrays(true)
        return prepared
      }
      this.#sole = new SoleWriter(this.#database, this.path)
      this.#find = statement('SELECT revision FROM present WHERE key = ?')
      this.#length = statement('SELECT length(l.value) FROM present p JOIN log l USING (revision) WHERE p.key = ?')
      this.#append = statement('INSERT INTO log (revision, key, previous, value, header) VALUES (?, ?, ?, ?, ?)')
      this.#create = statement('INSERT INTO present (key, revision) VALUES (?, ?)')
      this.#update = statement('UPDATE present SET revision = ?2 WHERE key = ?1')
      this.#remove = statement('DELETE FROM present WHERE key = ?')
      this.#describe = statement(updateMeta)
      if (end.loss !== undefined) this.#beginAfter(end.acknowledged)
      const store = identify(this.#database, this.path)
      this.#mark = opened.use(new AcknowledgedMark(join(options.directory, markName), this.head, store, bootId()))
      this.#owner.rememberFiles()
      this.#rememberMade = rememberingMade(options.madePath, store, () => this.head)
      this.#owner.watch(() => this.#break(takenOver(this.path)))
      const onChange = (): void => this.#tellCondition()
      this.#room = opened.use(new StoreRoom({ ...options, database: this.#database, onChange }))
    } catch (error) {
      throw errorOf(faultOf(error, this.path))
    }
    this.#opened = opened.move()
  }

  get head(): Revision {
    return this.#meta.head
  }

  get committedMs(): number | undefined {
    return this.#meta.timeMs || undefined
  }

  get compacted(): Revision {
    return this.#meta.compacted
  }

  /** All keys that exist, ascending, with their revisions, some at a time. @throws StorageError code=corrupt */
  keys(): Generator<readonly LogKey[]> {
    return presentKeys(this.#database, this.#meta, this.path)
  }

  /** Commits what can be committed, in order, with one flush. All of it is durable when this returns. */
  commit(group: readonly LogTransaction[], settledThrough: number): LogOutcome[] {
    this.#forgetLeft(settledThrough)
    const headBefore = this.head
    const outcomes = this.#room.isScarce ? this.#commitEach(group) : this.#commitWithRoom(group)
    return this.head === headBefore ? outcomes : this.#marked(outcomes)
  }

  #commitWithRoom(group: readonly LogTransaction[]): LogOutcome[] {
    const outcomes = this.#commitTogether(group)
    if (!outcomes.every(isFullFault)) return outcomes
    // Without room for all there may be room for some, above all for deletes; and for all of them, in a smaller log.
    this.#room.look()
    return this.#commitEach(group)
  }

  #commitEach(group: readonly LogTransaction[]): LogOutcome[] {
    return group.map((transaction) => {
      if (!this.#room.isFull) {
        let [outcome] = this.#commitTogether([transaction]) as [LogOutcome]
        if (isFullFault(outcome) && this.#room.emptiesLog())
          [outcome] = this.#commitTogether([transaction]) as [LogOutcome]
        if (!isFullFault(outcome) || !this.#room.giveUp()) return outcome
      }
      if (this.#isSmall(transaction)) return this.#commitTogether([transaction])[0] as LogOutcome
      this.#left.set(transaction.ticket, undefined)
      return fullFault(this.path)
    })
  }

  /** It deletes, or changes something into what takes hardly more. */
  #isSmall({ guards, keys, expects, values }: LogTransaction): boolean {
    return values.every((value, i) => {
      if (value === undefined || expects[guards + i] === expectAbsent) return value === undefined
      const row = this.#length.get(keys[guards + i] as string)
      return row === undefined || this.#room.takes(value.byteLength, Number(columns(row)[0]))
    })
  }

  #tellCondition(): void {
    this.#onCondition({ isFull: this.#room.isFull, broken: this.#broken?.message })
  }

  #break(fault: Fault): void {
    this.#broken = withoutWrites(fault)
    this.#tellCondition()
  }

  /** Where the end can't be marked, nothing may be acknowledged. */
  #marked(outcomes: LogOutcome[]): LogOutcome[] {
    try {
      this.#mark.write(this.head)
      return outcomes
    } catch (error) {
      const fault = faultOf(error, this.path)
      // A file system that copies what it overwrites may have no room for it, though the commit had.
      if (fault.code === 'full' && this.#room.giveUp()) return this.#marked(outcomes)
      this.#break(fault)
      return outcomes.map((outcome) => (typeof outcome === 'number' ? fault : outcome))
    }
  }

  history(base: Revision): LoggedHistory {
    return historyIn(this.#database, this.path, this.#meta, base)
  }

  /** Remembers durably that history before `before` is gone; `sweep` then frees it. */
  compact(before: Revision): void {
    if (before <= this.compacted) return
    this.#change({ ...this.#meta, compacted: before })
  }

  /** One step. True when nothing is left to sweep. */
  sweep(): boolean {
    const { swept: from } = this.#meta
    const end = sweepEnd(dirname(this.path), this.compacted, this.#room.isFull, this.#now())
    if (from >= end) return true
    const step = this.#database.prepare(
      `SELECT max(revision) AS last, count(*) AS rows FROM
         (SELECT revision FROM log WHERE revision > ? AND revision <= ? ORDER BY revision LIMIT ?)`,
    )
    try {
      const { last, rows } = step.get(from, end, sweepStep) ?? {}
      const to = rows === sweepStep && typeof last === 'number' ? last : end
      this.#change({ ...this.#meta, swept: to }, () => {
        this.#database
          .prepare(
            `DELETE FROM log WHERE revision IN
               (SELECT previous FROM log WHERE revision > ? AND revision <= ? AND previous IS NOT NULL)`,
          )
          .run(from, to)
        this.#database.prepare('DELETE FROM log WHERE revision > ? AND revision <= ? AND value IS NULL').run(from, to)
      })
      return to >= end
    } catch (error) {
      throw errorOf(faultOf(error, this.path))
    }
  }

  close(): void {
    try {
      try {
        this.#database.close()
        // Where nothing can be written any more, it stays as it was.
        if (!this.#broken) this.#rememberMade()
      } finally {
        this.#opened.dispose()
      }
    } catch (error) {
      // What broke it was told then; nothing is acknowledged since.
      if (!this.#broken) throw errorOf(faultOf(error, this.path))
    }
  }

  /** No revision is given out twice, and watches of what is lost begin anew. */
  #beginAfter(revision: Revision): void {
    // Backups may hold what is lost: what is written from now on does not follow them.
    forgetBackups(dirname(this.path))
    const head = Math.max(this.head, endOfCommit(revision))
    this.#change({ ...this.#meta, head, compacted: head })
  }

  #change(meta: Meta, work: () => void = () => undefined): void {
    this.#transact(() => {
      work()
      this.#describe.run(...metaValues(meta))
    })
    this.#meta = meta
  }

  #commitTogether(group: readonly LogTransaction[]): LogOutcome[] {
    const before = this.#meta
    const outcomes: LogOutcome[] = []
    this.#looked.clear()
    try {
      this.#transact(() => {
        this.#meta = { ...before, timeMs: this.#now() }
        for (const transaction of group) outcomes.push(this.#apply(transaction))
        if (this.head === before.head) this.#meta = before
        else this.#describe.run(...metaValues(this.#meta))
      })
    } catch (error) {
      this.#meta = before
      for (const { ticket } of group) this.#left.set(ticket, undefined)
      const fault = faultOf(error, this.path)
      return group.map(() => fault)
    }
    this.#room.took()
    return outcomes
  }

  #apply(transaction: LogTransaction): LogOutcome {
    const { ticket, guards, keys, expects, values } = transaction
    const found: number[] = []
    const lost: number[] = []
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string
      const revision = this.#revisionOf(key)
      found.push(revision)
      const deletesNothing = i >= guards && values[i - guards] === undefined && revision === expectAbsent
      if (deletesNothing || this.#settle(key, expects[i] as number) !== revision) lost.push(i)
    }
    if (lost.length > 0) {
      this.#left.set(ticket, undefined)
      return lost
    }
    const first = this.head + 1
    const left = new Map<string, number>()
    for (let i = 0; i < guards; i++) left.set(keys[i] as string, found[i] as number)
    let { live, digest } = this.#meta
    const { timeMs } = this.#meta
    for (let position = 0; position < values.length; position++) {
      const key = keys[guards + position] as string
      const previous = found[guards + position] as number
      const value = values[position]
      const revision = first + position
      const header = sealValue({ key, revision }, { position, timeMs, previous }, value)
      this.#append.run(revision, key, previous === expectAbsent ? null : previous, value ?? null, header)
      if (previous !== expectAbsent) digest = removePair(digest, key, previous)
      if (value !== undefined) digest = addPair(digest, key, revision)
      live += (value === undefined ? 0 : 1) - (previous === expectAbsent ? 0 : 1)
      if (value === undefined) this.#remove.run(key)
      else if (previous === expectAbsent) this.#create.run(key, revision)
      else this.#update.run(key, revision)
      const now = value === undefined ? expectAbsent : revision
      left.set(key, now)
      this.#looked.set(key, now)
    }
    this.#left.set(ticket, left)
    this.#meta = { ...this.#meta, head: endOfCommit(first), live, digest }
    return first
  }

  /** Inside of a transaction: no other program can write meanwhile. */
  #revisionOf(key: string): number {
    const known = this.#looked.get(key)
    if (known !== undefined) return known
    const row = this.#find.get(key)
    const revision = row === undefined ? expectAbsent : (columns(row)[0] as number)
    this.#looked.set(key, revision)
    return revision
  }

  #settle(key: string, expect: number): number {
    return expect < expectNever ? (this.#left.get(-1 - expect)?.get(key) ?? expectNever) : expect
  }

  #forgetLeft(settledThrough: number): void {
    for (; this.#oldestLeft <= settledThrough; this.#oldestLeft++) this.#left.delete(this.#oldestLeft)
  }

  /** @throws StorageError */
  #transact(work: () => void): void {
    if (this.#broken) throw errorOf(this.#broken)
    try {
      this.#database.exec('BEGIN IMMEDIATE')
      this.#sole.check(this.head)
      work()
      this.#database.exec('COMMIT')
    } catch (error) {
      const fault = faultOf(error, this.path)
      // Full and locked are answered before anything is flushed: the file is as it was. All else is not known.
      if (fault.code !== 'full' && fault.code !== 'locked') this.#break(fault)
      // Some faults have rolled back already.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw new StorageError(fault.code, fault.message, { cause: error })
    }
  }
}

const withoutWrites = ({ message }: Fault): Fault => ({ code: 'readOnly', message: `${message}; ${stopped}` })

const isFullFault = (outcome: LogOutcome): boolean =>
  typeof outcome === 'object' && 'code' in outcome && outcome.code === 'full'
