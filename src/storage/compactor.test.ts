import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import { Compactor, type CompactorOptions } from './compactor.ts'
import { MemoryStorage } from './memory/memory-storage.ts'
import { endOfCommit, type Revision, type StoreCondition } from './storage.ts'

describe('Compactor', () => {
  const clock = new FakeClock()
  const errors: unknown[] = []
  let storage: MemoryStorage
  let keys = 0
  beforeEach(() => {
    storage = new MemoryStorage({ clock })
  })
  afterEach(() => {
    expect(errors.splice(0)).toEqual([])
  })

  function compactor(options: Partial<CompactorOptions> = {}): Compactor {
    return new Compactor({ storage, clock, intervalMs: 1000, onError: (error) => errors.push(error), ...options })
  }

  async function commit(sizeBytes = 10): Promise<Revision> {
    const write = { key: `/k${keys++}`, value: new Uint8Array(sizeBytes), expect: 'absent' as const }
    const result = await storage.commit({ guards: [], writes: [write] }).done
    if (!result.ok) throw new Error('refused')
    return endOfCommit(result.revision)
  }

  /** Moves time in steps, so that each round of the compactor can end before the next. */
  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 1000) {
      await clock.advance(1000)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  it('history younger than the window is kept, older history is compacted', async () => {
    await using running = compactor({ windowMs: 60_000 })
    running.start()
    const old = await commit()
    await pass(30_000)
    const young = await commit()
    await pass(20_000)
    expect(await storage.compactedRevision()).toBeLessThan(old)
    await pass(15_000)
    expect(await storage.compactedRevision()).toBe(old)
    await expect(storage.get('/k0', { at: old - 1024 })).rejects.toMatchObject({ code: 'compacted' })
    await storage.get('/k0', { at: old })
    await pass(40_000)
    expect(await storage.compactedRevision()).toBe(young)
  })

  it('a store that is full keeps history for ten seconds alone, so that deletes make room', async () => {
    let isFull = false
    const condition = (): StoreCondition => ({
      writes: isFull ? 'small' : 'all',
      warnings: [],
      usedBytes: 0,
      freeBytes: 0,
    })
    storage = Object.assign(storage, { condition })
    await using running = compactor({ windowMs: 300_000 })
    running.start()
    const old = await commit()
    await pass(30_000)
    expect(await storage.compactedRevision()).toBeLessThan(old)
    isFull = true
    const deleted = await commit()
    await pass(5_000)
    expect(await storage.compactedRevision()).toBe(old)
    await pass(10_000)
    expect(await storage.compactedRevision()).toBe(deleted)
    isFull = false
    const young = await commit()
    await pass(30_000)
    expect(await storage.compactedRevision()).toBeLessThan(young)
  })

  it('what became due while a compaction was under way is compacted, although the store rests', async () => {
    const compact = storage.compact.bind(storage)
    const under = Promise.withResolvers<void>()
    storage.compact = async (revision) => {
      await under.promise
      await compact(revision)
    }
    const moved = (_: Revision, signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
    await using running = compactor({ windowMs: 60_000, moved })
    running.start()
    await commit()
    await pass(1000)
    const last = await commit()
    await pass(70_000)
    under.resolve()
    await pass(5000)
    expect(await storage.compactedRevision()).toBe(last)
  })

  it('a clock that comes a rounding short of the moment that it was asked for is not asked again at once', async () => {
    const moved = (_: Revision, signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
    const looks: number[] = []
    // Found by seed 700120 of the simulation: the compactor looked for ever, and time stood still.
    for (let i = 1; i <= 60; i++) {
      const clock = new FakeClock(0)
      const storage = new MemoryStorage({ clock })
      let count = 0
      const asked = storage.currentRevision.bind(storage)
      storage.currentRevision = () => (++count > 20 ? Promise.reject(new Error('it looks for ever')) : asked())
      await using running = compactor({ storage, clock, intervalMs: 100 + i / 7, windowMs: 5_000, moved })
      await storage.commit({ guards: [], writes: [{ key: '/k', value: new Uint8Array(1), expect: 'absent' }] }).done
      running.start()
      await clock.advance(8_000)
      looks.push(count)
    }
    expect(Math.max(...looks)).toBeLessThan(8)
  })

  it('more history than the window holds in bytes is compacted at once', async () => {
    await using running = compactor({ windowBytes: 4 * 1024 * 1024 })
    running.start()
    for (let i = 0; i < 3000; i++) await commit(2048)
    expect(storage.historyBytes()).toBeGreaterThan(6 * 1024 * 1024)
    await pass(3000)
    expect(storage.historyBytes()).toBeLessThanOrEqual(4 * 1024 * 1024)
    expect(storage.historyBytes()).toBeGreaterThan(1024 * 1024)
  })

  it('little history is kept for the whole window, however often the compactor looks', async () => {
    await using running = compactor({ windowMs: 300_000, windowBytes: 1024 * 1024 })
    running.start()
    const before = await storage.currentRevision()
    await commit()
    await pass(290_000)
    await storage.range({ start: '/', end: '0' }, { at: before })
  })

  it('a failed round is reported, and the next one tries again', async () => {
    let failures = 1
    const compact = storage.compact.bind(storage)
    storage.compact = (before) => (failures-- > 0 ? Promise.reject(new Error('disk')) : compact(before))
    await using running = compactor({ windowMs: 10_000 })
    running.start()
    const old = await commit()
    await pass(13_000)
    expect(errors.splice(0)).toMatchObject([{ message: 'disk' }])
    expect(await storage.compactedRevision()).toBe(old)
  })

  it('a store that rests is asked again when it moves or when a note is due, and not before', async () => {
    let looks = 0
    const currentRevision = storage.currentRevision.bind(storage)
    storage.currentRevision = () => {
      looks++
      return currentRevision()
    }
    let tell: () => void = () => {}
    const moved = (): Promise<void> => new Promise((resolve) => (tell = resolve))
    await using running = compactor({ windowMs: 60_000, moved })
    running.start()
    const old = await commit()
    await pass(5000)
    const before = looks
    await pass(50_000)
    expect(looks).toBe(before)
    const young = await commit()
    tell()
    await pass(10_000)
    expect(await storage.compactedRevision()).toBe(old)
    await pass(60_000)
    expect(await storage.compactedRevision()).toBe(young)
    const atRest = looks
    await pass(300_000)
    expect(looks).toBe(atRest)
  })

  it('after stopping nothing is compacted any more', async () => {
    const running = compactor({ windowMs: 10_000 })
    running.start()
    await commit()
    await running[Symbol.asyncDispose]()
    const before = await storage.compactedRevision()
    await pass(30_000)
    expect(await storage.compactedRevision()).toBe(before)
  })
})
