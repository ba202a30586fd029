/** What costly conditions came to is found again, where it would come to the same. */
import { describe, expect, test } from 'vitest'
import { digestOfInput, isCostly, JudgedConditions, type Judgement } from './judged-conditions.ts'

const judged = (cost: number, work: number, more: Partial<Judgement> = {}): Judgement => ({
  ...{ verdict: true, isEnded: false, spent: { cost, work } },
  ...more,
})

describe('a verdict that is remembered', () => {
  test.each([
    { left: { cost: 10, work: 20 }, isFound: true },
    { left: { cost: 9, work: 20 }, isFound: false },
    { left: { cost: 10, work: 19 }, isFound: false },
    { left: { cost: 500, work: 500 }, isFound: true },
  ])('is found where what it took is left, $left: $isFound', ({ left, isFound }) => {
    const memory = new JudgedConditions()
    memory.keep('a', { cost: 100, work: 100 }, judged(10, 20))
    expect(memory.find('a', left)).toEqual(isFound ? judged(10, 20) : undefined)
    expect(memory.find('b', left)).toBeUndefined()
  })

  test('but one that was ended only where just as much is left, beside the one that was not', () => {
    const memory = new JudgedConditions()
    const ended = judged(11, 5, { isEnded: true, verdict: 'no more' })
    memory.keep('a', { cost: 10, work: 20 }, ended)
    expect(memory.find('a', { cost: 10, work: 20 })).toBe(ended)
    for (const left of [
      { cost: 11, work: 20 },
      { cost: 10, work: 21 },
      { cost: 9, work: 20 },
    ]) {
      expect(memory.find('a', left)).toBeUndefined()
    }
    const whole = judged(50, 5)
    memory.keep('a', { cost: 100, work: 20 }, whole)
    expect(memory.find('a', { cost: 50, work: 20 })).toBe(whole)
    expect(memory.find('a', { cost: 10, work: 20 })).toBe(ended)
  })

  test('gives way to newer ones, sooner the longer it is', () => {
    const found = (verdict: Judgement['verdict']): number => {
      const memory = new JudgedConditions(100_000)
      const left = { cost: 9, work: 9 }
      for (let i = 0; i < 1000; i++) memory.keep(String(i), left, judged(1, 1, { verdict }))
      return Array.from({ length: 1000 }, (_, i) => memory.find(String(i), left)).filter(Boolean).length
    }
    expect([found(true), found('x'.repeat(1000)), found('x'.repeat(60_000))]).toEqual([333, 43, 0])
  })
})

test('only what takes much is costly, in cost or in work', () => {
  expect([judged(4999, 4999), judged(5000, 0), judged(0, 5000)].map(isCostly)).toEqual([false, true, true])
})

test('other input has another digest, also where it reads alike', () => {
  const digests = [['a', 'b'], ['ab'], ['a"', '"b'], [['a', 'b']]].map((input) => digestOfInput(...input))
  expect(new Set(digests).size).toBe(4)
})
