import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import { type Log, silentLog } from '../base/log.ts'
import { MemoryStorage } from './memory/memory-storage.ts'
import { Scrubber, type ScrubberOptions, scrubKey } from './scrubber.ts'
import { SqliteStorage } from './sqlite/sqlite-storage.ts'
import type { Storage } from './storage.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function write(storage: Storage, key: string, text: string | undefined): Promise<number> {
  const { entry } = await storage.get(key)
  const value = text === undefined ? undefined : Buffer.from(text)
  const commit = await storage.commit({
    guards: [],
    writes: [{ key, value, expect: entry?.revision ?? 'absent' }],
  }).done
  if (!commit.ok) throw new Error(`${key} was refused`)
  return commit.revision
}

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `/k${String(i).padStart(4, '0')}`)

describe('Scrubber', () => {
  let clock: FakeClock
  let logged: string[]
  const log: Log = { ...silentLog, error: (_fields: object, message?: string) => void logged.push(message ?? '') }
  beforeEach(() => {
    clock = new FakeClock()
    logged = []
  })

  const scrubber = (storage: Storage, options: Partial<ScrubberOptions> = {}): Scrubber =>
    new Scrubber({ storage, clock, log, everyMs: dayMs, ...options }).start()

  /** Moves time in steps, so that each step of a pass can end before the next. */
  async function pass(ms: number, stepMs = 500): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await clock.advance(stepMs)
      for (let i = 0; i < 5; i++) await turn()
    }
  }

  const record = async (storage: Storage): Promise<Record<string, unknown>> => {
    const { entry } = await storage.get(scrubKey)
    return JSON.parse(Buffer.from(entry?.value ?? new Uint8Array()).toString() || '{}') as Record<string, unknown>
  }

  it('reads all that is stored once a day, and notes that it did', async () => {
    await using storage = new MemoryStorage({ clock })
    for (const key of names(40)) await write(storage, key, 'x'.repeat(100))
    await using running = scrubber(storage)
    await pass(59_000)
    expect(running.report().values).toBe(0)
    await pass(5_000)
    const { completedMs, ...report } = running.report()
    expect(report).toEqual({ values: 40, bytes: 4000, passes: 1, findings: [] })
    expect(await record(storage)).toEqual({ completedMs, damaged: [] })
    await pass(23 * hourMs, 60_000)
    expect(running.report().passes).toBe(1)
    await pass(2 * hourMs, 1000)
    expect(running.report()).toMatchObject({ passes: 2, values: 40 + 41 })
  })

  it('goes on where another process stopped, and not before a day has passed', async () => {
    await using storage = new MemoryStorage({ clock })
    for (const key of names(4000)) await write(storage, key, 'x')
    const first = scrubber(storage)
    await pass(60_000 + 2000, 10)
    await first[Symbol.asyncDispose]()
    const { values } = first.report()
    expect(values).toBeGreaterThan(100)
    expect(values).toBeLessThan(3900)
    expect(await record(storage)).toMatchObject({ position: `${names(4000)[values - 1]}\0` })
    await using second = scrubber(storage)
    await pass(60_000 + 6000, 10)
    expect(second.report()).toMatchObject({ values: 4000 - values, passes: 1 })
    await using third = scrubber(storage)
    await pass(2 * hourMs, 60_000)
    expect(third.report()).toMatchObject({ values: 0, passes: 0 })
  })

  it('rests so that it reads at most 4 MiB in a second', async () => {
    await using storage = new MemoryStorage({ clock })
    for (const key of names(64)) await write(storage, key, 'x'.repeat(256 * 1024))
    await using running = scrubber(storage)
    await pass(60_000, 60_000)
    const { bytes } = running.report()
    await pass(2000, 10)
    expect(running.report().bytes - bytes).toBeLessThanOrEqual(2 * 4 * 1024 * 1024)
    expect(running.report().bytes - bytes).toBeGreaterThan(0)
  })

  it('leaves it to another process while it is not its turn', async () => {
    await using storage = new MemoryStorage({ clock })
    await write(storage, '/a', 'x')
    let isTurn = false
    await using running = scrubber(storage, { isTurn: () => isTurn })
    await pass(10 * 60_000, 10_000)
    expect(running.report().values).toBe(0)
    isTurn = true
    await pass(2 * 60_000, 10_000)
    expect(running.report().values).toBe(1)
  })

  describe('over a file', () => {
    let directory: string
    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), 'borough-scrub-'))
    })
    afterEach(() => rmSync(directory, { recursive: true, force: true }))

    const damage = (revision: number): void => {
      const database = new DatabaseSync(join(directory, 'state.db'))
      database.prepare("UPDATE log SET value = CAST('changed' AS BLOB) WHERE revision = ?").run(revision)
      database.close()
    }

    it('names what is damaged, in the next process too, until it is sound again or gone', async () => {
      const storage = await SqliteStorage.open({ directory, clock })
      for (const key of names(30)) await write(storage, key, `value of ${key}`)
      const revision = await write(storage, '/k0020', 'once more')
      damage(revision)
      const first = scrubber(storage)
      await pass(65_000)
      const sums = 'its checksum is [0-9a-f]{8}, [0-9a-f]{8} was written with it'
      const words = `^the stored value of /k0020 at revision ${revision} is damaged: ${sums}`
      const named = [expect.stringMatching(new RegExp(`${words}$`))]
      expect(first.report()).toMatchObject({ passes: 1, values: 30, findings: named })
      expect(logged).toEqual([expect.stringMatching(new RegExp(`${words}; see 'borough storage repair'$`))])
      await first[Symbol.asyncDispose]()
      await using second = scrubber(storage)
      await pass(65_000)
      expect(second.report()).toMatchObject({ passes: 0, findings: named })
      await write(storage, '/k0020', 'sound')
      await pass(65_000)
      expect(second.report().findings).toEqual([])
      await storage[Symbol.asyncDispose]()
    })
  })
})
