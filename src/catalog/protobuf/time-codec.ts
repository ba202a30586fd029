/**
 * metav1.Time and metav1.MicroTime: a message {1: seconds, 2: nanoseconds}; no bytes at all is Go's zero time, which is
 * `null` in JSON. Time carries whole seconds only, MicroTime microseconds.
 * @see k8s.io/apimachinery/pkg/apis/meta/v1/time_proto.go, micro_time_proto.go v0.36
 */
import { formatMicroTime, formatTime, parseTime } from '../../kube/time.ts'
import { mismatch, type ValueCodec } from './value-codec.ts'
import { DecodeError, type WireReader, wireBytes } from './wire-reader.ts'
import type { WireWriter } from './wire-writer.ts'

const secondsTag = 0x08
const nanosTag = 0x10
/** Years 0001 to 9999: what RFC 3339 can say. */
const minSeconds = -62_135_596_800
const maxSeconds = 253_402_300_799
const zeroTimeMs = minSeconds * 1000

function writeInstant(writer: WireWriter, value: unknown, withMicros: boolean): void {
  if (value === undefined || value === null) {
    writer.unsigned(0)
    return
  }
  const ms = typeof value === 'string' ? parseTime(value) : undefined
  if (ms === undefined) throw mismatch('RFC 3339 time', value)
  const seconds = Math.floor(ms / 1000)
  if (ms === zeroTimeMs) {
    writer.unsigned(0)
    return
  }
  const before = writer.length
  writer.unsigned(withMicros ? Math.min(Math.round((ms - seconds * 1000) * 1000), 999_999) * 1000 : 0)
  writer.unsigned(nanosTag)
  writer.signed(seconds)
  writer.unsigned(secondsTag)
  writer.unsigned(writer.length - before)
}

/** Milliseconds since the epoch; undefined for the zero time. */
function readInstant(reader: WireReader): number | undefined {
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
  const ms = seconds * 1000 + Math.floor(nanos / 1000) / 1000
  return empty || ms === zeroTimeMs ? undefined : ms
}

function checkedSeconds(value: unknown): number {
  if (typeof value === 'number' && value >= minSeconds && value <= maxSeconds) return value
  throw new DecodeError('a time is outside the years 1 to 9999')
}

const isEmpty = (value: unknown): boolean => value === undefined

export const timeCodec: ValueCodec = {
  wire: wireBytes,
  write: (writer, value) => writeInstant(writer, value, false),
  read(reader) {
    const ms = readInstant(reader)
    return ms === undefined ? undefined : formatTime(ms)
  },
  isEmpty,
}

export const microTimeCodec: ValueCodec = {
  wire: wireBytes,
  write: (writer, value) => writeInstant(writer, value, true),
  read(reader) {
    const ms = readInstant(reader)
    return ms === undefined ? undefined : formatMicroTime(ms)
  },
  isEmpty,
}
