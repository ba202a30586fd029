/** Stands in for `node:fs` where the SQLite engine uses it: the simulated disk. */
import { simulated } from '../runtime/simulated-process.ts'
import type { Disk } from './disk.ts'
import { DiskError } from './disk.ts'

export { constants } from 'node:fs'

interface Opened {
  readonly path: string
  readonly generation: number
}

const opened = new Map<number, Opened>()
let handles = 1_000_000

const disk = (): Disk => simulated.disk

/** undefined: the power has failed since it was opened, and nothing that is done with it has an effect. */
function fileOf(handle: number): ReturnType<Disk['find']> {
  const { path, generation } = opened.get(handle) as Opened
  return generation === disk().generation ? disk().find(path) : undefined
}

const isDirectory = (path: string): boolean =>
  disk().paths.some((each) => each.startsWith(`${path}/`)) || simulated.directories.has(path)

export const existsSync = (path: string): boolean => disk().find(path) !== undefined || isDirectory(path)

/** Every directory may be written; the disk itself says what it refuses. */
export function accessSync(path: string): void {
  if (!existsSync(path)) throw new DiskError('ENOENT', 'access')
}

export function mkdirSync(path: string): void {
  simulated.directories.add(path)
}

export function openSync(path: string, flags: string | number = 'r'): number {
  if (!isDirectory(path)) {
    if (flags === 'r') disk().get(path)
    else disk().open(path)
    if (flags === 'w') disk().resize(disk().get(path), 0)
  }
  opened.set(++handles, { path, generation: disk().generation })
  return handles
}

export function closeSync(handle: number): void {
  opened.delete(handle)
}

export function fsyncSync(handle: number): void {
  const { path } = opened.get(handle) as Opened
  const file = fileOf(handle)
  if (file !== undefined) disk().flush(file)
  else if (isDirectory(path)) disk().flushDirectory()
}

export function fdatasync(handle: number, done: (error: Error | null) => void): void {
  const { generation } = opened.get(handle) as Opened
  const { scheduler, random } = simulated
  scheduler.after(1 + random.next() * 10, () => {
    if (generation !== disk().generation) return
    try {
      if (opened.has(handle)) fsyncSync(handle)
      if (generation === disk().generation) done(null)
    } catch (error) {
      done(error as Error)
    }
  })
}

export function writeSync(
  handle: number,
  bytes: Uint8Array,
  offset = 0,
  length: number = bytes.length,
  position?: number,
): number {
  const file = fileOf(handle)
  if (file !== undefined) disk().write(file, position ?? file.length, bytes.subarray(offset, offset + length))
  return length
}

export function readSync(handle: number, target: Buffer, offset: number, length: number, position: number): number {
  return fileOf(handle)?.read(position, length).copy(target, offset) ?? 0
}

export const readFileSync = (path: string): Buffer => {
  const file = disk().get(path)
  return Buffer.from(file.read(0, file.length))
}

export function writeFileSync(path: string, text: string): void {
  const file = disk().open(path)
  disk().resize(file, 0)
  disk().write(file, 0, Buffer.from(text))
}

export const renameSync = (from: string, to: string): void => disk().rename(from, to)
export const rmSync = (path: string): void => disk().remove(path)
export const unlinkSync = (path: string): void => rmSync(path)

interface Stats {
  readonly size: number
  readonly mtimeMs: number
  readonly nlink: number
  isFile(): boolean
  isSymbolicLink(): boolean
}

export function statSync(path: string, options?: { readonly throwIfNoEntry?: boolean }): Stats | undefined {
  if (options?.throwIfNoEntry === false && !existsSync(path)) return undefined
  return { size: disk().get(path).length, mtimeMs: 0, nlink: 1, isFile: () => true, isSymbolicLink: () => false }
}

/** There are no links on it. */
export const lstatSync: typeof statSync = statSync

export function fstatSync(handle: number): { readonly size: number } {
  const file = fileOf(handle)
  if (file === undefined) throw new DiskError('EIO', 'fstat')
  return { size: file.length }
}

export function statfsSync(): { readonly bavail: number; readonly bsize: number } {
  return { bavail: Math.min(disk().freeBytes, 2 ** 40), bsize: 1 }
}
