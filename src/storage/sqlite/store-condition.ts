/** How much room a store has, and what is said of that to an operator, before it ends and after. */
import { statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { StoreCondition } from '../storage.ts'

/** Below this share of what there could be, and below this many bytes, there is little left. */
const lowShare = 0.1
const lowBytes = 256 * 1024 * 1024
/** A start makes a few files, and so does a backup. */
const fewInodes = 64

export interface FileRoom {
  /** With what is in the log. */
  readonly bytes: number
  /** Of them: pages that hold nothing any more, and are used again before the file grows. */
  readonly freeBytes: number
}

/** `maxFileBytes` 0: no bound but the disk. `broken`: why nothing is written. */
export function conditionOf(
  directory: string,
  file: FileRoom,
  maxFileBytes: number,
  isFull: boolean,
  broken: string | undefined,
): StoreCondition {
  const { bavail, bsize, blocks, files, ffree } = statfsSync(directory)
  const usedBytes = sizeOf(join(directory, 'state.db')) + sizeOf(join(directory, 'state.db-wal'))
  const onDisk = bavail * bsize + file.freeBytes
  const held = file.bytes - file.freeBytes
  const toLimit = maxFileBytes === 0 ? Number.POSITIVE_INFINITY : Math.max(0, maxFileBytes - held)
  const freeBytes = Math.min(onDisk, toLimit)
  const warnings: string[] = []
  if (broken !== undefined) warnings.push(broken)
  if (isFull) {
    warnings.push(`the store in ${directory} is full: only deletes and small changes are taken until there is room`)
  } else if (freeBytes < Math.min(lowBytes, lowShare * Math.min(blocks * bsize, held + toLimit))) {
    warnings.push(`the store in ${directory} has little room left: ${mebibytes(freeBytes)}`)
  } else if (bavail * bsize < Math.min(lowBytes, lowShare * blocks * bsize)) {
    const within = `the store goes on in ${mebibytes(file.freeBytes)} of its own file`
    warnings.push(`the disk of the store in ${directory} has little room left: ${mebibytes(bavail * bsize)}; ${within}`)
  }
  // A file system that counts none says 0 of 0.
  if (files > 0 && ffree < fewInodes) {
    warnings.push(`the file system of the store in ${directory} has few inodes left: ${ffree}`)
  }
  return { writes: broken !== undefined ? 'none' : isFull ? 'small' : 'all', warnings, usedBytes, freeBytes }
}

const mebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
