/**
 * How one value, not yet a field, goes over the wire: the scalars of Kubernetes' protobuf.
 */
import { integerOf } from './exact-integer.ts'
import { type WireReader, type WireType, wireBytes, wireFixed64, wireVarint } from './wire-reader.ts'
import { EncodeError, type WireWriter } from './wire-writer.ts'

export interface ValueCodec {
  readonly wire: WireType
  /** Writes the value, with its length if `wire` is bytes. Undefined and null stand for Go's zero value. */
  write(writer: WireWriter, value: unknown): void
  /** The JSON form; undefined for what JSON would print as `null`. */
  read(reader: WireReader): unknown
  /** True for what JSON's omitempty leaves out. */
  isEmpty(value: unknown): boolean
}

/** Narrow a value, or say what was there instead. */
export function mismatch(want: string, value: unknown): EncodeError {
  return new EncodeError(`want ${want}, got ${value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value}`)
}

export const stringCodec: ValueCodec = {
  wire: wireBytes,
  write(writer, value) {
    if (typeof value === 'string') writer.string(value)
    else if (value === undefined || value === null) writer.unsigned(0)
    else throw mismatch('string', value)
  },
  read: (reader) => reader.string(),
  isEmpty: (value) => value === '',
}

export const boolCodec: ValueCodec = {
  wire: wireVarint,
  write(writer, value) {
    if (typeof value === 'boolean') writer.unsigned(value ? 1 : 0)
    else if (value === undefined || value === null) writer.unsigned(0)
    else throw mismatch('boolean', value)
  },
  read: (reader) => reader.bool(),
  isEmpty: (value) => value === false,
}

function writeInteger(writer: WireWriter, value: unknown): void {
  if (value === undefined || value === null) {
    writer.unsigned(0)
    return
  }
  const integer = integerOf(value)
  if (integer === undefined) throw mismatch('integer', value)
  writer.signed(integer)
}

export const int32Codec: ValueCodec = {
  wire: wireVarint,
  write: writeInteger,
  read: (reader) => reader.int32(),
  isEmpty: (value) => value === 0,
}

export const int64Codec: ValueCodec = {
  wire: wireVarint,
  write: writeInteger,
  read: (reader) => reader.int64(),
  isEmpty: (value) => value === 0,
}

export const doubleCodec: ValueCodec = {
  wire: wireFixed64,
  write(writer, value) {
    if (typeof value === 'number') writer.double(value)
    else if (value === undefined || value === null) writer.double(0)
    else throw mismatch('number', value)
  },
  read: (reader) => reader.double(),
  isEmpty: (value) => value === 0,
}

/** Go's []byte: base64 in JSON. */
export const bytesCodec: ValueCodec = {
  wire: wireBytes,
  write(writer, value) {
    if (typeof value === 'string') {
      const bytes = Buffer.from(value, 'base64')
      writer.bytes(bytes)
      writer.unsigned(bytes.length)
    } else if (value === undefined || value === null) writer.unsigned(0)
    else throw mismatch('base64 string', value)
  },
  read: (reader) => reader.bytes().toString('base64'),
  isEmpty: (value) => value === '',
}
