/** Parts of moments and spans. Zones are offsets or names of the IANA database. */
import { BoundedCache } from '../../base/bounded-cache.ts'
import type { Budget } from '../budget.ts'
import { type Library, method } from '../functions.ts'
import { offsetMinutes } from '../time-text.ts'
import { CelError, type Duration, type Timestamp } from '../values.ts'

const formats = new BoundedCache<string, Intl.DateTimeFormat>(50)

/** The wall clock of a zone, as if it were UTC. */
function wallClock({ nanos }: Timestamp, zone: string, budget: Budget): Date {
  const ms = Number((nanos - (((nanos % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n)
  const offset = offsetMinutes(zone)
  if (offset !== undefined) return new Date(ms + offset * 60_000)
  let format = formats.get(zone)
  budget.work(100)
  if (!format) {
    budget.work(2_000)
    try {
      format = new Intl.DateTimeFormat('en-US', {
        timeZone: zone,
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      })
    } catch (e) {
      throw new CelError(`unknown time zone ${zone.slice(0, 64)}`, { cause: e })
    }
    formats.set(zone, format)
  }
  const parts = Object.fromEntries(format.formatToParts(ms).map((p) => [p.type, Number(p.value)]))
  const { year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second, ((ms % 1000) + 1000) % 1000))
}

const part = (name: string, read: (clock: Date) => number): Library => [
  method(`timestamp_${name}`, name, ['timestamp', 'int'], (t: Timestamp, budget: Budget) => {
    return BigInt(read(wallClock(t, '', budget)))
  }),
  method(`timestamp_${name}_tz`, name, ['timestamp, string', 'int'], (t: Timestamp, zone: string, budget: Budget) => {
    return BigInt(read(wallClock(t, zone, budget)))
  }),
]

const dayOfYear = (d: Date): number =>
  Math.floor(
    (Date.UTC(d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate()) - Date.UTC(d.getUTCFullYear(), 0, 1)) / 86_400_000,
  )

const spanPart = (name: string, nanosPerUnit: bigint, modulo?: bigint): Library => [
  method(`duration_${name}`, name, ['duration', 'int'], ({ nanos }: Duration) => {
    const whole = nanos / nanosPerUnit
    return modulo === undefined ? whole : whole % modulo
  }),
]

export const timeLibrary: Library = [
  ...part('getFullYear', (d) => d.getUTCFullYear()),
  ...part('getMonth', (d) => d.getUTCMonth()),
  ...part('getDayOfYear', dayOfYear),
  ...part('getDayOfMonth', (d) => d.getUTCDate() - 1),
  ...part('getDate', (d) => d.getUTCDate()),
  ...part('getDayOfWeek', (d) => d.getUTCDay()),
  ...part('getHours', (d) => d.getUTCHours()),
  ...part('getMinutes', (d) => d.getUTCMinutes()),
  ...part('getSeconds', (d) => d.getUTCSeconds()),
  ...part('getMilliseconds', (d) => d.getUTCMilliseconds()),
  ...spanPart('getHours', 3_600_000_000_000n),
  ...spanPart('getMinutes', 60_000_000_000n),
  ...spanPart('getSeconds', 1_000_000_000n),
  ...spanPart('getMilliseconds', 1_000_000n, 1_000n),
]
