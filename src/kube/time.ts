/**
 * Times on the wire: RFC 3339 in UTC, whole seconds (metav1.Time) or six digits of a second (metav1.MicroTime).
 * In the program: milliseconds since the epoch, with a fraction where microseconds were given.
 * @see k8s.io/apimachinery/pkg/apis/meta/v1/time.go, micro_time.go; Go time.Parse
 */

/** Most calls are about the present second. As `known`, forgotten when there are many: to keep an order costs more. */
const formatted = new Map<number, string>()
const mostFormatted = 16

/** `2026-11-20T23:53:08Z`; parts of a second are cut off. */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / 1000)
  const before = formatted.get(second)
  if (before !== undefined) return before
  const text = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`
  if (formatted.size >= mostFormatted) formatted.clear()
  formatted.set(second, text)
  return text
}

/** `2026-11-20T23:53:08.000000Z` */
export function formatMicroTime(ms: number): string {
  const second = Math.floor(ms / 1000)
  // A double holds today's milliseconds to a quarter of a microsecond.
  const micros = Math.min(Math.round((ms - second * 1000) * 1000), 999_999)
  return `${new Date(second * 1000).toISOString().slice(0, 19)}.${String(micros).padStart(6, '0')}Z`
}

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** One object names one time often, and so do objects that come together. */
const known = new Map<string, number>()
const mostKnown = 256
/** Nanoseconds and an offset. A fraction may have any number of digits. */
const longestKnown = 40

/** Undefined for what Go's `time.Parse(time.RFC3339, …)` refuses. */
export function parseTime(text: string): number | undefined {
  const before = known.get(text)
  if (before !== undefined) return before
  const ms = parseAnew(text)
  if (ms === undefined || text.length > longestKnown) return ms
  if (known.size >= mostKnown) known.clear()
  known.set(text, ms)
  return ms
}

function parseAnew(text: string): number | undefined {
  const m = rfc3339.exec(text)
  if (!m || rangeFault(m) !== undefined) return undefined
  const [, year, month, day, hour, minute, second, fraction, sign, offsetHours, offsetMinutes] = m
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second)
  const offset = sign ? (Number(offsetHours) * 3600 + Number(offsetMinutes) * 60) * (sign === '-' ? -1 : 1) : 0
  const micros = fraction ? Number(fraction.slice(0, 6).padEnd(6, '0')) : 0
  return date.getTime() + (seconds - offset) * 1000 + micros / 1000
}

function rangeFault(m: RegExpExecArray): string | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = m.slice(1, 7).map(Number)
  if (month < 1 || month > 12) return 'month'
  if (hour > 23) return 'hour'
  if (minute > 59) return 'minute'
  if (second > 59) return 'second'
  if (m[8] && (Number(m[9]) > 24 || Number(m[10]) > 60)) return 'time zone offset'
  if (day < 1 || day > daysIn(year, month)) return 'day'
  return undefined
}

const layout = '2006-01-02T15:04:05Z07:00'
const elements: readonly (readonly [shown: string, pattern: RegExp])[] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', /^\d\d/],
  ['-', /^-/],
  ['02', /^\d\d/],
  ['T', /^T/],
  ['15', /^\d\d/],
  [':', /^:/],
  ['04', /^\d\d/],
  [':', /^:/],
  ['05', /^\d\d(?:[.,]\d+)?/],
  ['Z07:00', /^(?:Z|[+-]\d\d:\d\d)/],
]

/** What Go's `time.Parse(time.RFC3339, text)` says; only for text that `parseTime` refuses. */
export function timeFault(text: string): string {
  const prefix = `parsing time ${JSON.stringify(text)}`
  const m = rfc3339.exec(text)
  const range = m ? rangeFault(m) : undefined
  if (range !== undefined) return `${prefix}: ${range} out of range`
  let rest = text
  for (const [shown, pattern] of elements) {
    const found = pattern.exec(rest)
    if (!found) return `${prefix} as "${layout}": cannot parse ${JSON.stringify(rest)} as "${shown}"`
    rest = rest.slice(found[0].length)
  }
  return `${prefix}: extra text: ${JSON.stringify(rest)}`
}
