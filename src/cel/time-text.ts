/** Moments and spans as text: RFC 3339 with up to nine decimals, Go's durations. */
import { CelError, Duration, Timestamp } from './values.ts'

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9})\d*)?(Z|[+-]\d\d:\d\d)$/i

/** @throws CelError */
export function parseTimestamp(text: string): Timestamp {
  const m = text.length <= 64 ? rfc3339.exec(text) : null
  const ms = m ? Date.UTC(Number(m[1]), Number(m[2]) - 1, Number(m[3]), Number(m[4]), Number(m[5]), Number(m[6])) : NaN
  const date = new Date(ms)
  if (!m || Number.isNaN(ms) || date.getUTCDate() !== Number(m[3]) || Number(m[4]) > 23 || Number(m[6]) > 59) {
    throw new CelError(`invalid timestamp ${JSON.stringify(text.slice(0, 64))}`)
  }
  // Date.UTC takes the years 0 to 99 for those of the last century.
  if (Number(m[1]) < 100) date.setUTCFullYear(Number(m[1]))
  const nanos = BigInt((m[7] ?? '').padEnd(9, '0'))
  const offset = offsetMinutes(m[8] ?? 'Z') ?? 0
  return new Timestamp((BigInt(date.getTime()) - BigInt(offset) * 60_000n) * 1_000_000n + nanos)
}

/** `+02:00`, `-08:00`, `Z`; undefined for names of zones. */
export function offsetMinutes(zone: string): number | undefined {
  if (/^(z|utc)$/i.test(zone) || zone === '') return 0
  const m = /^([+-]?)(\d\d):(\d\d)$/.exec(zone)
  if (!m) return undefined
  const minutes = Number(m[2]) * 60 + Number(m[3])
  return m[1] === '-' ? -minutes : minutes
}

export function printTimestamp({ nanos }: Timestamp): string {
  const rest = ((nanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n
  const date = new Date(Number((nanos - rest) / 1_000_000n)).toISOString().slice(0, 19)
  const fraction =
    rest === 0n
      ? ''
      : `.${String(rest)
          .padStart(9, '0')
          .replace(/(?<!0)0+$/, '')}`
  return `${date}${fraction}Z`
}

const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}

/** @throws CelError */
export function parseDuration(text: string): Duration {
  const wrong = (): CelError => new CelError(`time: invalid duration ${JSON.stringify(text.slice(0, 64))}`)
  const m = text.length <= 256 ? /^([+-]?)((?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|0)$/.exec(text) : null
  if (!m) throw wrong()
  let nanos = 0n
  for (const [, whole = '', fraction = '', unit = ''] of (m[2] ?? '').matchAll(
    /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/gy,
  )) {
    const per = units[unit] ?? 0n
    nanos += BigInt(whole || '0') * per
    if (fraction) nanos += (BigInt(fraction) * per) / 10n ** BigInt(fraction.length)
  }
  if (nanos > 2n ** 63n - 1n) throw wrong()
  return new Duration(m[1] === '-' ? -nanos : nanos)
}

/** In seconds, as the language prints it. */
export function printDuration({ nanos }: Duration): string {
  const size = nanos < 0n ? -nanos : nanos
  const fraction = String(size % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/(?<!0)0+$/, '')
  return `${nanos < 0n ? '-' : ''}${size / 1_000_000_000n}${fraction ? `.${fraction}` : ''}s`
}
