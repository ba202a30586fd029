/**
 * Damage beyond single bytes: two places at once, files cut short, pages swapped, emptied, or put back as they were in
 * an older state of the same file, and those files as a whole.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { EncryptionError } from '../../src/encryption/provider.ts'
import { decrypting } from '../../src/encryption/server-storage.ts'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { StorageError } from '../../src/storage/storage.ts'
import { aesgcm, identity, writeConfiguration } from '../encryption/configurations.ts'
import { changeBytes, type Damage, type OpenStore } from './random-damage.ts'

type Below = (below: number) => number

/** Of the database file. */
const pageBytes = 4096
/** Of the log: its header, and a page with the header of its frame. */
const logHeaderBytes = 32
const frameBytes = 24 + pageBytes

/** Opens stores as a server with keys does; what the keys do not fit is refused as any damage is. */
export async function openEncrypted(folder: string): Promise<OpenStore> {
  const path = await writeConfiguration(folder, { resources: ['*.*'], providers: [aesgcm(1), identity] })
  const encryption = { path, automaticReload: false }
  return async (directory) => {
    const storage = await SqliteStorage.open({ directory, lockTimeoutMs: 100 })
    const place = { storage: { engine: 'sqlite' as const }, clock: systemClock, log: silentLog, encryption }
    try {
      return await decrypting(storage, place)
    } catch (error) {
      if (!(error instanceof EncryptionError)) throw error
      throw new StorageError('corrupt', error.message, { cause: error })
    }
  }
}

/** `states`: directories of the same store at other times. */
export function tamperingWith(states: readonly string[]): Damage {
  const kinds: readonly Damage[] = [
    async (directory, random) => `${await changeBytes(directory, random)}; ${await changeBytes(directory, random)}`,
    cutShort,
    swapPages,
    emptyPage,
    (directory, random) => olderPage(directory, states[random(states.length)] as string, random),
  ]
  return (directory, random) => (kinds[random(kinds.length)] as Damage)(directory, random)
}

async function pickFile(directory: string, random: Below): Promise<{ readonly path: string; readonly bytes: Buffer }> {
  const names = (await readdir(directory)).filter((name) => /^state\.db(?:-wal)?$/.test(name)).sort()
  const path = join(directory, names[random(names.length)] as string)
  return { path, bytes: await readFile(path) }
}

interface Piece {
  readonly at: number
  readonly length: number
}

/** A page of the file, or a frame of the log. */
function pickPage(path: string, { length }: Buffer, random: Below): Piece | undefined {
  const [start, size] = path.endsWith('-wal') ? [logHeaderBytes, frameBytes] : [0, pageBytes]
  const count = Math.floor((length - start) / size)
  return count > 0 ? { at: start + random(count) * size, length: size } : undefined
}

const cutShort: Damage = async (directory, random) => {
  const { path, bytes } = await pickFile(directory, random)
  const length = random(bytes.length + 1)
  await writeFile(path, bytes.subarray(0, length))
  return `${path} cut to ${length} of ${bytes.length}`
}

const swapPages: Damage = async (directory, random) => {
  const { path, bytes } = await pickFile(directory, random)
  const [a, b] = [pickPage(path, bytes, random), pickPage(path, bytes, random)]
  if (a === undefined || b === undefined) return 'nothing'
  const kept = Buffer.from(bytes.subarray(a.at, a.at + a.length))
  bytes.copy(bytes, a.at, b.at, b.at + b.length)
  kept.copy(bytes, b.at)
  await writeFile(path, bytes)
  return `${path}: ${a.at} and ${b.at} swapped`
}

const emptyPage: Damage = async (directory, random) => {
  const { path, bytes } = await pickFile(directory, random)
  const page = pickPage(path, bytes, random)
  if (page === undefined) return 'nothing'
  bytes.fill(0, page.at, page.at + page.length)
  await writeFile(path, bytes)
  return `${path}: ${page.length} bytes at ${page.at} are zeros`
}

async function olderPage(directory: string, state: string, random: Below): Promise<string> {
  const { path, bytes } = await pickFile(directory, random)
  const other = await readFile(join(state, path.endsWith('-wal') ? 'state.db-wal' : 'state.db')).catch(() =>
    Buffer.alloc(0),
  )
  const page = pickPage(path, bytes, random)
  if (page === undefined || other.length < page.at + page.length) return 'nothing'
  other.copy(bytes, page.at, page.at, page.at + page.length)
  await writeFile(path, bytes)
  return `${path}: ${page.length} bytes at ${page.at} as in ${state}`
}
