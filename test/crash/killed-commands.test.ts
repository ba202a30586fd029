/**
 * Commands that change stores, killed before one of their calls that change a file: what they leave is whole, or
 * refused in one line that says what to do, and the command can be given again. BOROUGH_KILLED_COMMANDS sets how many
 * moments of each are tried (nightly: 1000, all of them).
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
import { DiskShim } from './disk-shim.ts'
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

const subjects: readonly Subject[] = [
  {
    name: 'borough restore',
    prepare(folder) {
      done('backup', '--data-dir', join(root, 'sound'), '--to', join(folder, 'file'))
    },
    command: (folder) => [main, 'restore', '--from', join(folder, 'file'), '--data-dir', data(folder)],
    async judge(folder) {
      const isBegun = existsSync(join(data(folder), 'unfinished-copy'))
      const isWhole = !isBegun && existsSync(join(data(folder), 'store/state.db'))
      if (isWhole) return expect(await stateIn(data(folder))).toEqual(sound)
      if (isBegun) {
        const copy = 'a copy of \\S+ that began at \\S+ was not finished. Empty it and copy again'
        const words = `${data(folder)} holds only a part: ${copy}`
        const place = { ...places, storage: { engine: 'sqlite' as const }, dataDir: data(folder) }
        await expect(openServerStorage(place)).rejects.toThrow(new RegExp(`^${words}$`))
        const again = run([main, 'restore', '--from', join(folder, 'file'), '--data-dir', data(folder)])
        expect(again).toMatchObject({ code: 1, stderr: expect.stringMatching(/^borough: [^\n]+\n$/) })
        rmSync(data(folder), { recursive: true })
      }
      expect(await restored(join(folder, 'file'), data(folder))).toEqual(sound)
    },
  },
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
    async prepare(folder) {
      withSoundData(folder)
      mkdirSync(join(folder, 'set'), { mode: 0o700 })
      done('backup', '--data-dir', data(folder), '--incremental', '--to', join(folder, 'set'))
      await using storage = await SqliteStorage.open({ directory: join(data(folder), 'store') })
      await fill(storage, 40, 60)
    },
    command: (folder) => [main, 'backup', '--data-dir', data(folder), '--incremental', '--to', join(folder, 'set')],
    async judge(folder) {
      const before = await restored(join(folder, 'set'), join(folder, 'restored'))
      const now = await stateIn(data(folder))
      expect([sound, now]).toContainEqual(before)
      done('backup', '--data-dir', data(folder), '--incremental', '--to', join(folder, 'set'))
      expect(await restored(join(folder, 'set'), join(folder, 'restored-again'))).toEqual(now)
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

describe.skipIf(typeof shim === 'string')('killed at any moment', { timeout: 60_000 + moments * 60_000 }, () => {
  it.each(subjects)('$name leaves what is whole, or refused in one line', async (subject) => {
    if (typeof shim === 'string') throw new Error(shim)
    const make = async (name: string): Promise<string> => {
      const folder = join(root, `${subjects.indexOf(subject)}-${name}`)
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
    const random = randomFrom(subjects.indexOf(subject) + 1)
    const all = moments >= calls
    for (let i = 1; i <= Math.min(moments, calls); i++) {
      // One in each part of the whole.
      const killAt = all ? i : 1 + Math.floor(((i - 1 + random(1000) / 1000) * calls) / moments)
      const folder = await make(`killed-${killAt}`)
      const { signal, stderr } = run(subject.command(folder), shim.environment({ root: folder, killAt }))
      expect(signal, `call ${killAt} of ${calls}: ${stderr}`).toBe('SIGKILL')
      await subject.judge(folder)
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
