/**
 * Bytes of a real store, changed at random; and what must hold of it then: everything that was acknowledged is there as
 * it was, or the damage is named. Which bytes depends on the seed alone.
 *
 * As a command: `node test/crash/random-damage.ts <folder> [seeds] [first] [kind]`, by default 1000 from 1 of bytes;
 * other kinds are `tampered` (see `tampering.ts`), `encrypted` (tampered, of a store whose values are encrypted) and
 * `backups`. The folder keeps the count: a command that was interrupted goes on where it was.
 */
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { damageOf } from '../../src/storage/damaged-value.ts'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { type Entry, isStorageError, prefixSpan, type Revision, type Storage } from '../../src/storage/storage.ts'
import { countSeeds } from './counted.ts'

const everything = prefixSpan('/registry/')

/** What a key held from a revision on; undefined: nothing. */
interface Version {
  readonly key: string
  readonly revision: Revision
  readonly value: string | undefined
}

export type OpenStore = (directory: string) => Promise<Storage>

const openPlain: OpenStore = (directory) => SqliteStorage.open({ directory, lockTimeoutMs: 100 })

/** Directories of one store, in states that a crash or a stop leaves, and all that was acknowledged in each. */
export interface Specimen {
  readonly directory: string
  readonly open: OpenStore
  readonly versions: readonly Version[]
}

export type Outcome =
  /** It does not open, and says why. */
  | 'refused'
  /** It serves what is sound, and names what is not. */
  | 'named'
  /** Nothing that is read was concerned. */
  | 'sound'

/** Mulberry32: small, and the same everywhere. */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Three states of one history: killed with everything in the log, stopped, and killed again with more in the log. */
export async function makeSpecimens(root: string, open: OpenStore = openPlain): Promise<readonly Specimen[]> {
  const live = join(root, 'live')
  const versions: Version[] = []
  const specimens: Specimen[] = []
  const keep = async (name: string): Promise<void> => {
    const directory = join(root, name)
    await cp(live, directory, { recursive: true })
    specimens.push({ directory, open, versions: [...versions] })
  }
  const random = randomFrom(1)
  await using first = await open(live)
  await work(first, random, versions)
  await keep('killed')
  await first[Symbol.asyncDispose]()
  await keep('stopped')
  await using second = await open(live)
  await work(second, random, versions)
  await keep('killed-again')
  return specimens
}

async function work(storage: Storage, random: (below: number) => number, versions: Version[]): Promise<void> {
  const present = new Map(versions.map((version) => [version.key, version]))
  for (let i = 0; i < 60; i++) {
    const writes = Array.from({ length: 1 + random(4) }, () => {
      const key = `/registry/things/ns-${random(4)}/name-${random(12)}`
      const before = present.get(key)
      const exists = before?.value !== undefined
      const value =
        exists && random(3) === 0 ? undefined : `{"metadata":{"n":${random(1e6)}},"x":"${'x'.repeat(random(900))}"}`
      return { key, value, expect: exists ? before.revision : ('absent' as const) }
    }).filter(({ key }, index, all) => all.findIndex((other) => other.key === key) === index)
    const bytes = writes.map((write) => ({
      ...write,
      value: write.value === undefined ? undefined : Buffer.from(write.value),
    }))
    const commit = await storage.commit({ guards: [], writes: bytes }).done
    if (!commit.ok) throw new Error('a write lost, and there was only one writer')
    for (const [position, { key, value }] of writes.entries()) {
      const version = { key, value, revision: commit.revision + position }
      present.set(key, version)
      versions.push(version)
    }
  }
}

/** Changes what lies in a directory; answers what it did. */
export type Damage = (directory: string, random: (below: number) => number) => Promise<string>

/** Damages a copy of one of the specimens, and looks. @throws Error for damage that passes unnoticed */
export async function tryDamage(
  specimens: readonly Specimen[],
  scratch: string,
  seed: number,
  damage: Damage = changeBytes,
): Promise<Outcome> {
  const random = randomFrom(seed)
  const specimen = specimens[random(specimens.length)] as Specimen
  const directory = join(scratch, `seed-${seed}`)
  await cp(specimen.directory, directory, { recursive: true })
  try {
    const changed = await damage(directory, random)
    try {
      return await look(directory, specimen)
    } catch (cause) {
      throw new Error(`seed ${seed} (${changed}): ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** From one byte to a sector; mostly where most bytes are. */
export async function changeBytes(directory: string, random: (below: number) => number): Promise<string> {
  const names = (await readdir(directory)).sort()
  const large = names.filter((name) => name.startsWith('state.db') && !name.endsWith('-shm'))
  const from = random(4) === 0 ? names : large
  const name = from[random(from.length)] as string
  const bytes = await readFile(join(directory, name))
  if (bytes.length === 0) return 'nothing'
  const length = [1, 1, 1, 2, 8, 512][random(6)] as number
  const at = random(bytes.length)
  for (let i = at; i < Math.min(at + length, bytes.length); i++) bytes[i] = (bytes[i] ?? 0) ^ (1 + random(255))
  await writeFile(join(directory, name), bytes)
  return `${name}, ${length} bytes at ${at}`
}

async function look(directory: string, { open: openStore, versions }: Specimen): Promise<Outcome> {
  let storage: Storage
  try {
    storage = await openStore(directory)
  } catch (error) {
    if (!isStorageError(error)) throw error
    return 'refused'
  }
  let outcome: Outcome = 'sound'
  {
    await using open = storage
    const revisions = [...new Set(versions.map(({ revision }) => revision))]
    const asked = [undefined, ...revisions.filter((_, i) => i % 17 === 0)]
    for (const at of asked) if (!(await isSoundAt(open, versions, at))) outcome = 'named'
    if (!(await isSoundWatch(open, versions))) outcome = 'named'
  }
  return outcome
}

/** The state at a revision; absent: now. */
async function isSoundAt(storage: Storage, versions: readonly Version[], at: Revision | undefined): Promise<boolean> {
  const expected = new Map<string, Version>()
  const end = at === undefined ? Number.POSITIVE_INFINITY : Math.floor(at / 1024) * 1024 + 1023
  for (const version of versions) if (version.revision <= end) expected.set(version.key, version)
  let entries: readonly Entry[]
  try {
    entries = (await storage.range(everything, at === undefined ? {} : { at })).entries
  } catch (error) {
    // A past that can't be read says so. The present was promised when the store opened.
    if (at === undefined || !isStorageError(error)) throw error
    return false
  }
  let sound = true
  for (const { key, revision, value } of entries) {
    const version = expected.get(key)
    expected.delete(key)
    if (version?.value === undefined) throw new Error(`${key} is there and should not be (at ${at})`)
    if (version.revision !== revision) throw new Error(`${key} has another revision (at ${at})`)
    const damage = damageOf(value)
    if (damage !== undefined && damage.includes(key)) sound = false
    else if (Buffer.from(value).toString() !== version.value) throw new Error(`${key} has another value (at ${at})`)
  }
  for (const { key, value } of expected.values())
    if (value !== undefined) throw new Error(`${key} is missing (at ${at})`)
  return sound
}

/** Every change from the beginning, in order. */
async function isSoundWatch(storage: Storage, versions: readonly Version[]): Promise<boolean> {
  const seen: Version[] = []
  let sound = true
  try {
    for await (const batch of storage.watch(everything, 1023, new AbortController().signal)) {
      if (batch.type === 'progress') break
      for (const { key, revision, value } of batch.changes) {
        const damage = value && damageOf(value)
        if (damage !== undefined) sound = false
        seen.push({ key, revision, value: value && Buffer.from(value).toString() })
      }
    }
  } catch (error) {
    if (isStorageError(error)) return false
    throw error
  }
  if (seen.length !== versions.length) throw new Error(`a watch told ${seen.length} of ${versions.length} changes`)
  for (const [i, version] of versions.entries()) {
    const told = seen[i] as Version
    const isDamaged = told.value !== undefined && damageOf(Buffer.from(told.value)) !== undefined
    if (told.key !== version.key || told.revision !== version.revision)
      throw new Error(`${version.key}: another change`)
    if (!isDamaged && sound && told.value !== version.value)
      throw new Error(`${version.key}: a watch told another value`)
  }
  return sound
}

async function main(): Promise<void> {
  const [folder, seeds = '1000', first = '1', kind = 'bytes'] = process.argv.slice(2)
  const prepare = (scratch: string) => attemptsOf(kind, scratch)
  process.exitCode = await countSeeds({ folder, seeds: Number(seeds), first: Number(first), prepare })
}

async function attemptsOf(kind: string, root: string): Promise<(seed: number) => Promise<string>> {
  if (kind === 'backups') {
    const { makeBackups, tryBackups } = await import('./tampered-backups.ts')
    const backups = await makeBackups(root)
    return (seed) => tryBackups(backups, root, seed)
  }
  if (kind === 'bytes') {
    const specimens = await makeSpecimens(root)
    return (seed) => tryDamage(specimens, root, seed)
  }
  const { openEncrypted, tamperingWith } = await import('./tampering.ts')
  const specimens = await makeSpecimens(root, kind === 'encrypted' ? await openEncrypted(root) : openPlain)
  const tamper = tamperingWith(specimens.map(({ directory }) => directory))
  return (seed) => tryDamage(specimens, root, seed, tamper)
}

// Not awaited: what it loads imports this file.
if (import.meta.main) void main()
