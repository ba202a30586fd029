/**
 * Whether a text is a cron schedule, in the words of the library upstream uses.
 * @see github.com/robfig/cron/v3 parser.go, ParseStandard
 */

interface Bounds {
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const fields: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] },
  { min: 0, max: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
]

const descriptors = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'])
const duration = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h)(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))*$/

/** The complaint, or undefined. */
export function scheduleError(text: string): string | undefined {
  if (text === '') return 'empty spec string'
  const schedule = text.replace(/^(?:TZ|CRON_TZ)=\S+\s+/, '')
  if (schedule.startsWith('@')) {
    if (descriptors.has(schedule)) return undefined
    if (schedule.startsWith('@every ')) {
      const rest = schedule.slice('@every '.length)
      return duration.test(rest)
        ? undefined
        : `failed to parse duration ${schedule}: time: invalid duration ${JSON.stringify(rest)}`
    }
    return `unrecognized descriptor: ${schedule}`
  }
  const parts = schedule.split(/\s+/).filter((p) => p !== '')
  if (parts.length !== fields.length) {
    return `expected exactly ${fields.length} fields, found ${parts.length}: [${parts.join(' ')}]`
  }
  for (const [i, bounds] of fields.entries()) {
    for (const range of (parts[i] ?? '').split(',')) {
      const error = rangeError(range, bounds)
      if (error) return error
    }
  }
  return undefined
}

function rangeError(expression: string, bounds: Bounds): string | undefined {
  const [range = '', step, ...more] = expression.split('/')
  const [low = '', high, ...extra] = range.split('-')
  if (extra.length > 0) return `too many hyphens: ${expression}`
  if (more.length > 0) return `too many slashes: ${expression}`
  let start = bounds.min
  let end = bounds.max
  if (low !== '*' && low !== '?') {
    const first = numberOf(low, bounds)
    if (typeof first === 'string') return first
    start = first
    const last = high === undefined ? (step === undefined ? first : bounds.max) : numberOf(high, bounds)
    if (typeof last === 'string') return last
    end = last
  }
  if (step !== undefined) {
    const width = numberOf(step, { min: 0, max: 0 })
    if (typeof width === 'string') return width
    if (width === 0) return `step of range should be a positive number: ${expression}`
  }
  if (start < bounds.min) return `beginning of range (${start}) below minimum (${bounds.min}): ${expression}`
  if (end > bounds.max) return `end of range (${end}) above maximum (${bounds.max}): ${expression}`
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${expression}`
  return undefined
}

/** The number, or why it is none. */
function numberOf(text: string, bounds: Bounds): number | string {
  const named = bounds.names?.indexOf(text.toLowerCase()) ?? -1
  if (named >= 0 && text !== '') return named
  if (!/^[+-]?\d+$/.test(text)) {
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`
  }
  const value = Number(text)
  return value < 0 ? `negative number (${value}) not allowed: ${text}` : value
}

export function isKnownTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch (e) {
    if (e instanceof RangeError) return false
    throw e
  }
}
