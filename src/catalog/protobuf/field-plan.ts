/**
 * The kinds of fields a message has. Go's rules, which clients rely on:
 * - A field that is no pointer is always written, also when empty. A nil pointer, list or map is not.
 * - A field inlined in JSON is a message of its own here.
 * - Maps are written in the order of their keys.
 */
import { setMember } from '../../base/json-text.ts'
import type { JsonObject, JsonValue } from '../../kube/types.ts'
import { type FieldPlan, fieldsOf, MessagePlan } from './message-plan.ts'
import { quantityCodec, stringsCodec } from './special-codec.ts'
import { bytesCodec, mismatch, stringCodec, type ValueCodec } from './value-codec.ts'
import { DecodeError, wireBytes } from './wire-reader.ts'

/** What the notation of `message-facts.ts` says of a field. */
export interface FieldFact {
  readonly name: string
  readonly number: number
  readonly inline: boolean
  readonly pointer: boolean
  readonly omitEmpty: boolean
  readonly type: string
}

const fieldPattern = /^(~|[^*?!=]+)(\*?)(\??)(!?)=(\d+)(?::(.+))?$/

export function parseField(text: string): FieldFact {
  const m = fieldPattern.exec(text)
  if (!m) throw new Error(`not a field: ${text}`)
  const [, name = '', pointer, omitEmpty, omitZero, number, type = 'string'] = m
  return {
    name: name === '~' ? '' : name,
    number: Number(number),
    inline: name === '~',
    pointer: pointer !== '',
    omitEmpty: omitEmpty !== '' || omitZero !== '',
    type,
  }
}

function checkWire(want: number, got: number, name: string): void {
  if (want !== got) throw new DecodeError(`wrong wire type ${got} for field ${name}`)
}

export function singularField(fact: FieldFact, codec: ValueCodec): FieldPlan {
  const { name, number, pointer, omitEmpty } = fact
  const tag = number * 8 + codec.wire
  const droppable = !pointer && omitEmpty
  return {
    name,
    number,
    wire: codec.wire,
    write(writer, source) {
      const value = source[name]
      if (pointer && (value === undefined || value === null)) return
      codec.write(writer, value)
      writer.unsigned(tag)
    },
    read(reader, wire, target) {
      checkWire(codec.wire, wire, name)
      const value = codec.read(reader)
      if (value === undefined || (droppable && codec.isEmpty(value))) return
      target[name] = value
    },
  }
}

/** []byte is written only when present, though it is no pointer. */
export const bytesField = (fact: FieldFact): FieldPlan => singularField({ ...fact, pointer: true }, bytesCodec)

export function inlineField(fact: FieldFact, message: MessagePlan): FieldPlan {
  const tag = fact.number * 8 + wireBytes
  return {
    name: '',
    number: fact.number,
    wire: wireBytes,
    write(writer, source) {
      const before = writer.length
      message.writeBody(writer, source)
      writer.unsigned(writer.length - before)
      writer.unsigned(tag)
    },
    read(reader, wire, target) {
      checkWire(wireBytes, wire, message.typeName)
      message.readInto(reader, target)
    },
  }
}

export function listField(fact: FieldFact, codec: ValueCodec): FieldPlan {
  const { name, number } = fact
  const tag = number * 8 + codec.wire
  return {
    name,
    number,
    wire: codec.wire,
    write(writer, source) {
      const items = source[name]
      if (items === undefined || items === null) return
      if (!Array.isArray(items)) throw mismatch('array', items)
      for (let i = items.length; i > 0; i--) {
        codec.write(writer, items[i - 1])
        writer.unsigned(tag)
      }
    },
    read(reader, wire, target) {
      let items = target[name] as unknown[] | undefined
      if (items === undefined) {
        items = []
        target[name] = items
      }
      if (wire === wireBytes && codec.wire !== wireBytes) {
        const outer = reader.enter()
        while (reader.position < reader.end) items.push(codec.read(reader) ?? null)
        reader.leave(outer)
        return
      }
      checkWire(codec.wire, wire, name)
      items.push(codec.read(reader) ?? null)
    },
  }
}

const mapKeyTag = 0x0a

export function mapField(fact: FieldFact, codec: ValueCodec): FieldPlan {
  const { name, number } = fact
  const tag = number * 8 + wireBytes
  const valueTag = 2 * 8 + codec.wire
  return {
    name,
    number,
    wire: wireBytes,
    write(writer, source) {
      const map = fieldsOf(source[name])
      const keys = Object.keys(map)
      if (keys.length > 1) keys.sort()
      for (let i = keys.length; i > 0; i--) {
        const key = keys[i - 1] as string
        const value = map[key]
        const before = writer.length
        if (codec !== bytesCodec || (value !== undefined && value !== null)) {
          codec.write(writer, value)
          writer.unsigned(valueTag)
        }
        writer.string(key)
        writer.unsigned(mapKeyTag)
        writer.unsigned(writer.length - before)
        writer.unsigned(tag)
      }
    },
    read(reader, wire, target) {
      checkWire(wireBytes, wire, name)
      let map = target[name] as JsonObject | undefined
      if (map === undefined) {
        map = {}
        target[name] = map
      }
      let key = ''
      let value: unknown
      const outer = reader.enter()
      while (reader.position < reader.end) {
        const entryTag = reader.tag()
        if (entryTag === mapKeyTag) key = reader.string()
        else if (entryTag === valueTag) value = codec.read(reader)
        else reader.skip(entryTag & 7)
      }
      reader.leave(outer)
      setMember(map, key, (value ?? zeroOf(codec)) as JsonValue)
    },
  }
}

/** What a map holds for an entry that came without a value. */
function zeroOf(codec: ValueCodec): unknown {
  if (codec === stringCodec || codec === bytesCodec) return ''
  if (codec === quantityCodec) return '0'
  if (codec === stringsCodec) return []
  if (codec instanceof MessagePlan) return {}
  return null
}
