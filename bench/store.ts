/**
 * Durable conditional transactions per second of the embedded store: each writes one 700-byte value under two guards,
 * one of which the same writer has just changed. `node bench/store.ts [engine] [writers] [seconds]`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryStorage } from '../src/storage/memory/memory-storage.ts'
import { SqliteStorage } from '../src/storage/sqlite/sqlite-storage.ts'
import type { Revision, Storage } from '../src/storage/storage.ts'

export interface StoreRun {
  readonly writers: number
  readonly transactions: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

export interface StoreLoad {
  readonly writers: number
  readonly durationMs: number
  readonly valueBytes: number
}

/** Every writer commits one transaction after the other until the time is over. All of them must succeed. */
export async function measureStore(
  storage: Storage,
  { writers, durationMs, valueBytes }: StoreLoad,
): Promise<StoreRun> {
  const latencies: number[] = []
  const until = performance.now() + durationMs
  const run = `/bench/${process.hrtime.bigint()}`
  const write = async (writer: number): Promise<void> => {
    const value = new Uint8Array(valueBytes).fill(writer)
    const create = async (key: string): Promise<Revision> => {
      const result = await storage.commit({ guards: [], writes: [{ key, value, expect: 'absent' }] }).done
      if (!result.ok) throw new Error(`${key} was there already`)
      return result.revision
    }
    const fixed = { key: `${run}/namespaces/${writer}`, expect: await create(`${run}/namespaces/${writer}`) }
    let last = { key: `${run}/objects/${writer}/first`, expect: await create(`${run}/objects/${writer}/first`) }
    for (let i = 0; performance.now() < until; i++) {
      const key = `${run}/objects/${writer}/${i}`
      const started = performance.now()
      const result = await storage.commit({ guards: [fixed, last], writes: [{ key, value, expect: 'absent' }] }).done
      latencies.push(performance.now() - started)
      if (!result.ok) throw new Error(`${key} was refused`)
      last = { key, expect: result.revision }
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  const elapsedMs = performance.now() - started
  latencies.sort((a, b) => a - b)
  const quantile = (q: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))] ?? 0
  return {
    writers,
    transactions: latencies.length,
    perSecond: Math.round((latencies.length / elapsedMs) * 1000),
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    maxMs: quantile(1),
  }
}

async function main(): Promise<void> {
  const [engine = 'sqlite', writers = '1,8,64,256', seconds = '3'] = process.argv.slice(2)
  const directory = await mkdtemp(join(tmpdir(), 'borough-bench-'))
  const storage: Storage = engine === 'memory' ? new MemoryStorage() : await SqliteStorage.open({ directory })
  try {
    for (const count of writers.split(',').map(Number)) {
      const load = { writers: count, durationMs: Number(seconds) * 1000, valueBytes: 700 }
      const { perSecond, p50Ms, p99Ms, maxMs } = await measureStore(storage, load)
      const times = `p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms, max ${maxMs.toFixed(1)} ms`
      console.log(`${engine}, ${count} writers: ${perSecond} transactions/s, ${times}`)
    }
  } finally {
    await storage[Symbol.asyncDispose]()
    await rm(directory, { recursive: true })
  }
}

if (import.meta.main) await main()
