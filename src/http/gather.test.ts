import { beforeEach, describe, expect, test } from 'vitest'
import { Gathered } from './gather.ts'

describe('what is gathered', () => {
  let begun: string[]
  let nowMs: number
  let turns: (() => void)[]
  let gathered: Gathered
  const mine = { flow: 'mine' }
  const add = (name: string, peer: { readonly flow: string } = mine, tookMs = 0): void =>
    gathered.add(peer, () => {
      begun.push(name)
      nowMs += tookMs
    })
  const endTurn = (): void => {
    const ending = turns
    turns = []
    for (const end of ending) end()
  }
  beforeEach(() => {
    begun = []
    turns = []
    nowMs = 0
    gathered = new Gathered(
      () => nowMs,
      (run) => turns.push(run),
    )
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
    gathered.add(mine, () => add('late'))
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

  test('is given a few milliseconds of each turn', () => {
    for (let i = 0; i < 40; i++) add(`flood ${i}`, mine, 1)
    endTurn()
    const first = begun.length
    expect(first).toBeGreaterThanOrEqual(10)
    expect(first).toBeLessThan(20)
    endTurn()
    expect(begun.length - first).toBe(10)
    for (let turn = 0; turn < 5; turn++) endTurn()
    expect(begun).toEqual(Array.from({ length: 40 }, (_, i) => `flood ${i}`))
    expect(turns).toEqual([])
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
    expect(begun).not.toContain('read')
    const first = begun.length
    endTurn()
    expect(first).toBe(4)
    expect(begun.slice(first, first + 4).sort()).toEqual(['flood 4', 'flood 5', 'read', 'write'])
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
