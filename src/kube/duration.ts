/**
 * Durations: how tables print an age, and Go's notation in `?timeout=`.
 * @see k8s.io/apimachinery/pkg/util/duration/duration.go v0.36, Go time.ParseDuration
 */

/** Two or three significant parts: `45s`, `5m30s`, `3h20m`, `2d4h`, `400d`, `3y`. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000)
  // A small negative age is a clock that is a little off.
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return withRest(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (days < 8) return withRest(days, 'd', hours % 24, 'h')
  if (days < 365 * 2) return `${days}d`
  const years = Math.trunc(days / 365)
  return years < 8 ? withRest(years, 'y', days % 365, 'd') : `${years}y`
}

const withRest = (n: number, unit: string, rest: number, restUnit: string): string =>
  rest === 0 ? `${n}${unit}` : `${n}${unit}${rest}${restUnit}`

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

/** An int64 of nanoseconds ends here. */
const maxMs = 9_223_372_036_854.775
/** As long as one can be, in whole hours. */
export const longestGoDuration: string = `${Math.floor(maxMs / 3_600_000)}h`

/** `1m30s`, `1.5h`, `-2ms`, `0` to milliseconds; undefined for what Go refuses. */
export function parseGoDuration(text: string): number | undefined {
  const ms = millisecondsIn(text)
  return ms === undefined || Math.abs(ms) > maxMs ? undefined : ms
}

/** It is written as one, and Go refuses it because it is longer than one can be. */
export const isBeyondGoDuration = (text: string): boolean => (millisecondsIn(text) ?? 0) > maxMs

function millisecondsIn(text: string): number | undefined {
  const m = /^([+-]?)(.+)$/s.exec(text)
  if (!m) return undefined
  const [, sign, body = ''] = m
  if (body === '0') return 0
  let total = 0
  let end = 0
  // Each digit has one place in it: of a text of a megabyte, which clients may write, two would take an hour to try.
  const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y
  for (let p = part.exec(body); p; p = part.exec(body)) {
    total += Number(p[1]) * (unitMs[p[2] ?? ''] ?? 0)
    end = part.lastIndex
  }
  if (end !== body.length) return undefined
  return sign === '-' ? -total : total
}
