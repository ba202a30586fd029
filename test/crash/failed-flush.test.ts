/**
 * A flush that fails once: Linux takes the bytes for written from then on, though the disk never got them (what
 * PostgreSQL learned in 2018). The process must not go on, and the next one must not believe what it reads.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { prefixSpan } from '../../src/storage/storage.ts'
import { readAll } from '../contract/storage-reader.ts'
import { DiskShim, type ShimOptions } from './disk-shim.ts'

const shim = DiskShim.make()
if (typeof shim === 'string') console.warn(`tests of failed flushes are skipped: ${shim}`)

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  if (typeof shim === 'object') shim[Symbol.dispose]()
})

interface Life {
  readonly acknowledged: readonly string[]
  readonly complaints: readonly string[]
}

function live(options: ShimOptions, prefix: string): Life {
  if (typeof shim === 'string') throw new Error(shim)
  const args = [join(import.meta.dirname, 'acknowledge.ts'), join(options.root, 'store'), prefix, '12']
  const env = { ...process.env, ...shim.environment(options) }
  const { stdout, stderr, signal } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  expect(signal, stderr).toBe('SIGKILL')
  const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '')
  return { acknowledged: lines(stdout), complaints: lines(stderr) }
}

describe.skipIf(typeof shim === 'string')('a value that the disk can not read', () => {
  it.each([
    {
      name: 'for ever',
      errno: 5,
      what: 'is damaged: \\S+state\\.db is damaged \\(database disk image is malformed\\)',
    },
    {
      name: 'now',
      errno: 116,
      what: "can't be read: reading or writing \\S+state\\.db failed \\(disk I/O error, code",
    },
  ])('$name is named, and the store goes on', { timeout: 60_000 }, async ({ errno, what }) => {
    const root = mkdtempSync(join(tmpdir(), 'borough-unreadable-'))
    folders.push(root)
    const directory = join(root, 'store')
    {
      await using storage = await SqliteStorage.open({ directory })
      for (const key of ['/a', '/b', '/c']) {
        const writes = [{ key, value: new Uint8Array(200_000), expect: 'absent' as const }]
        await storage.commit({ guards: [], writes }).done
      }
    }
    if (typeof shim === 'string') throw new Error(shim)
    const trigger = join(root, 'now')
    const args = [join(import.meta.dirname, 'unreadable.ts'), directory, trigger]
    const env = {
      ...process.env,
      ...shim.environment({ root, fail: { call: 'read', file: 'state.db', errno, trigger } }),
    }
    const { stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
    expect(stderr).toBe('')
    const named = expect.stringMatching(new RegExp(`^the stored value of /[abc] at revision \\d+ ${what}`))
    const sound = '200000 bytes'
    const { before, during, condition, after } = JSON.parse(stdout) as Record<string, unknown>
    expect(before).toBe(sound)
    expect(during).toEqual([named, expect.arrayContaining([named])])
    expect(condition).toMatchObject({ writes: 'all', warnings: errno === 5 ? [] : expect.arrayContaining([named]) })
    expect(after).toEqual([sound, [sound, sound, sound], []])
  })
})

describe.skipIf(typeof shim === 'string')('after a flush of the log that failed', () => {
  it.each([3, 7, 12])(
    'number %i, what is acknowledged later survives a failure of power',
    { timeout: 60_000 },
    async (from) => {
      const root = mkdtempSync(join(tmpdir(), 'borough-flush-'))
      folders.push(root)
      const disk = { root: join(root, 'files'), image: join(root, 'disk') }
      mkdirSync(disk.root, { recursive: true })
      mkdirSync(join(disk.image, 'store'), { recursive: true })
      const first = live({ ...disk, fail: { call: 'fsync', file: 'state.db-wal', from, times: 1 } }, '/a')
      expect(first.acknowledged.length).toBeLessThan(12)
      expect(first.complaints[0]).toMatch(
        /^unavailable reading or writing \S+state\.db failed \(disk I\/O error, code 1034\)$/,
      )
      // One is enough: no later one is believed.
      expect(first.acknowledged.length + first.complaints.length).toBe(12)
      const second = live(disk, '/b')
      expect(second).toMatchObject({ acknowledged: { length: 12 }, complaints: [] })
      await using storage = await SqliteStorage.open({ directory: join(disk.image, 'store') })
      const kept = new Set((await readAll(storage, prefixSpan('/'))).map(({ key }) => key))
      for (const key of [...first.acknowledged, ...second.acknowledged]) expect(kept).toContain(key)
    },
  )
})
