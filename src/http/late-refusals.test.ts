import { beforeEach, describe, expect, test } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import { LateRefusals } from './late-refusals.ts'

describe('a refusal', () => {
  let clock: FakeClock
  let turns: (() => void)[]
  /** Set and not yet due. */
  let timers: number
  let refusals: LateRefusals
  const told: string[] = []
  const refuse = (flow: string): string => {
    const time = refusals.timeOf(flow)
    if (typeof time === 'string') return time
    void time.then(() => told.push(flow))
    return 'late'
  }
  const endTurns = async (): Promise<void> => {
    for (let end = turns.shift(); end !== undefined; end = turns.shift()) end()
    await Promise.resolve()
  }
  beforeEach(() => {
    clock = new FakeClock()
    timers = 0
    turns = []
    told.length = 0
    const counting = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after(ms: number, run: () => void) {
        timers++
        return clock.after(ms, () => {
          timers--
          run()
        })
      },
    }
    refusals = new LateRefusals(counting, { prompt: 2, waitingOfFlow: 100, waiting: 150 }, (run) => turns.push(run))
  })

  test('is told at once to a client that is refused now and then', async () => {
    expect([refuse('a'), refuse('a'), refuse('b')]).toEqual(['now', 'now', 'now'])
    await clock.advance(1000)
    expect([refuse('a'), refuse('a')]).toEqual(['now', 'now'])
  })

  test('is told a second late to a client that goes on asking', async () => {
    refuse('a')
    refuse('a')
    expect(refuse('a')).toBe('late')
    expect(refuse('b')).toBe('now')
    await clock.advance(999)
    await endTurns()
    expect(told).toEqual([])
    await clock.advance(1)
    await endTurns()
    expect(told).toEqual(['a'])
  })

  test('does not overtake those that wait', async () => {
    for (let i = 0; i < 3; i++) refuse('a')
    await clock.advance(500)
    refuse('a')
    await clock.advance(500)
    await endTurns()
    expect(told).toEqual(['a'])
    expect(refuse('a')).toBe('late')
  })

  test('is one of a few in each turn of the loop', async () => {
    for (let i = 0; i < 102; i++) refuse('a')
    await clock.advance(1000)
    await Promise.resolve()
    expect(told.length).toBeGreaterThan(0)
    expect(told.length).toBeLessThan(50)
    await endTurns()
    expect(told).toHaveLength(100)
  })

  test('has no room to wait where a flow, or all of them, have too many', () => {
    for (let i = 0; i < 102; i++) refuse('a')
    expect(refuse('a')).toBe('full')
    for (let i = 0; i < 52; i++) refuse('b')
    expect(refuse('b')).toBe('full')
    expect(refuse('c')).toBe('now')
  })

  test('is forgotten, and its timer with it', async () => {
    for (let i = 0; i < 10; i++) refuse(`flow ${i}`)
    for (let i = 0; i < 5; i++) refuse('a')
    for (let i = 0; i < 5; i++) {
      await clock.advance(1000)
      await endTurns()
    }
    expect(told).toHaveLength(3)
    expect(timers).toBe(0)
  })
})
