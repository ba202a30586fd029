/**
 * Room for the file, and what is done without: a reserve, held as a file beside it (or as the last part of the largest
 * size), is given up when a write finds no room. From then on deletes and small changes are taken, and what frees room
 * by itself; until there is room for the reserve again. So a full disk can be emptied by the clients that filled it,
 * and the store can be closed and opened.
 *
 * The file never shrinks: what was deleted makes room within it, and none on the disk. So pages that hold nothing count
 * as room, and may be all of it, the reserve too; then what must be kept back is counted after each commit. What they
 * can't give is room for SQLite's log: near the end of a disk that stays small, and the file may grow by no more than
 * what is left beside it, so that the log can always be copied into the file (docs/adr/0106).
 */
import { closeSync, openSync, statfsSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type Clock, systemClock, type Timer } from '../../base/clock.ts'
import { boundLog, checkpointPages, pragma } from './file-format.ts'
import { holdReserve, isReserveHeld, removeReserve } from './reserve-files.ts'

/** Between two looks whether there is room again. */
const lookMs = 1000
/** Commits between two looks at most: together they take less than what a disk has that is not watched closely. */
const mostUnlooked = 16
/** A disk with less than so many reserves is watched closely. */
const nearReserves = 32
/** Where so few are left, and none is a file, transactions are taken one by one. */
const scarceReserves = 4
/** How long a reading of the file is waited for that keeps the log from beginning anew: a turn of the server's loop. */
const readingMs = 250
/** More than SQLite takes. */
const anyPages = 4294967294
/** How much a change may add while there is no room: a mark of deletion, a condition. */
const smallGrowthBytes = 1024
/** And what it may have in all, once half of the reserve is gone: the log keeps what it was before, too. */
const smallBytes = 8192

export interface StoreRoomOptions {
  readonly directory: string
  /** 0 = nothing is reserved. */
  readonly reserveBytes: number
  /** Of the file; 0 = as large as the disk allows. */
  readonly maxFileBytes: number
  readonly database: DatabaseSync
  readonly clock?: Pick<Clock, 'after'>
  /** Called when the state changes. */
  readonly onChange: (isFull: boolean) => void
}

/** What the file may take as long as there is room: the rest of the largest size is reserved. 0 = no bound. */
export const usualBytes = (maxFileBytes: number, reserveBytes: number): number =>
  maxFileBytes === 0 ? 0 : Math.max(1, maxFileBytes - reserveBytes)

export class StoreRoom implements Disposable {
  readonly #options: StoreRoomOptions
  readonly #clock: Pick<Clock, 'after'>
  readonly #pageBytes: number
  /** What the log needs near the end of a disk: some small transactions, and the largest. */
  readonly #logBytes: number
  #isFull = false
  #isNear = false
  #isScarce = false
  #isDire = false
  /** A write failed though there seemed to be so much room: only what is freed beyond that is believed. */
  #doubtedBytes = 0
  /** Then something read the file, so that the log could not begin anew: that ends. */
  #isLogHeld = false
  #limitPages: number | undefined
  #checkpointPages = checkpointPages
  #unlooked = 0
  /** Since the last look of the timer. */
  #hasTaken = false
  /** undefined = the store rests, and has plenty: the next commit looks, and begins to look again. */
  #timer: Timer | undefined

  constructor(options: StoreRoomOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#pageBytes = Number(pragma(options.database, 'page_size'))
    this.#logBytes = options.reserveBytes / 2
    if (options.reserveBytes === 0) return
    asking(() => this.#watch(figuresOf(options), this.#isHeld()))
    // The reserve is not made at once: a start must not wait for it.
    this.#lookSoon()
  }

  /** Only what frees room, or takes little, may be written. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** Of a change, with what it had before: it may be taken although only little may. */
  takes(bytes: number, bytesBefore: number): boolean {
    return bytes - bytesBefore <= smallGrowthBytes && (!this.#isDire || bytes <= smallBytes)
  }

  /** So little that many transactions at once may use up what must be kept back. */
  get isScarce(): boolean {
    return this.#isFull || this.#isScarce
  }

  /**
   * A write found no room. True: the log was at its end, on a disk without room for more of it, and begins anew now.
   * A reading of the file that began within the log keeps it from that (docs/adr/0106).
   */
  emptiesLog(): boolean {
    return this.#options.reserveBytes > 0 && this.#beginLogAnew(readingMs)
  }

  /** A write found no room. False: there is nothing left to give up. */
  giveUp(): boolean {
    if (this.#options.reserveBytes === 0 || this.#isFull) return false
    this.#isFull = true
    removeReserve(this.#options.directory)
    asking(() => {
      const figures = figuresOf(this.#options)
      const roomBytes = this.#roomIn(figures, false)
      this.#doubtedBytes = roomBytes > this.#logBytes ? roomBytes : 0
      this.#isLogHeld = this.#doubtedBytes > 0 && !this.#beginLogAnew(0)
      this.#watch(figures, false)
    })
    this.#options.onChange(true)
    return true
  }

  /** After each commit: a writer that is never idle has no turn for timers. */
  took(): void {
    if (this.#options.reserveBytes === 0) return
    this.#hasTaken = true
    const hasRested = this.#timer === undefined
    if (hasRested) this.#lookSoon()
    if (hasRested || this.#isNear || ++this.#unlooked >= mostUnlooked) this.look()
  }

  /** Makes the reserve anew where there is room for it, and sees whether there is room at all. */
  look(): void {
    if (this.#options.reserveBytes > 0) asking(() => this.#look())
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel()
  }

  #look(): void {
    this.#unlooked = 0
    const { reserveBytes, onChange } = this.#options
    let figures = figuresOf(this.#options)
    let isHeld = this.#isHeld()
    if (!isHeld && figures.diskBytes >= 2 * reserveBytes) {
      isHeld = holdReserve(this.#options.directory, reserveBytes)
      figures = figuresOf(this.#options)
    }
    if (isHeld || (this.#isFull && this.#isLogHeld && this.#beginLogAnew(0))) this.#doubtedBytes = 0
    if (this.#doubtedBytes === 0) this.#isLogHeld = false
    const roomBytes = this.#roomIn(figures, isHeld)
    const becomesFull = !this.#isFull && !isHeld && roomBytes < 0
    const endsFull = this.#isFull && roomBytes - this.#doubtedBytes >= reserveBytes / 2
    if (becomesFull || endsFull) this.#isFull = becomesFull
    this.#watch(figures, isHeld)
    if (becomesFull || endsFull) onChange(this.#isFull)
  }

  /** Bounds the file and its log by what there is. */
  #watch(figures: Figures, isHeld: boolean): void {
    const { reserveBytes } = this.#options
    const wasNear = this.#isNear
    this.#isNear = this.#isFull || figures.diskBytes < nearReserves * reserveBytes
    const roomBytes = this.#roomIn(figures, isHeld)
    this.#isScarce = !isHeld && roomBytes < scarceReserves * reserveBytes
    this.#isDire = this.#isFull && roomBytes < -reserveBytes / 2
    if (this.#isNear) this.#holdLog(figures)
    this.#limitFile(figures)
    this.#boundLog(figures)
    if (this.#isFull || (this.#isNear && !wasNear)) this.#emptyLog()
  }

  #lookSoon(): void {
    this.#timer = this.#clock.after(lookMs, () => {
      this.look()
      const mayRest = !this.#hasTaken && !this.#isNear && !this.#isFull && this.#isHeld()
      this.#hasTaken = false
      if (mayRest) this.#timer = undefined
      else this.#lookSoon()
    })
  }

  #isHeld(): boolean {
    return isReserveHeld(this.#options.directory)
  }

  /** For values, beyond what is kept back. Below 0: not even that is there. */
  #roomIn(figures: Figures, isHeld: boolean): number {
    const { maxFileBytes, reserveBytes } = this.#options
    const { heldBytes, diskBytes, logFileBytes } = figures
    if (diskBytes + logFileBytes < this.#logBytes) return -reserveBytes
    const onDisk = this.#diskBound(figures) - heldBytes - (isHeld ? 0 : reserveBytes)
    return maxFileBytes === 0 ? onDisk : Math.min(onDisk, usualBytes(maxFileBytes, reserveBytes) - heldBytes)
  }

  /** How large the file can become, with all that its log holds. */
  #diskBound({ fileBytes, logFileBytes, diskBytes }: Figures): number {
    return fileBytes + diskBytes - Math.max(0, this.#logBytes - logFileBytes)
  }

  /** What the file may grow to. Where it is larger already, it grows no more. */
  #limitFile(figures: Figures): void {
    const { maxFileBytes, reserveBytes, database } = this.#options
    const most = this.#isFull ? maxFileBytes : usualBytes(maxFileBytes, reserveBytes)
    const largest = most === 0 ? Number.POSITIVE_INFINITY : most
    const bound = this.#isNear ? Math.min(largest, this.#diskBound(figures)) : largest
    const pages = Math.min(anyPages, Math.max(1, Math.floor(bound / this.#pageBytes)))
    if (pages === this.#limitPages) return
    this.#limitPages = pages
    pragma(database, `max_page_count = ${pages}`)
  }

  /** Takes what the log needs for it. SQLite's frames have checksums: zeros behind them are none. */
  #holdLog({ logFileBytes, diskBytes }: Figures): void {
    const bytes = this.#logBytes - logFileBytes
    if (bytes <= 0 || bytes > diskBytes) return
    const log = openSync(join(this.#options.directory, 'state.db-wal'), 'r+')
    try {
      writeSync(log, Buffer.alloc(bytes), 0, bytes, logFileBytes)
    } finally {
      closeSync(log)
    }
  }

  /** A log that can't be copied is not tried to be: what there was of room would be gone, and the log no shorter. */
  #boundLog({ pagesBytes, fileBytes, diskBytes }: Figures): void {
    const small = Math.max(1, Math.floor(this.#logBytes / 2 / this.#pageBytes))
    const mayBeCopied = pagesBytes - fileBytes <= diskBytes
    const pages = !this.#isNear ? checkpointPages : mayBeCopied ? small : 0
    if (pages === this.#checkpointPages) return
    this.#checkpointPages = pages
    boundLog(this.#options.database, pages, pages || small)
  }

  /** Copies the log as a whole. False: it is held by one who reads, or can't be copied. */
  #beginLogAnew(waitMs: number): boolean {
    if (this.#checkpointPages === 0) return false
    const { database } = this.#options
    const usual = pragma(database, 'busy_timeout')
    try {
      pragma(database, `busy_timeout = ${waitMs}`)
      return pragma(database, 'wal_checkpoint(RESTART)') === 0
    } catch {
      return false
    } finally {
      pragma(database, `busy_timeout = ${Number(usual)}`)
    }
  }

  /** So that what is written next begins at the start of the log. Readers may keep it from that: then the next time. */
  #emptyLog(): void {
    if (this.#checkpointPages === 0) return
    try {
      pragma(this.#options.database, 'wal_checkpoint(PASSIVE)')
    } catch {
      // As where SQLite does it by itself: the log keeps everything, and is copied another time.
    }
  }
}

function asking(work: () => void): void {
  try {
    work()
  } catch {
    // A disk that can't be asked how much room it has: the next write meets what is wrong with it, and says so.
  }
}

interface Figures {
  /** Those in the log too. */
  readonly pagesBytes: number
  /** Of them: those that hold something. */
  readonly heldBytes: number
  readonly fileBytes: number
  /** Of which nothing needs to be in use. */
  readonly logFileBytes: number
  readonly diskBytes: number
}

function figuresOf({ directory, database }: StoreRoomOptions): Figures {
  const { bavail, bsize } = statfsSync(directory)
  const sizeOf = (name: string): number => statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0
  const pageBytes = Number(pragma(database, 'page_size'))
  const pagesBytes = Number(pragma(database, 'page_count')) * pageBytes
  return {
    pagesBytes,
    heldBytes: pagesBytes - Number(pragma(database, 'freelist_count')) * pageBytes,
    fileBytes: sizeOf('state.db'),
    logFileBytes: sizeOf('state.db-wal'),
    diskBytes: bavail * bsize,
  }
}
