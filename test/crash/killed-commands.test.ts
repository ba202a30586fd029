/**
 * Commands that change stores, killed before one of their calls that change a file, with the machine or without; or
 * whose disk fails one write or flush: what they leave is whole, or refused in one line that says what to do, and the
 * command can be given again. BOROUGH_KILLED_COMMANDS sets how many moments of each are tried (nightly: 1000, all of
 * them).
 */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { openServerStorage } from '../../src/encryption/server-storage.ts'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { prefixSpan, type Storage } from '../../src/storage/storage.ts'
import { aesgcm, identity, writeConfiguration } from '../encryption/configurations.ts'
import { main } from '../interop/serving-process.ts'
import { DiskShim, type ShimOptions } from './disk-shim.ts'
import { randomFrom } from './random-damage.ts'

const moments = Number(process.env['BOROUGH_KILLED_COMMANDS'] ?? 2)
const shim = DiskShim.make()
if (typeof shim === 'string') console.warn(`tests of killed commands are skipped: ${shim}`)

const damagedKey = '/registry/configmaps/default/c7'
const places = { clock: systemClock, log: silentLog }
type State = Readonly<Record<string, string>>

let root: string
let sound: State
let encryption: string
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'borough-killed-'))
  mkdirSync(join(root, 'sound'), { mode: 0o700 })
  mkdirSync(join(root, 'config'))
  encryption = await writeConfiguration(join(root, 'config'), {
    resources: ['configmaps'],
    providers: [aesgcm(1), identity],
  })
  await using storage = await SqliteStorage.open({ directory: join(root, 'sound/store') })
  await fill(storage, 0, 40)
  sound = await stateOf(storage)
})
afterAll(() => {
  rmSync(root, { recursive: true, force: true })
  if (typeof shim === 'object') shim[Symbol.dispose]()
})

async function fill(storage: Storage, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++) {
    const value = Buffer.from(JSON.stringify({ metadata: { name: `c${i}` }, data: { text: 'x'.repeat(500) } }))
    const writes = [{ key: `/registry/configmaps/default/c${i}`, value, expect: 'absent' as const }]
    await storage.commit({ guards: [], writes }).done
  }
}

async function stateOf(storage: Storage): Promise<State> {
  const { entries } = await storage.range(prefixSpan('/registry/'))
  return Object.fromEntries(entries.map(({ key, value }) => [key, Buffer.from(value).toString('latin1')]))
}

async function stateIn(dataDir: string): Promise<State> {
  await using storage = await SqliteStorage.open({ directory: join(dataDir, 'store') })
  return await stateOf(storage)
}

const change = (dataDir: string, sql: string): void => {
  const database = new DatabaseSync(join(dataDir, 'store/state.db'))
  database.exec(sql)
  database.close()
}

interface Ended {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Ended {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [...args], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
  return { code: status, signal, stdout, stderr }
}

/** Of a command that takes more than a second, which says how far it is. */
const ended = { code: 0, stderr: expect.stringMatching(/^(?:[a-z]+: [\d,]+ [^\n]*\n)*$/) as string }
const done = (...args: readonly string[]): void => expect(run([main, ...args])).toMatchObject(ended)
const restored = async (from: string, to: string): Promise<State> => {
  done('restore', '--from', from, '--data-dir', to)
  return stateIn(to)
}

interface Subject {
  readonly name: string
  /** Makes what the command works on. */
  prepare(folder: string): void | Promise<void>
  command(folder: string): readonly string[]
  /** After the kill. */
  judge(folder: string): Promise<void>
}

const data = (folder: string): string => join(folder, 'data')
function withSoundData(folder: string): void {
  cpSync(join(root, 'sound'), data(folder), { recursive: true })
  chmodSync(data(folder), 0o700)
}

/** A folder with a full backup, and a store with more than that. */
async function withSet(folder: string): Promise<void> {
  withSoundData(folder)
  mkdirSync(join(folder, 'set'), { mode: 0o700 })
  done('backup', '--data-dir', data(folder), '--incremental', '--to', join(folder, 'set'))
  await using storage = await SqliteStorage.open({ directory: join(data(folder), 'store') })
  await fill(storage, 40, 60)
}

interface Filling {
  prepare(folder: string): void | Promise<void>
  command(folder: string, to: string): readonly string[]
}

/** What fills an empty data directory with the sound state: that is there as a whole, or said not to be. */
function filling(name: string, { prepare, command }: Filling): Subject {
  const to = (folder: string): string => join(folder, 'new')
  return {
    name,
    prepare,
    command: (folder) => command(folder, to(folder)),
    async judge(folder) {
      const isBegun = existsSync(join(to(folder), 'unfinished-copy'))
      const isWhole = !isBegun && existsSync(join(to(folder), 'store/state.db'))
      if (isWhole) return expect(await stateIn(to(folder))).toEqual(sound)
      if (isBegun) {
        const copy = 'a copy of \\S+ that began at \\S+ was not finished. Empty it and copy again'
        const place = { ...places, storage: { engine: 'sqlite' as const }, dataDir: to(folder) }
        await expect(openServerStorage(place)).rejects.toThrow(new RegExp(`^${to(folder)} holds only a part: ${copy}$`))
        const again = run(command(folder, to(folder)))
        expect(again).toMatchObject({ code: 1, stderr: expect.stringMatching(/^borough: [^\n]+\n$/) })
        rmSync(to(folder), { recursive: true })
      }
      expect(run(command(folder, to(folder)))).toMatchObject(ended)
      expect(await stateIn(to(folder))).toEqual(sound)
    },
  }
}

const subjects: readonly Subject[] = [
  filling('borough restore', {
    prepare: (folder) => done('backup', '--data-dir', join(root, 'sound'), '--to', join(folder, 'file')),
    command: (folder, to) => [main, 'restore', '--from', join(folder, 'file'), '--data-dir', to],
  }),
  filling('borough restore --to, from a folder', {
    async prepare(folder) {
      await withSet(folder)
      done('backup', '--data-dir', data(folder), '--incremental', '--to', join(folder, 'set'))
    },
    command: (folder, to) => {
      const [, revision = ''] = /full-0*(\d+)/.exec(readdirSync(join(folder, 'set')).toSorted().at(-1) ?? '') ?? []
      return [main, 'restore', '--from', join(folder, 'set'), '--to', revision, '--data-dir', to]
    },
  }),
  filling('borough storage copy', {
    prepare: withSoundData,
    command: (folder, to) => [main, 'storage', 'copy', '--from', `sqlite:${data(folder)}`, '--to', `sqlite:${to}`],
  }),
  {
    name: 'borough backup',
    prepare: withSoundData,
    command: (folder) => [main, 'backup', '--data-dir', data(folder), '--to', join(folder, 'file')],
    async judge(folder) {
      if (!existsSync(join(folder, 'file'))) done('backup', '--data-dir', data(folder), '--to', join(folder, 'file'))
      expect(await restored(join(folder, 'file'), join(folder, 'restored'))).toEqual(sound)
    },
  },
  {
    name: 'borough backup --incremental',
    prepare: withSet,
    command: (folder) => [main, 'backup', '--data-dir', data(folder), '--incremental', '--to', join(folder, 'set')],
    async judge(folder) {
      const before = await restored(join(folder, 'set'), join(folder, 'restored'))
      const now = await stateIn(data(folder))
      expect([sound, now]).toContainEqual(before)
      done('backup', '--data-dir', data(folder), '--incremental', '--to', join(folder, 'set'))
      expect(await restored(join(folder, 'set'), join(folder, 'restored-again'))).toEqual(now)
      expect(readdirSync(join(folder, 'set')).filter((name) => name.endsWith('.part'))).toEqual([])
    },
  },
  {
    name: 'a server that makes scheduled backups',
    prepare(folder) {
      withSoundData(folder)
      mkdirSync(join(folder, 'set'), { mode: 0o700 })
    },
    command: (folder) => [join(import.meta.dirname, 'scheduled-backups.ts'), data(folder), join(folder, 'set')],
    async judge(folder) {
      const set = join(folder, 'set')
      const now = await stateIn(data(folder))
      expect(now).toMatchObject(sound)
      // What counts was renamed to its name when it was whole.
      const isBackedUp = readdirSync(set).some((name) => /^full-\d+$/.test(name))
      if (isBackedUp) expect([sound, now]).toContainEqual(await restored(set, join(folder, 'restored')))
      expect(run(this.command(folder))).toMatchObject(ended)
      expect(readdirSync(set).filter((name) => name.endsWith('.part'))).toEqual([])
      expect(await restored(set, join(folder, 'restored-again'))).toEqual(await stateIn(data(folder)))
      expect(readdirSync(set).filter((name) => /^full-\d+$/.test(name))).toHaveLength(1)
    },
  },
  {
    name: 'borough storage reencrypt',
    prepare: withSoundData,
    command: (folder) => [
      ...[main, 'storage', 'reencrypt', '--data-dir', data(folder)],
      ...['--encryption-provider-config', encryption],
    ],
    async judge(folder) {
      const again = run(this.command(folder))
      expect(again).toMatchObject(ended)
      done('storage', 'verify', '--data-dir', data(folder))
      const place = { ...places, storage: { engine: 'sqlite' as const }, dataDir: data(folder) }
      const choice = { path: encryption, automaticReload: false }
      await using storage = await openServerStorage({ ...place, encryption: choice })
      expect(await stateOf(storage)).toEqual(sound)
    },
  },
  {
    name: 'borough storage repair --key',
    prepare(folder) {
      withSoundData(folder)
      change(data(folder), `UPDATE log SET value = CAST('x' AS BLOB) WHERE key = '${damagedKey}'`)
    },
    command: (folder) => [
      ...[main, 'storage', 'repair', '--data-dir', data(folder)],
      ...['--key', damagedKey, '--with', 'removal', '--yes'],
    ],
    async judge(folder) {
      const found = await stateIn(data(folder))
      if (damagedKey in found) expect(run(this.command(folder))).toMatchObject(ended)
      const { [damagedKey]: _removed, ...others } = sound
      expect(await stateIn(data(folder))).toEqual(others)
    },
  },
  {
    name: 'borough storage repair --index',
    prepare(folder) {
      withSoundData(folder)
      change(data(folder), `DELETE FROM present WHERE key = '${damagedKey}'`)
    },
    command: (folder) => [main, 'storage', 'repair', '--data-dir', data(folder), '--index', '--yes'],
    async judge(folder) {
      expect(run(this.command(folder))).toMatchObject(ended)
      done('storage', 'verify', '--data-dir', data(folder))
      expect(await stateIn(data(folder))).toEqual(sound)
    },
  },
  {
    name: 'the upgrade of a store of format 1, and its compaction',
    prepare(folder) {
      mkdirSync(join(data(folder), 'store'), { recursive: true, mode: 0o700 })
      const golden = readFileSync(join(import.meta.dirname, '../golden/store/format-1.db.gz'))
      writeFileSync(join(data(folder), 'store/state.db'), gunzipSync(golden))
    },
    command: (folder) => [join(import.meta.dirname, 'upgrade-and-compact.ts'), join(data(folder), 'store')],
    async judge(folder) {
      expect(Object.keys(await stateIn(data(folder)))).toHaveLength(115)
      done('storage', 'verify', '--data-dir', data(folder))
    },
  },
]

/** What a disk does to a process. */
interface Fate {
  readonly what: string
  /** At the n-th of `calls` that change a file, of a process whose files are below `root`. */
  at(n: number, root: string): ShimOptions
  /** Where its files are afterwards. */
  left(folder: string): string
  readonly ends: (ended: Ended) => void
}

const killed = ({ signal, stderr }: Ended): void => expect(signal, stderr).toBe('SIGKILL')
const imageOf = (folder: string): string => `${folder}-disk`

const fates: readonly Fate[] = [
  { what: 'is killed', at: (killAt, at) => ({ root: at, killAt }), left: (folder) => folder, ends: killed },
  {
    what: 'is killed as its machine loses its power',
    at(killAt, at) {
      cpSync(at, imageOf(at), { recursive: true })
      return { root: at, image: imageOf(at), killAt }
    },
    left: imageOf,
    ends: killed,
  },
  ...(['write', 'fsync'] as const).map((call) => ({
    what: `meets a ${call} that fails`,
    // There are several other calls to each of these.
    at: (n: number, at: string): ShimOptions => ({ root: at, fail: { call, from: Math.ceil(n / 4), times: 1 } }),
    left: (folder: string): string => folder,
    ends({ code, signal, stderr }: Ended): void {
      expect(signal, stderr).toBeNull()
      if (code !== 0) expect(stderr).toMatch(/borough: [^\n]+\n$|Error: /)
    },
  })),
]

const cases = fates.flatMap((fate) => subjects.map((subject) => ({ ...subject, ...fate, subject, fate })))

describe.skipIf(typeof shim === 'string')('at any moment', { timeout: 60_000 + moments * 60_000 }, () => {
  it.each(cases)('$name that $what leaves what is whole, or refused in one line', async ({ subject, fate }) => {
    if (typeof shim === 'string') throw new Error(shim)
    const prefix = `${subjects.indexOf(subject)}-${fates.indexOf(fate)}`
    const make = async (name: string): Promise<string> => {
      const folder = join(root, `${prefix}-${name}`)
      mkdirSync(folder)
      await subject.prepare(folder)
      return folder
    }
    const whole = await make('whole')
    const countFile = join(root, 'count')
    rmSync(countFile, { force: true })
    expect(run(subject.command(whole), shim.environment({ root: whole, countFile }))).toMatchObject(ended)
    const calls = Number(readFileSync(countFile, 'utf8'))
    expect(calls).toBeGreaterThan(5)
    const random = randomFrom(cases.findIndex((each) => each.subject === subject && each.fate === fate) + 1)
    const all = moments >= calls
    // The plain kill is tried most often.
    const times = all ? calls : fate === fates[0] ? moments : Math.ceil(moments / 2)
    for (let i = 1; i <= times; i++) {
      // One in each part of the whole.
      const at = all ? i : 1 + Math.floor(((i - 1 + random(1000) / 1000) * calls) / times)
      const folder = await make(`at-${at}`)
      fate.ends(run(subject.command(folder), shim.environment(fate.at(at, folder))))
      const left = fate.left(folder)
      try {
        await subject.judge(left)
      } catch (error) {
        throw new Error(`at call ${at} of ${calls}`, { cause: error })
      }
      for (const each of [folder, left]) rmSync(each, { recursive: true, force: true })
    }
  })
})
