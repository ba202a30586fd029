/**
 * Room for the file, and what is done without: a reserve, held as a file beside it (or as the last part of the largest
 * size), is given up when a write finds no room. From then on deletes and small changes are taken, and what frees room
 * by itself; until there is room for the reserve again. So a full disk can be emptied by the clients that filled it,
 * and the store can be closed and opened.
 */
import { closeSync, existsSync, fsyncSync, openSync, rmSync, statfsSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { pragma } from './file-format.ts'

const reserveName = 'reserve'
/** For the next start, where all else is used up: what SQLite needs beside the file, and little more. */
const openingName = 'reserve-opening'
const openingBytes = 512 * 1024
const pieceBytes = 1024 * 1024
/** Between two looks whether there is room again. */
const lookMs = 1000
/** How much a change may add while there is no room: a mark of deletion, a condition. */
export const smallGrowthBytes = 1024

export interface StoreRoomOptions {
  readonly directory: string
  /** 0 = nothing is reserved. */
  readonly reserveBytes: number
  /** Of the file; 0 = as large as the disk allows. */
  readonly maxFileBytes: number
  readonly database: DatabaseSync
  /** Called when the state changes. */
  readonly onChange: (isFull: boolean) => void
}

/** What the file may take as long as there is room: the rest of the largest size is reserved. 0 = no bound. */
export const usualBytes = (maxFileBytes: number, reserveBytes: number): number =>
  maxFileBytes === 0 ? 0 : Math.max(1, maxFileBytes - reserveBytes)

/** Gives up a reserve of a store that is not open. False: there is none, or none that can be removed. */
export function giveUpReserve(directory: string): boolean {
  const path = [reserveName, openingName].map((name) => join(directory, name)).find((each) => existsSync(each))
  if (path === undefined) return false
  try {
    unlinkSync(path)
    return true
  } catch {
    // On a file system that is read-only it helps no start: what the store said is what the operator hears.
    return false
  }
}

export class StoreRoom implements Disposable {
  readonly #options: StoreRoomOptions
  readonly #path: string
  readonly #pageBytes: number
  #isFull = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: StoreRoomOptions) {
    this.#options = options
    this.#path = join(options.directory, reserveName)
    this.#pageBytes = Number(pragma(options.database, 'page_size'))
    // Not at once: a start must not wait for it.
    if (options.reserveBytes > 0) this.#lookSoon()
  }

  /** Only what frees room, or takes little, may be written. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** A write found no room. False: there is nothing left to give up. */
  giveUp(): boolean {
    const { reserveBytes, maxFileBytes, onChange } = this.#options
    if (reserveBytes === 0 || this.#isFull) return false
    this.#isFull = true
    rmSync(this.#path, { force: true })
    if (maxFileBytes > 0) this.#limit(maxFileBytes)
    onChange(true)
    this.#lookSoon()
    return true
  }

  /** Makes the reserve anew where there is room for it. */
  look(): void {
    const { reserveBytes, maxFileBytes, onChange } = this.#options
    if (!this.#isFull && existsSync(this.#path)) return
    if (this.#hasRoom() && this.#hold(openingName, openingBytes) && this.#hold(reserveName, reserveBytes)) {
      if (maxFileBytes > 0) this.#limit(usualBytes(maxFileBytes, reserveBytes))
      if (!this.#isFull) return
      this.#isFull = false
      onChange(false)
    } else this.#lookSoon()
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }

  #lookSoon(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.look(), lookMs)
    this.#timer.unref()
  }

  #hasRoom(): boolean {
    const { directory, reserveBytes, maxFileBytes, database } = this.#options
    const { bavail, bsize } = statfsSync(directory)
    if (bavail * bsize < 2 * reserveBytes) return false
    if (maxFileBytes === 0 || !this.#isFull) return true
    const pages = Number(pragma(database, 'page_count')) - Number(pragma(database, 'freelist_count'))
    return pages * this.#pageBytes <= usualBytes(maxFileBytes, reserveBytes) - reserveBytes / 2
  }

  /** False: there was no room for it after all. */
  #hold(name: string, bytes: number): boolean {
    const path = join(this.#options.directory, name)
    try {
      const file = openSync(path, 'w', 0o600)
      try {
        // Zeros that are written take room; a length alone does not.
        const piece = Buffer.alloc(pieceBytes)
        for (let left = bytes; left > 0; left -= pieceBytes) {
          writeSync(file, piece, 0, Math.min(left, pieceBytes))
        }
        fsyncSync(file)
      } finally {
        closeSync(file)
      }
      return true
    } catch {
      // Whatever it was, without the whole of it there is none; the next look tries again.
      rmSync(path, { force: true })
      return false
    }
  }

  /** Never less than the file has already. */
  #limit(bytes: number): void {
    pragma(this.#options.database, `max_page_count = ${Math.max(1, Math.floor(bytes / this.#pageBytes))}`)
  }
}
