/**
 * metav1.Time and metav1.MicroTime: a message {1: seconds, 2: nanoseconds}; no bytes at all is Go's zero time, which is
 * `null` in JSON. Time carries whole seconds only, MicroTime microseconds.
 * @see k8s.io/apimachinery/pkg/apis/meta/v1/time_proto.go, micro_time_proto.go v0.36
 */
import { mismatch, type ValueCodec } from './value-codec.ts'
import { DecodeError, type WireReader, wireBytes } from './wire-reader.ts'
import type { WireWriter } from './wire-writer.ts'

const secondsTag = 0x08
const nanosTag = 0x10
/** Years 0001 to 9999: what RFC 3339 can say. */
const minSeconds = -62_135_596_800
const maxSeconds = 253_402_300_799

interface Instant {
  readonly seconds: number
  readonly micros: number
}

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/

/** Undefined if the text is no RFC 3339 time. */
function parseTime(text: string): Instant | undefined {
  const m = rfc3339.exec(text)
  if (!m) return undefined
  const [, year, month, day, hour, minute, second, fraction, sign, offsetHours, offsetMinutes] = m
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  date.setUTCHours(Number(hour), Number(minute), Number(second))
  if (date.getUTCDate() !== Number(day) || date.getUTCMonth() !== Number(month) - 1) return undefined
  const offset = sign ? (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -60 : 60) : 0
  const micros = fraction ? Number(fraction.padEnd(6, '0').slice(0, 6)) : 0
  return { seconds: date.getTime() / 1000 - offset, micros }
}

function writeInstant(writer: WireWriter, value: unknown, withMicros: boolean): void {
  if (value === undefined || value === null) {
    writer.unsigned(0)
    return
  }
  const instant = typeof value === 'string' ? parseTime(value) : undefined
  if (!instant) throw mismatch('RFC 3339 time', value)
  if (instant.seconds === minSeconds && instant.micros === 0) {
    writer.unsigned(0)
    return
  }
  const before = writer.length
  writer.unsigned(withMicros ? instant.micros * 1000 : 0)
  writer.unsigned(nanosTag)
  writer.signed(instant.seconds)
  writer.unsigned(secondsTag)
  writer.unsigned(writer.length - before)
}

/** Undefined for the zero time. */
function readInstant(reader: WireReader): Instant | undefined {
  const outer = reader.enter()
  const empty = reader.position === reader.end
  let seconds = 0
  let nanos = 0
  while (reader.position < reader.end) {
    const tag = reader.tag()
    if (tag === secondsTag) seconds = checkedSeconds(reader.int64())
    else if (tag === nanosTag) nanos = reader.int32()
    else reader.skip(tag & 7)
  }
  reader.leave(outer)
  if (nanos < 0 || nanos > 999_999_999) throw new DecodeError('nanoseconds of a time are out of range')
  return empty || (seconds === minSeconds && nanos === 0) ? undefined : { seconds, micros: Math.floor(nanos / 1000) }
}

function checkedSeconds(value: unknown): number {
  if (typeof value === 'number' && value >= minSeconds && value <= maxSeconds) return value
  throw new DecodeError('a time is outside the years 1 to 9999')
}

/** `2006-01-02T15:04:05`. */
const printSeconds = (instant: Instant): string => new Date(instant.seconds * 1000).toISOString().slice(0, 19)

const isEmpty = (value: unknown): boolean => value === undefined

export const timeCodec: ValueCodec = {
  wire: wireBytes,
  write: (writer, value) => writeInstant(writer, value, false),
  read(reader) {
    const instant = readInstant(reader)
    return instant && `${printSeconds(instant)}Z`
  },
  isEmpty,
}

export const microTimeCodec: ValueCodec = {
  wire: wireBytes,
  write: (writer, value) => writeInstant(writer, value, true),
  read(reader) {
    const instant = readInstant(reader)
    return instant && `${printSeconds(instant)}.${String(instant.micros).padStart(6, '0')}Z`
  },
  isEmpty,
}
