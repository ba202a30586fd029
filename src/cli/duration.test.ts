import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dayMs, hourMs, minuteMs, parseDuration, printDuration, timerOrNone, validityBounds } from './duration.ts'

describe('a duration is read', () => {
  const cases: readonly (readonly [text: string, ms: number])[] = [
    ['500ms', 500],
    ['90s', 90_000],
    ['1h30m', 90 * minuteMs],
    ['1.5h', 90 * minuteMs],
    ['24h', dayMs],
    ['7d', 7 * dayMs],
    ['1d12h', 36 * hourMs],
  ]
  test.each(cases)('%s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  test('0 and 0s, where nothing is a duration too', () => {
    expect(['0', '0s', '0d'].map((text) => parseDuration(text, timerOrNone))).toEqual([0, 0, 0])
  })
})

describe('a duration is refused', () => {
  const form = 'It must be a duration like 90s, 1h30m or 7d'
  const range = 'It must be from 1ms to 24d, in whole ms.'
  const cases: readonly (readonly [text: string, message: string])[] = [
    ['', `${form}.`],
    ['86400000', `${form}: 86400000 has no unit.`],
    ['-5m', `${form}.`],
    ['7d-1h', `${form}.`],
    ['1w', `${form}.`],
    ['1h 30m', `${form}.`],
    ['m', `${form}.`],
    ['0', range],
    ['0s', range],
    ['1us', range],
    // A timer for longer would end at once.
    ['25d', range],
    ['600h', range],
  ]
  test.each(cases)('%j', (text, message) => {
    expect(() => parseDuration(text)).toThrow(expect.objectContaining({ message }))
  })

  test('as the validity of a certificate, beyond a hundred years', () => {
    expect(parseDuration('36500d', validityBounds)).toBe(36_500 * dayMs)
    expect(() => parseDuration('36501d', validityBounds)).toThrow('It must be from 1s to 36500d, in whole ms.')
  })
})

describe('a duration is printed', () => {
  const cases: readonly (readonly [ms: number, text: string])[] = [
    [0, '0s'],
    [1500, '1s500ms'],
    [60_000, '1m'],
    [90 * minuteMs, '1h30m'],
    [dayMs, '24h'],
    [7 * dayMs, '7d'],
    [50 * hourMs, '2d2h'],
  ]
  test.each(cases)('%d', (ms, text) => {
    expect(printDuration(ms)).toBe(text)
  })

  test('as it is read', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 24 * dayMs }), (ms) => {
        expect(parseDuration(printDuration(ms), timerOrNone)).toBe(ms)
      }),
    )
  })
})
