/**
 * Files of zeros beside the store, which take room that can be given up: the reserve for deletes on a full disk, and a
 * little for the next start.
 */
import { closeSync, existsSync, fsyncSync, openSync, rmSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const reserveName = 'reserve'
/** For the next start, where all else is used up: what SQLite needs beside the file, and little more. */
const openingName = 'reserve-opening'
const openingBytes = 512 * 1024
const pieceBytes = 1024 * 1024

export const isReserveHeld = (directory: string): boolean => existsSync(join(directory, reserveName))

/** False: there was no room for it after all. */
export const holdReserve = (directory: string, bytes: number): boolean =>
  hold(join(directory, openingName), openingBytes) && hold(join(directory, reserveName), bytes)

export function removeReserve(directory: string): void {
  rmSync(join(directory, reserveName), { force: true })
}

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

function hold(path: string, bytes: number): boolean {
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
