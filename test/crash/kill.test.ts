/**
 * A process under load is killed at random moments; what it was promised must be there, and nothing that it did not
 * try: acknowledged ⊆ recovered ⊆ attempted, in order. BOROUGH_CRASH_RUNS sets the number of kills (nightly: 50).
 *
 * A kill does not lose what the operating system has already taken, so this says nothing about flushing: see
 * durability.test.ts for that.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, describe, expect, it } from 'vitest'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { endOfCommit, prefixSpan, type Revision } from '../../src/storage/storage.ts'
import { applyChanges, readAll, text, WatchReader } from '../contract/storage-reader.ts'

const kills = Number(process.env['BOROUGH_CRASH_RUNS'] ?? 5)
const everything = prefixSpan('/')

interface Life {
  readonly attempted: number[]
  readonly acknowledged: Map<number, Revision>
}

/** Starts the load and kills it once it has said so many lines. */
async function liveAndDie(directory: string, first: number, lines: number): Promise<Life> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'load.ts'), directory, String(first)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let complaints = ''
  child.stderr.on('data', (data) => {
    complaints += data
  })
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('close', (_, signal) => resolve(signal)))
  const life: Life = { attempted: [], acknowledged: new Map() }
  let seen = 0
  for await (const line of createInterface(child.stdout)) {
    const [verb, n, revision] = line.split(' ')
    if (verb === 'try') life.attempted.push(Number(n))
    // A line may be cut short by the kill.
    else if (verb === 'ack' && revision !== undefined) life.acknowledged.set(Number(n), Number(revision))
    if (++seen === lines) child.kill('SIGKILL')
  }
  expect(await ended, complaints).toBe('SIGKILL')
  return life
}

const directories: string[] = []
afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true })
})

describe('a killed store', () => {
  it(`keeps what it promised and invents nothing, ${kills} times in a row`, {
    timeout: 20_000 + kills * 10_000,
  }, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'borough-crash-'))
    directories.push(directory)
    let next = 0
    for (let kill = 0; kill < kills; kill++) {
      const lines = 1 + Math.floor(Math.random() * 3000)
      const { attempted, acknowledged } = await liveAndDie(directory, next, lines)
      const told = `killed after ${lines} lines, ${acknowledged.size} acknowledged, ${attempted.length} attempted`
      await using storage = await SqliteStorage.open({ directory })
      const recovered = await readAll(storage, prefixSpan('/b/'))
      const found = recovered.map((e) => ({ n: Number(e.key.slice(3)), end: endOfCommit(e.revision) }))
      found.sort((a, b) => a.n - b.n)

      // In order and without a gap: commit n is there only if all before it are.
      expect(
        found.map(({ n }) => n),
        told,
      ).toEqual(found.map((_, i) => i))
      expect(
        found.map(({ end }) => end),
        told,
      ).toEqual(found.map(({ end }) => end).toSorted((a, b) => a - b))
      const last = found.length - 1
      for (const [n, revision] of acknowledged)
        expect(found[n]?.end, `${told}: ${n} was promised`).toBe(endOfCommit(revision))
      if (last >= next) expect(attempted, told).toContain(last)

      // Whole: the other writes of each commit are as they were after the last one.
      const rest = await readAll(storage, prefixSpan('/a/'))
      const wanted = found.filter(({ n }) => n > last - 32).map(({ n }) => `/a/${n}`)
      expect(rest.map((e) => e.key).sort(), told).toEqual(wanted.sort())
      const counter = (await storage.get('/last')).entry
      expect(Number.parseInt(text(counter?.value) ?? '-1', 10), told).toBe(last)

      // The history that is kept leads from its beginning to the present.
      const from = await storage.compactedRevision()
      const past = await storage.range(everything, { at: from })
      const reader = new WatchReader(storage, everything, from)
      const changes = await reader.until(await storage.currentRevision())
      expect(applyChanges(past.entries, changes), told).toEqual(await readAll(storage, everything))
      await reader.stop()
      next = last + 1
    }
    expect(next).toBeGreaterThan(0)
  })
})
