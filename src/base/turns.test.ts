import { describe, expect, test } from 'vitest'
import { sliceMs, Turns } from './turns.ts'

/** Turns on an event loop that is moved by hand. */
function byHand() {
  let nowMs = 0
  const queued: (() => void)[] = []
  return {
    turns: new Turns({ now: () => nowMs, soon: (run) => void queued.push(run) }),
    work: (ms: number) => {
      nowMs += ms
    },
    /** One turn of the loop: what was queued before it, and everything that follows from that. */
    async turn() {
      for (const run of queued.splice(0)) run()
      for (let i = 0; i < 10; i++) await Promise.resolve()
    },
  }
}

describe('a slice', () => {
  test('needs no pause before its time is over', () => {
    const { turns, work } = byHand()
    const slice = turns.slice()
    work(sliceMs - 1)
    expect(slice.pause()).toBeUndefined()
    work(1)
    expect(slice.pause()).toBeInstanceOf(Promise)
  })

  test('has its whole time again after a pause', async () => {
    const { turns, work, turn } = byHand()
    const slice = turns.slice()
    work(sliceMs)
    const pause = slice.pause()
    work(1000)
    await turn()
    await pause
    expect(slice.pause()).toBeUndefined()
    work(sliceMs)
    expect(slice.pause()).toBeInstanceOf(Promise)
  })

  test('begins alone in its turn of the loop, in the order of the pauses', async () => {
    const { turns, work, turn } = byHand()
    const begun: string[] = []
    const job = async (name: string): Promise<void> => {
      const slice = turns.slice()
      for (let i = 0; i < 2; i++) {
        work(sliceMs)
        await slice.pause()
        begun.push(name)
      }
    }
    const jobs = [job('a'), job('b'), job('c')]
    const seen: number[] = []
    for (let i = 0; i < 6; i++) {
      await turn()
      seen.push(begun.length)
    }
    await Promise.all(jobs)
    expect(begun).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
    expect(seen).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('of work that is long from its first piece on begins alone in its turn', async () => {
    const { turns, work, turn } = byHand()
    const begun: string[] = []
    const job = async (name: string): Promise<void> => {
      await turns.begin()
      begun.push(name)
      work(10 * sliceMs)
    }
    const jobs = ['a', 'b', 'c'].map(job)
    await Promise.resolve()
    expect(begun).toEqual(['a'])
    await turn()
    expect(begun).toEqual(['a', 'b'])
    await turn()
    await Promise.all(jobs)
    expect(begun).toEqual(['a', 'b', 'c'])
  })
})
