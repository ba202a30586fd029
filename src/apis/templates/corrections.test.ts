import { expect, test } from 'vitest'
import { FakeClock } from '../../base/fake-clock.ts'
import { Corrections, mostCorrections } from './corrections.ts'

const minuteMs = 60_000

test('a place is spent after ten corrections, and free again when the first is an hour old', async () => {
  const clock = new FakeClock()
  const corrections = new Corrections(clock)
  for (let i = 0; i < mostCorrections; i++) {
    expect(corrections.isSpent('a')).toBe(false)
    corrections.note('a')
    await clock.advance(minuteMs)
  }
  expect(corrections.isSpent('a')).toBe(true)
  expect(corrections.isSpent('b')).toBe(false)
  await clock.advance((60 - mostCorrections) * minuteMs)
  expect(corrections.isSpent('a')).toBe(false)
})

test('of ten thousand places it is known whether they are spent: the one corrected longest ago is forgotten', () => {
  const corrections = new Corrections(new FakeClock())
  for (let i = 0; i < mostCorrections; i++) corrections.note('a')
  for (let i = 1; i < 10_000; i++) corrections.note(`other ${i}`)
  expect(corrections.isSpent('a')).toBe(true)
  corrections.note('one more')
  expect(corrections.isSpent('a')).toBe(false)
})

test('a place is told of once a minute', async () => {
  const clock = new FakeClock()
  const corrections = new Corrections(clock)
  expect([corrections.note('a'), corrections.note('a'), corrections.note('b')]).toEqual([true, false, true])
  await clock.advance(minuteMs)
  expect([corrections.note('a'), corrections.note('a')]).toEqual([true, false])
})
