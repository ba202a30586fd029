import { describe, expect, it } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import { type FaultRates, FaultyStorage } from './faulty.ts'
import { MemoryStorage } from './memory/memory-storage.ts'
import { prefixSpan, type Transaction } from './storage.ts'

const everything = prefixSpan('/')

function faulty(rates: FaultRates, seed = 1): { storage: FaultyStorage; memory: MemoryStorage; clock: FakeClock } {
  const memory = new MemoryStorage()
  const clock = new FakeClock()
  return { storage: new FaultyStorage({ storage: memory, clock, seed, rates }), memory, clock }
}

function create(key: string): Transaction {
  return { guards: [], writes: [{ key, value: new Uint8Array(1), expect: 'absent' }] }
}

describe('FaultyStorage', () => {
  it('a commit that fails before has not happened', async () => {
    const { storage, memory } = faulty({ failBeforeCommit: 1 })
    await expect(storage.commit(create('/a')).done).rejects.toMatchObject({ code: 'unavailable' })
    expect((await memory.range(everything)).entries).toEqual([])
  })

  it('a commit that fails after has happened', async () => {
    const { storage, memory } = faulty({ failAfterCommit: 1 })
    await expect(storage.commit(create('/a')).done).rejects.toMatchObject({ code: 'unavailable' })
    expect((await memory.range(everything)).entries).toHaveLength(1)
  })

  it('a follower of a commit that failed before is refused with what is there', async () => {
    const { storage } = faulty({ failBeforeCommit: 1 })
    const first = storage.commit(create('/a'))
    await expect(first.done).rejects.toThrow('before')
    storage.rates = {}
    const write = { key: '/a', value: new Uint8Array(2), expect: { asLeftBy: first.ticket } }
    const second = storage.commit({ guards: [], writes: [write] })
    expect(await second.done).toEqual({ ok: false, current: new Map([['/a', undefined]]) })
    const third = storage.commit({ guards: [], writes: [{ ...write, expect: { asLeftBy: second.ticket } }] })
    expect((await third.done).ok).toBe(false)
  })

  it('a delayed acknowledgement comes late, the commit does not', async () => {
    const { storage, memory, clock } = faulty({ delayCommit: 1 })
    let acknowledged = false
    const done = storage.commit(create('/a')).done.then(() => {
      acknowledged = true
    })
    for (let i = 0; i < 10; i++) await Promise.resolve()
    expect((await memory.range(everything)).entries).toHaveLength(1)
    expect(acknowledged).toBe(false)
    await clock.advance(100)
    await done
  })

  it('a dropped watch throws in the loop of its consumer', async () => {
    const { storage } = faulty({ dropWatch: 1 })
    const stream = storage.watch(everything, await storage.currentRevision(), new AbortController().signal)
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('an idle watch can be disposed of while its consumer waits', async () => {
    const { storage } = faulty({})
    const stream = storage.watch(everything, await storage.currentRevision(), new AbortController().signal)
    const iterator = stream[Symbol.asyncIterator]()
    await iterator.next()
    const waiting = iterator.next()
    await stream[Symbol.asyncDispose]()
    expect(await waiting).toEqual({ value: undefined, done: true })
  })

  it('a compaction may come between a list and its watch', async () => {
    const { storage } = faulty({ compactBeforeWatch: 1 })
    const { revision } = await storage.range(everything)
    await storage.commit(create('/a')).done
    const stream = storage.watch(everything, revision, new AbortController().signal)
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'compacted' })
  })

  it('the same seed fails the same calls', async () => {
    const outcomes = async (seed: number): Promise<string> => {
      const { storage } = faulty({ failBeforeCommit: 0.3, failAfterCommit: 0.3 }, seed)
      const results = Array.from({ length: 40 }, (_, i) =>
        storage.commit(create(`/${i}`)).done.then(
          () => 'ok',
          (error: Error) => error.message,
        ),
      )
      return (await Promise.all(results)).join()
    }
    expect(await outcomes(7)).toBe(await outcomes(7))
    expect(await outcomes(7)).not.toBe(await outcomes(8))
  })
})
