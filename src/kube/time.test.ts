import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { humanDuration, parseGoDuration } from './duration.ts'
import { formatMicroTime, formatTime, parseTime, timeFault } from './time.ts'

describe('times', () => {
  const valid: [given: string, time: string, micro: string][] = [
    ['2026-11-20T23:53:08Z', '2026-11-20T23:53:08Z', '2026-11-20T23:53:08.000000Z'],
    ['2026-01-01T00:30:00+02:00', '2025-12-31T22:30:00Z', '2025-12-31T22:30:00.000000Z'],
    ['2024-02-29T00:00:00.123456789Z', '2024-02-29T00:00:00Z', '2024-02-29T00:00:00.123456Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000Z'],
    ['1969-12-31T23:59:59.5Z', '1969-12-31T23:59:59Z', '1969-12-31T23:59:59.500000Z'],
  ]
  test.each(valid)('%s is read', (given, time, micro) => {
    const ms = parseTime(given) ?? Number.NaN
    expect(formatTime(ms)).toBe(time)
    expect(formatMicroTime(ms)).toBe(micro)
  })

  const layout = 'as "2006-01-02T15:04:05Z07:00": cannot parse'
  const invalid: [given: string, want: string][] = [
    ['', `parsing time "" ${layout} "" as "2006"`],
    ['yesterday', `parsing time "yesterday" ${layout} "yesterday" as "2006"`],
    ['2026-11-20', `parsing time "2026-11-20" ${layout} "" as "T"`],
    ['2026-11-20 10:00:00Z', `parsing time "2026-11-20 10:00:00Z" ${layout} " 10:00:00Z" as "T"`],
    ['2026-11-20T10:00:00', `parsing time "2026-11-20T10:00:00" ${layout} "" as "Z07:00"`],
    ['2026-13-20T10:00:00Z', 'parsing time "2026-13-20T10:00:00Z": month out of range'],
    ['2026-02-29T10:00:00Z', 'parsing time "2026-02-29T10:00:00Z": day out of range'],
    ['2026-02-20T24:00:00Z', 'parsing time "2026-02-20T24:00:00Z": hour out of range'],
    ['2026-02-20T10:00:00Zx', 'parsing time "2026-02-20T10:00:00Zx": extra text: "x"'],
  ]
  test.each(invalid)('%s is refused in the words of Go', (given, want) => {
    expect(parseTime(given)).toBeUndefined()
    expect(timeFault(given)).toBe(want)
  })

  test('the text before says nothing about the next one', () => {
    const texts = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', 'no time', 'no time', '2026-01-01T00:00:01Z']
    const [first, again, none, still, next] = texts.map(parseTime)
    expect([again, none, still, next]).toEqual([first, undefined, undefined, (first ?? 0) + 1000])
  })

  test('what was printed is read back', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_000 }), (ms) => {
        expect(parseTime(formatMicroTime(ms))).toBe(ms)
        expect(parseTime(formatTime(ms))).toBe(Math.floor(ms / 1000) * 1000)
      }),
      { numRuns: 200 },
    )
  })
})

describe('ages', () => {
  const s = 1000
  const m = 60 * s
  const h = 60 * m
  const d = 24 * h
  const cases: [ms: number, want: string][] = [
    [-3 * s, '<invalid>'],
    [-1 * s, '0s'],
    [0, '0s'],
    [119 * s, '119s'],
    [2 * m, '2m'],
    [5 * m + 30 * s, '5m30s'],
    [10 * m + 30 * s, '10m'],
    [179 * m, '179m'],
    [3 * h, '3h'],
    [3 * h + 20 * m, '3h20m'],
    [8 * h + 20 * m, '8h'],
    [47 * h, '47h'],
    [48 * h, '2d'],
    [3 * d + 4 * h, '3d4h'],
    [8 * d + 4 * h, '8d'],
    [729 * d, '729d'],
    [730 * d, '2y'],
    [800 * d, '2y70d'],
    [8 * 365 * d + 3 * d, '8y'],
  ]
  test.each(cases)('%d ms is %s', (ms, want) => expect(humanDuration(ms)).toBe(want))
})

describe('durations of Go', () => {
  const cases: [given: string, want: number | undefined][] = [
    ['0', 0],
    ['30s', 30_000],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['-2ms', -2],
    ['1us', 0.001],
    ['', undefined],
    ['30', undefined],
    ['s', undefined],
    ['1 s', undefined],
    ['1d', undefined],
    ['1s ', undefined],
    ['-', undefined],
    ['9999999h', undefined],
  ]
  test.each(cases)('%s', (given, want) => expect(parseGoDuration(given)).toBe(want))

  test('digits without end take no time beyond that of reading them', () => {
    expect(parseGoDuration('1'.repeat(1_000_000))).toBeUndefined()
    expect(parseGoDuration(`${'1'.repeat(1_000_000)}.${'1'.repeat(1_000_000)}`)).toBeUndefined()
  })
})
