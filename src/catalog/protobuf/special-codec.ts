/**
 * Types whose JSON form is not the form of their message: they marshal themselves in Go.
 */
import { canonicalQuantity, QuantityError } from '../../kube/quantity.ts'
import { JsonSyntaxError, parseJson } from '../../kube/strict-json.ts'
import type { JsonValue } from '../../kube/types.ts'
import { int32Codec, mismatch, stringCodec, type ValueCodec } from './value-codec.ts'
import { DecodeError, type WireReader, wireBytes } from './wire-reader.ts'
import type { WireWriter } from './wire-writer.ts'

/** Reads a message field by field; `take` returns false for a tag it does not know. */
export function readFields(reader: WireReader, take: (tag: number) => boolean): void {
  const outer = reader.enter()
  while (reader.position < reader.end) {
    const tag = reader.tag()
    reader.countValue()
    if (!take(tag)) reader.skip(tag & 7)
  }
  reader.leave(outer)
}

/** Writes a length in front of what `body` wrote. */
export function writeSized(writer: WireWriter, body: () => void): void {
  const before = writer.length
  body()
  writer.unsigned(writer.length - before)
}

const never = (): boolean => false
const isUndefined = (value: unknown): boolean => value === undefined

/**
 * {1: type (0 = number, 1 = text), 2: number, 3: text}, always all three.
 * @see k8s.io/apimachinery/pkg/util/intstr v0.36
 */
export const intOrStringCodec: ValueCodec = {
  wire: wireBytes,
  write(writer, value) {
    writeSized(writer, () => {
      const text = typeof value === 'string'
      stringCodec.write(writer, text ? value : '')
      writer.unsigned(0x1a)
      int32Codec.write(writer, text ? 0 : value)
      writer.unsigned(0x10)
      writer.unsigned(text ? 1 : 0)
      writer.unsigned(0x08)
    })
  },
  read(reader) {
    let type = 0
    let number = 0
    let text = ''
    readFields(reader, (tag) => {
      if (tag === 0x08) type = reader.uint32()
      else if (tag === 0x10) number = reader.int32()
      else if (tag === 0x1a) text = reader.string()
      else return false
      return true
    })
    return type === 0 ? number : text
  },
  isEmpty: never,
}

/**
 * {1: text}. Go's zero quantity is "0", and as a struct it is never left out. Read as Go reads it: another text than a
 * quantity is no protobuf of this message, and one that is not canonical becomes so.
 */
export const quantityCodec: ValueCodec = {
  wire: wireBytes,
  write(writer, value) {
    if (value !== undefined && value !== null && typeof value !== 'string' && typeof value !== 'number') {
      throw mismatch('quantity', value)
    }
    writeSized(writer, () => {
      writer.string(String(value ?? '0'))
      writer.unsigned(0x0a)
    })
  },
  read(reader) {
    let text = '0'
    readFields(reader, (tag) => {
      if (tag !== 0x0a) return false
      text = reader.string()
      return true
    })
    return canonical(text)
  },
  isEmpty: never,
}

function canonical(text: string): string {
  try {
    return canonicalQuantity(text)
  } catch (error) {
    if (error instanceof QuantityError) throw new DecodeError(error.message, { cause: error })
    throw error
  }
}

/** The wire form of an object inside RawExtension may be an envelope again; the codec of envelopes supplies this. */
export type ReadEmbedded = (bytes: Buffer) => unknown

/** {1: bytes}: RawExtension, FieldsV1 and apiextensions' JSON. No bytes is JSON `null`. */
export function rawJsonCodec(readEmbedded: ReadEmbedded): ValueCodec {
  return {
    wire: wireBytes,
    write(writer, value) {
      writeSized(writer, () => {
        if (value === undefined || value === null) return
        writer.string(JSON.stringify(value))
        writer.unsigned(0x0a)
      })
    },
    read(reader) {
      let bytes: Buffer | undefined
      readFields(reader, (tag) => {
        if (tag !== 0x0a) return false
        bytes = reader.bytes()
        return true
      })
      return bytes === undefined || bytes.length === 0 ? undefined : readEmbedded(bytes)
    },
    isEmpty: isUndefined,
  }
}

/** Raw bytes that must be JSON. @throws DecodeError if they are not. @throws TooManyValuesError */
export function parseRawJson(bytes: Buffer, maxValues?: number): JsonValue {
  try {
    return parseJson(bytes.toString('utf8'), maxValues === undefined ? {} : { maxValues }).value
  } catch (cause) {
    if (!(cause instanceof JsonSyntaxError)) throw cause
    throw new DecodeError('embedded JSON does not parse', { cause })
  }
}

/** A message {1: repeated string} that is a plain array in JSON (Verbs, ExtraValue). */
export const stringsCodec: ValueCodec = {
  wire: wireBytes,
  write(writer, value) {
    if (value !== undefined && value !== null && !Array.isArray(value)) throw mismatch('array', value)
    writeSized(writer, () => {
      const items: readonly unknown[] = value ?? []
      for (let i = items.length; i > 0; i--) {
        stringCodec.write(writer, items[i - 1])
        writer.unsigned(0x0a)
      }
    })
  },
  read(reader) {
    const items: string[] = []
    readFields(reader, (tag) => {
      if (tag !== 0x0a) return false
      items.push(reader.string())
      return true
    })
    return items
  },
  isEmpty: (value) => Array.isArray(value) && value.length === 0,
}

/** JSON: true, false or a schema. {1: allows, 2: schema}; a schema implies true. */
export function schemaOrBoolCodec(schema: ValueCodec): ValueCodec {
  return {
    wire: wireBytes,
    write(writer, value) {
      writeSized(writer, () => {
        const isSchema = typeof value === 'object' && value !== null
        if (isSchema) {
          schema.write(writer, value)
          writer.unsigned(0x12)
        } else if (typeof value !== 'boolean') throw mismatch('boolean or schema', value)
        writer.unsigned(isSchema || value === true ? 1 : 0)
        writer.unsigned(0x08)
      })
    },
    read(reader) {
      let allows = false
      let found: unknown
      readFields(reader, (tag) => {
        if (tag === 0x08) allows = reader.bool()
        else if (tag === 0x12) found = schema.read(reader)
        else return false
        return true
      })
      return found ?? allows
    },
    isEmpty: never,
  }
}

/** JSON: a schema or an array of `item`. {1: schema, 2: repeated item}. */
export function schemaOrListCodec(schema: ValueCodec, item: ValueCodec): ValueCodec {
  return {
    wire: wireBytes,
    write(writer, value) {
      writeSized(writer, () => {
        if (Array.isArray(value)) {
          for (let i = value.length; i > 0; i--) {
            item.write(writer, value[i - 1])
            writer.unsigned(0x12)
          }
        } else if (typeof value === 'object' && value !== null) {
          schema.write(writer, value)
          writer.unsigned(0x0a)
        } else throw mismatch('schema or array', value)
      })
    },
    read(reader) {
      const items: unknown[] = []
      let found: unknown
      readFields(reader, (tag) => {
        if (tag === 0x0a) found = schema.read(reader)
        else if (tag === 0x12) items.push(item.read(reader))
        else return false
        return true
      })
      return items.length === 0 && found !== undefined ? found : items
    },
    isEmpty: never,
  }
}
