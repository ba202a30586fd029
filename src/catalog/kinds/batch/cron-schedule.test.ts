import { expect, it } from 'vitest'
import { isKnownTimeZone, scheduleError } from './cron-schedule.ts'

const valid = [
  '* * * * *',
  '*/5 0-3,7 1 jan-MAR sun',
  '0 0 1 1 ?',
  '5/15 * * * *',
  '@hourly',
  '@every 1h30m',
  'TZ=UTC 0 0 * * *',
]
it.each(valid)('%s is a schedule', (text) => {
  expect(scheduleError(text)).toBeUndefined()
})

const invalid: [text: string, error: string][] = [
  ['', 'empty spec string'],
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['*/1/2 * * * *', 'too many slashes: */1/2'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ['* * * * 7', 'end of range (7) above maximum (6): 7'],
  ['@monday', 'unrecognized descriptor: @monday'],
  ['@every now', 'failed to parse duration @every now: time: invalid duration "now"'],
]
it.each(invalid)('%j is none: %s', (text, error) => {
  expect(scheduleError(text)).toBe(error)
})

it('knows time zones', () => {
  expect(isKnownTimeZone('Europe/Zurich')).toBe(true)
  expect(isKnownTimeZone('Etc/UTC')).toBe(true)
  expect(isKnownTimeZone('Moon/Tycho')).toBe(false)
})
