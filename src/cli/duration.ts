/** Durations on the command line, in the environment and in a file of settings: Go's notation, and days. */
import { InvalidArgumentError, Option } from 'commander'
import { parseGoDuration } from '../kube/duration.ts'

export const secondMs = 1000
export const minuteMs = 60_000
export const hourMs = 3_600_000
export const dayMs: number = 24 * hourMs

export interface DurationBounds {
  readonly leastMs: number
  readonly mostMs: number
}

/** A timer of Node ends at once when it is set for 2^31 ms (24.8 days) or more. */
export const timerBounds: DurationBounds = { leastMs: 1, mostMs: 24 * dayMs }
/** For what 0 switches off. */
export const timerOrNone: DurationBounds = { ...timerBounds, leastMs: 0 }
/** Of a certificate or a token. */
export const validityBounds: DurationBounds = { leastMs: secondMs, mostMs: 36_500 * dayMs }

/** An option that takes a duration and shows its default as one. */
export function durationOption(
  flags: string,
  description: string,
  defaultMs: number,
  bounds: DurationBounds = timerBounds,
): Option {
  return new Option(flags, description)
    .argParser((text) => parseDuration(text, bounds))
    .default(defaultMs, printDuration(defaultMs))
}

/**
 * `90s`, `1h30m`, `500ms`, `7d`, `1d12h` in milliseconds. A day is 24 hours; Go has no unit for it, but validities and
 * backups are counted in days. A number without a unit is refused, except 0: it could be seconds or milliseconds.
 *
 * @throws InvalidArgumentError
 */
export function parseDuration(text: string, { leastMs, mostMs }: DurationBounds = timerBounds): number {
  const [, days = '0', rest = ''] = /^(?:(\d+)d)?(.*)$/s.exec(text) ?? []
  const restMs = rest === '' && text !== '' ? 0 : parseGoDuration(rest)
  if (restMs === undefined || rest.startsWith('-') || rest.startsWith('+')) {
    const hint = /^\d+$/.test(text) ? `: ${text} has no unit` : ''
    throw new InvalidArgumentError(`It must be a duration like 90s, 1h30m or 7d${hint}.`)
  }
  const ms = Number(days) * dayMs + restMs
  if (ms < leastMs || ms > mostMs || !Number.isInteger(ms)) {
    throw new InvalidArgumentError(
      `It must be from ${printDuration(leastMs)} to ${printDuration(mostMs)}, in whole ms.`,
    )
  }
  return ms
}

const units: readonly (readonly [unit: string, ms: number])[] = [
  ['d', dayMs],
  ['h', hourMs],
  ['m', minuteMs],
  ['s', secondMs],
  ['ms', 1],
]

/** As `parseDuration` reads it: `1h30m`; less than two days in hours, as `24h`. */
export function printDuration(ms: number): string {
  let rest = Math.round(ms)
  let text = ''
  for (const [unit, size] of units) {
    if (unit === 'd' && rest < 2 * dayMs) continue
    const n = Math.floor(rest / size)
    rest -= n * size
    if (n > 0) text += `${n}${unit}`
  }
  return text === '' ? '0s' : text
}
