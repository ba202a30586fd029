/** Backups whose files were damaged at random: what is restored from them is what was backed up, or nothing is. */
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { backUpInto, copyStore, sourceAt, targetAt } from '../../src/backup/backup.ts'
import { CopyError } from '../../src/backup/store-copy.ts'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { isStorageError, prefixSpan, type Storage } from '../../src/storage/storage.ts'
import { randomFrom } from './random-damage.ts'

const options = { clock: systemClock, log: silentLog }
const everything = prefixSpan('/')

type State = Readonly<Record<string, string>>

export interface Backups {
  readonly folder: string
  readonly state: State
}

/** One of everything, and two of what changed. */
export async function makeBackups(root: string): Promise<Backups> {
  const [dataDir, folder] = [join(root, 'data'), join(root, 'set')]
  for (const path of [dataDir, folder]) await mkdir(path, { mode: 0o700 })
  await using storage = await SqliteStorage.open({ directory: join(dataDir, 'store') })
  for (let round = 0; round < 3; round++) {
    for (let i = round; i < 24; i += round + 1) await put(storage, `/registry/things/n${i}`, `${round}.${i}`)
    await backUpInto(folder, dataDir, options)
  }
  const backups = { folder, state: await stateOf(storage) }
  if (!(await isRestored(backups, folder, join(root, 'restored')))) throw new Error('sound backups are not restored')
  return backups
}

async function isRestored({ state }: Backups, folder: string, dataDir: string): Promise<boolean> {
  {
    await using target = await targetAt({ dataDir }, options)
    await copyStore(sourceAt({ folder, point: undefined }, options), target, () => undefined)
  }
  await using storage = await SqliteStorage.open({ directory: join(dataDir, 'store') })
  return JSON.stringify(await stateOf(storage)) === JSON.stringify(state)
}

async function put(storage: Storage, key: string, text: string): Promise<void> {
  const { entry } = await storage.get(key)
  const value = text.endsWith('7') && entry !== undefined ? undefined : Buffer.from(`{"v":"${text}${'x'.repeat(99)}"}`)
  await storage.commit({ guards: [], writes: [{ key, value, expect: entry?.revision ?? 'absent' }] }).done
}

async function stateOf(storage: Storage): Promise<State> {
  const { entries } = await storage.range(everything)
  return Object.fromEntries(entries.map(({ key, value }) => [key, Buffer.from(value).toString('latin1')]))
}

/** @throws Error where something else was restored */
export async function tryBackups(backups: Backups, scratch: string, seed: number): Promise<'refused' | 'sound'> {
  const random = randomFrom(seed)
  const [folder, dataDir] = [join(scratch, `set-${seed}`), join(scratch, `restored-${seed}`)]
  await cp(backups.folder, folder, { recursive: true })
  try {
    const names = (await readdir(folder)).sort()
    const path = join(folder, names[random(names.length)] as string)
    const bytes = await readFile(path)
    const changed = spoil(bytes, random)
    await writeFile(path, changed)
    let same: boolean
    try {
      same = await isRestored(backups, folder, dataDir)
    } catch (error) {
      if (error instanceof CopyError || isStorageError(error)) return 'refused'
      throw error
    }
    if (!same) throw new Error(`seed ${seed}: of ${path} something else was restored`)
    return 'sound'
  } finally {
    for (const each of [folder, dataDir]) await rm(each, { recursive: true, force: true })
  }
}

/** One to eight bytes, in one place or in two, or an end that is missing. */
function spoil(bytes: Buffer, random: (below: number) => number): Buffer {
  if (random(5) === 0) return bytes.subarray(0, random(bytes.length))
  for (let places = 1 + random(2); places > 0; places--) {
    const at = random(bytes.length)
    const end = Math.min(bytes.length, at + 1 + random(8))
    for (let i = at; i < end; i++) bytes[i] = (bytes[i] ?? 0) ^ (1 + random(255))
  }
  return bytes
}
