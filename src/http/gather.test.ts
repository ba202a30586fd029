import { beforeEach, describe, expect, test } from 'vitest'
import { Gathered } from './gather.ts'

describe('what is gathered', () => {
  let begun: string[]
  let goesOn: boolean
  let nowMs: number
  let turns: (() => void)[]
  let gathered: Gathered
  const mine = { flow: 'mine' }
  const add = (name: string, peer: { readonly flow: string } = mine, tookMs = 0): void =>
    gathered.add(peer, () => {
      begun.push(name)
      nowMs += tookMs
      return goesOn
    })
  const endTurn = (): void => {
    const ending = turns
    turns = []
    for (const end of ending) end()
  }
  beforeEach(() => {
    begun = []
    goesOn = false
    turns = []
    nowMs = 0
    gathered = new Gathered({ now: () => nowMs, soon: (run) => turns.push(run), behind: (run) => run() })
  })

  test('in one turn begins when it is over, in order', () => {
    add('first')
    add('second')
    expect(begun).toEqual([])
    endTurn()
    expect(begun).toEqual(['first', 'second'])
    expect(turns).toEqual([])
  })

  test('while others begin waits for the next turn', () => {
    gathered.add(mine, () => {
      add('late')
      return false
    })
    endTurn()
    expect(begun).toEqual([])
    endTurn()
    expect(begun).toEqual(['late'])
  })

  test('begins at once where its connection ends, and only once', () => {
    const other = { flow: 'other' }
    add('mine')
    add('other', other)
    gathered.beginOf(mine)
    expect(begun).toEqual(['mine'])
    endTurn()
    expect(begun).toEqual(['mine', 'other'])
  })

  test.each([false, true])('is given its share of each turn, going on by itself: %s', (each) => {
    goesOn = each
    for (let i = 0; i < 40; i++) add(`flood ${i}`, mine, 1)
    endTurn()
    expect(begun).toHaveLength(4)
    endTurn()
    expect(begun).toHaveLength(8)
    for (let turn = 0; turn < 10; turn++) endTurn()
    expect(begun).toEqual(Array.from({ length: 40 }, (_, i) => `flood ${i}`))
    expect(turns).toEqual([])
  })

  test('of a flow that has had its share waits, and what came behind it begins', () => {
    for (let i = 0; i < 10; i++) add(`flood ${i}`, mine, 2)
    add('read', { flow: 'victim' }, 1)
    endTurn()
    expect(begun).toEqual(['flood 0', 'flood 1', 'read'])
  })

  test.each([
    { each: 'short', tookMs: 0.05, together: [1, 2, 4, 8, 8, 8] },
    { each: 'half a millisecond', tookMs: 0.5, together: [1, 2, 2, 2, 2] },
    { each: 'long', tookMs: 2, together: [1, 1] },
  ])('is looked at behind as many as are done within a millisecond, where each is $each', ({ tookMs, together }) => {
    const looked: number[] = []
    let set = 0
    gathered = new Gathered({
      now: () => nowMs,
      soon: (run) => turns.push(run),
      behind: (run) => {
        looked.push(set)
        nowMs += set * tookMs
        set = 0
        run()
      },
    })
    for (let i = 0; i < 31; i++) {
      gathered.add(mine, () => {
        set++
        return true
      })
    }
    endTurn()
    // Nothing is behind the last one.
    expect(set === 0 ? looked : [...looked, set]).toEqual(together)
  })

  test('of many flows is given a few milliseconds of each turn', () => {
    for (let i = 0; i < 40; i++) add(`${i}`, { flow: `user ${i}` }, 1)
    endTurn()
    expect(begun).toHaveLength(10)
    endTurn()
    expect(begun).toHaveLength(20)
    for (let turn = 0; turn < 2; turn++) endTurn()
    expect(begun).toEqual(Array.from({ length: 40 }, (_, i) => `${i}`))
    expect(turns).toEqual([])
  })

  test('takes as long as what it sets going', async () => {
    const ended: string[] = []
    const inEventLoop = new Gathered({ now: () => nowMs })
    const { promise: all, resolve } = Promise.withResolvers<void>()
    const work = async (name: string): Promise<void> => {
      for (let step = 0; step < 10; step++) await Promise.resolve()
      begun.push(name)
      nowMs += 4
    }
    const beganBy = (): void => void ended.push(`turn over after ${begun.length}`)
    for (const name of ['first', 'second', 'third']) inEventLoop.add(mine, () => work(name) !== undefined)
    setImmediate(beganBy)
    setImmediate(() => setImmediate(() => setImmediate(() => setImmediate(resolve))))
    await all
    expect(begun).toEqual(['first', 'second', 'third'])
    expect(ended).toEqual(['turn over after 1'])
  })

  test('looks at its time after each request: one may take all of it', () => {
    for (let i = 0; i < 8; i++) add(`slow ${i}`, mine, 12)
    endTurn()
    expect(begun).toEqual(['slow 0'])
    endTurn()
    expect(begun).toEqual(['slow 0', 'slow 1'])
  })

  test('begins one of each flow in turn when there is more than a turn has time for', () => {
    const victim = { flow: 'victim' }
    for (let i = 0; i < 100; i++) add(`flood ${i}`, mine, 3)
    add('read', victim, 1)
    add('write', victim, 1)
    endTurn()
    expect(begun).toEqual(['flood 0', 'flood 1', 'read', 'write'])
    add('another read', victim, 1)
    endTurn()
    expect(begun.slice(4)).toEqual(['flood 2', 'another read', 'flood 3'])
  })

  test('of a connection that ends begins though others were before it', () => {
    const victim = { flow: 'victim' }
    for (let i = 0; i < 100; i++) add(`flood ${i}`, mine, 3)
    add('read', victim)
    endTurn()
    gathered.beginOf(victim)
    expect(begun.at(-1)).toBe('read')
    for (let turn = 0; turn < 100; turn++) endTurn()
    expect(begun.filter((name) => name === 'read')).toEqual(['read'])
  })
})
