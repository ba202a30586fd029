/**
 * Processes that read a data directory, killed before one of their calls that read or change a file, with a server
 * beside them or without: none leaves a lock behind that keeps out a server, or the command when it is given again.
 * And the reverse: what reads goes on when the writer is killed, and keeps no new one away. BOROUGH_KILLED_COMMANDS
 * sets how many moments of each are tried (nightly: 1000).
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openDataDir } from '../../src/datadir/data-dir.ts'
import { openSnapshot } from '../../src/storage/sqlite/snapshot.ts'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { endOfCommit, prefixSpan } from '../../src/storage/storage.ts'
import { main } from '../interop/serving-process.ts'
import { DiskServer } from './disk-server.ts'
import { DiskShim, type ShimOptions } from './disk-shim.ts'
import { randomFrom } from './random-damage.ts'

const moments = Number(process.env['BOROUGH_KILLED_COMMANDS'] ?? 2)
const shim = DiskShim.make()
if (typeof shim === 'string') console.warn(`tests of killed readers are skipped: ${shim}`)

const data = (folder: string): string => join(folder, 'data')
const readers: readonly { readonly name: string; command(folder: string): readonly string[] }[] = [
  { name: 'borough storage verify', command: (folder) => ['storage', 'verify', '--data-dir', data(folder)] },
  {
    name: 'borough backup',
    command: (folder) => ['backup', '--data-dir', data(folder), '--to', join(folder, `backup-${next++}`)],
  },
  {
    name: 'borough backup --incremental',
    command: (folder) => ['backup', '--data-dir', data(folder), '--incremental', '--to', join(folder, 'set')],
  },
]

let next = 0
let root: string
const server: DiskServer[] = []
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'borough-killed-readers-'))
})
afterEach(async () => {
  for (const each of server.splice(0)) await each.end('SIGKILL')
})
afterAll(() => {
  rmSync(root, { recursive: true, force: true })
  if (typeof shim === 'object') shim[Symbol.dispose]()
})

function run(args: readonly string[], options?: ShimOptions): { code: number | null; signal: string | null } {
  if (typeof shim === 'string') throw new Error(shim)
  const env = { ...process.env, ...(options === undefined ? {} : shim.environment(options)) }
  const { status, signal, stderr } = spawnSync(process.execPath, [main, ...args], { env, encoding: 'utf8' })
  if (status !== 0 && signal === null) throw new Error(stderr)
  return { code: status, signal }
}

const whole = { code: 0, signal: null }

/** At several of its calls. Each time in a folder that `prepare` makes. */
async function killAtMoments(
  reader: (typeof readers)[number],
  prepare: (name: string) => string,
  judge: (folder: string) => Promise<void>,
): Promise<void> {
  const first = prepare('whole')
  const countFile = join(root, 'count')
  rmSync(countFile, { force: true })
  expect(run(reader.command(first), { root: first, reads: true, countFile })).toEqual(whole)
  const calls = Number(readFileSync(countFile, 'utf8'))
  expect(calls).toBeGreaterThan(10)
  const random = randomFrom(readers.indexOf(reader) + 1)
  const times = Math.min(moments, calls)
  let kills = 0
  for (let i = 0; i < times; i++) {
    const killAt = 1 + Math.floor(((i + random(1000) / 1000) * calls) / times)
    const folder = prepare(`at-${killAt}`)
    const { signal } = run(reader.command(folder), { root: folder, reads: true, killAt })
    // Beside a server there are more and fewer calls, as its log grows and ends.
    if (signal === 'SIGKILL') kills++
    await judge(folder)
  }
  expect(kills).toBeGreaterThan(0)
}

async function create(storage: SqliteStorage, key: string): Promise<void> {
  const writes = [{ key, value: Buffer.from('x'.repeat(500)), expect: 'absent' as const }]
  if (!(await storage.commit({ guards: [], writes }).done).ok) throw new Error(`${key} is there already`)
}

const keysIn = async (storage: SqliteStorage): Promise<readonly string[]> =>
  (await storage.range(prefixSpan('/'))).entries.map(({ key }) => key)

describe.skipIf(typeof shim === 'string')(
  'a process that is killed as it reads',
  { timeout: 60_000 + moments * 60_000 },
  () => {
    const keys = Array.from({ length: 40 }, (_, i) => `/k${String(i).padStart(2, '0')}`)
    beforeAll(async () => {
      for (const name of ['stopped', 'killed']) mkdirSync(data(join(root, name)), { recursive: true, mode: 0o700 })
      await using storage = await SqliteStorage.open({ directory: join(data(join(root, 'stopped')), 'store') })
      for (const key of keys) await create(storage, key)
      cpSync(data(join(root, 'stopped')), data(join(root, 'killed')), { recursive: true })
    })

    const cases = ['stopped', 'killed'].flatMap((left) =>
      readers.map((reader) => ({ left, reader, name: reader.name })),
    )
    it.each(cases)('$name keeps no server from a store that was $left', async ({ left, reader }) => {
      const prepare = (name: string): string => {
        const folder = join(root, `${left}-${readers.indexOf(reader)}-${name}`)
        cpSync(join(root, left), folder, { recursive: true })
        mkdirSync(join(folder, 'set'), { mode: 0o700 })
        return folder
      }
      await killAtMoments(reader, prepare, async (folder) => {
        {
          await using _ = await openDataDir(data(folder))
          await using storage = await SqliteStorage.open({ directory: join(data(folder), 'store') })
          expect(await keysIn(storage)).toEqual(keys)
          await create(storage, '/new')
        }
        expect(run(reader.command(folder))).toEqual(whole)
        rmSync(folder, { recursive: true })
      })
    })

    it.each(readers)('$name disturbs no server that runs, nor the next one', async (reader) => {
      const folder = join(root, `served-${readers.indexOf(reader)}`)
      mkdirSync(data(folder), { recursive: true, mode: 0o700 })
      mkdirSync(join(folder, 'set'), { mode: 0o700 })
      const first = await DiskServer.start(folder)
      server.push(first)
      const made = ['before']
      expect(await first.create('before')).toBe(201)
      await killAtMoments(
        reader,
        () => folder,
        async () => {
          const name = `after-${made.length}`
          expect(await first.create(name)).toBe(201)
          made.push(name)
          expect(run(reader.command(folder))).toEqual(whole)
        },
      )
      await first.end('SIGKILL')
      expect(run(reader.command(folder))).toEqual(whole)
      const second = await DiskServer.start(folder)
      server.push(second)
      expect(await second.names()).toEqual(expect.arrayContaining(made))
      expect(await second.create('last')).toBe(201)
    })
  },
)

it('what reads a store goes on when its writer is killed, at its revision, beside the next writer', async () => {
  const folder = mkdtempSync(join(root, 'reverse-'))
  const server = await DiskServer.start(folder)
  expect(await server.create('before')).toBe(201)
  using snapshot = openSnapshot(join(data(folder), 'store'))
  const entries = snapshot.entries()
  const seen = [entries.next().value?.key]
  await server.end('SIGKILL')
  await using storage = await SqliteStorage.open({ directory: join(data(folder), 'store') })
  await create(storage, '/a-new-one')
  for (const { key } of entries) seen.push(key)
  expect(seen).toHaveLength(snapshot.size)
  expect(seen).toContainEqual(expect.stringMatching(/default\/before$/))
  expect(seen).not.toContain('/a-new-one')
  expect(await storage.currentRevision()).toBeGreaterThan(endOfCommit(snapshot.revision))
})
