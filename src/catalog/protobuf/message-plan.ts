/**
 * Turns the facts about a message into a plan: one small object per field that knows how to write and how to read it.
 * Plans are made when first needed and kept; a recursive message finds itself half made, which is fine.
 *
 * Go's rules, which clients rely on:
 * - A field that is no pointer is always written, also when empty. A nil pointer, list or map is not.
 * - A field inlined in JSON is a message of its own here.
 * - Maps are written in the order of their keys.
 */
import { messageExtensions } from './message-extensions.ts'
import { messageFacts } from './message-facts.ts'
import {
  intOrStringCodec,
  parseRawJson,
  quantityCodec,
  type ReadEmbedded,
  rawJsonCodec,
  schemaOrBoolCodec,
  schemaOrListCodec,
  stringsCodec,
} from './special-codec.ts'
import { microTimeCodec, timeCodec } from './time-codec.ts'
import {
  boolCodec,
  bytesCodec,
  doubleCodec,
  int32Codec,
  int64Codec,
  mismatch,
  stringCodec,
  type ValueCodec,
} from './value-codec.ts'
import { DecodeError, type WireReader, wireBytes } from './wire-reader.ts'
import { EncodeError, type WireWriter } from './wire-writer.ts'

/** A JSON object whose values are not yet known to be of any type. */
export type Fields = { [name: string]: unknown }

interface FieldPlan {
  /** JSON name, for messages. */
  readonly name: string
  readonly number: number
  readonly wire: number
  write(writer: WireWriter, source: Readonly<Fields>): void
  read(reader: WireReader, wire: number, target: Fields): void
}

export class MessagePlan implements ValueCodec {
  readonly wire: typeof wireBytes = wireBytes
  /** `core.v1.Pod` */
  readonly typeName: string
  /** Sorted by falling number: the order of writing. */
  #fields: readonly FieldPlan[] = []
  /** By number. */
  #byNumber: readonly (FieldPlan | undefined)[] = []

  constructor(typeName: string) {
    this.typeName = typeName
  }

  setFields(fields: readonly FieldPlan[]): void {
    this.#fields = fields.toSorted((a, b) => b.number - a.number)
    const byNumber: (FieldPlan | undefined)[] = []
    for (const field of fields) byNumber[field.number] = field
    this.#byNumber = Array.from(byNumber)
  }

  has(name: string): boolean {
    return this.#fields.some((field) => field.name === name)
  }

  /** The message without a length. A fault is told with its path: `spec: replicas: want integer, got string`. */
  writeBody(writer: WireWriter, source: Readonly<Fields>): void {
    writer.enter()
    let name = ''
    try {
      for (const field of this.#fields) {
        name = field.name
        field.write(writer, source)
      }
    } catch (error) {
      throw error instanceof EncodeError && name !== '' ? new EncodeError(`${name}: ${error.message}`) : error
    }
    writer.leave()
  }

  write(writer: WireWriter, value: unknown): void {
    const before = writer.length
    this.writeBody(writer, fieldsOf(value))
    writer.unsigned(writer.length - before)
  }

  /** Reads up to the end of the reader's present message. */
  readBody(reader: WireReader, target: Fields): void {
    const byNumber = this.#byNumber
    while (reader.position < reader.end) {
      const tag = reader.tag()
      const field = byNumber[tag >>> 3]
      if (field === undefined) reader.skip(tag & 7)
      else field.read(reader, tag & 7, target)
    }
  }

  readInto(reader: WireReader, target: Fields): void {
    const outer = reader.enter()
    this.readBody(reader, target)
    reader.leave(outer)
  }

  read(reader: WireReader): Fields {
    const target: Fields = {}
    this.readInto(reader, target)
    return target
  }

  isEmpty(value: unknown): boolean {
    for (const _ in value as object) return false
    return true
  }
}

const noFields: Readonly<Fields> = Object.freeze({})

function fieldsOf(value: unknown): Readonly<Fields> {
  if (value === undefined || value === null) return noFields
  if (typeof value !== 'object' || Array.isArray(value)) throw mismatch('object', value)
  return value as Fields
}

function checkWire(want: number, got: number, name: string): void {
  if (want !== got) throw new DecodeError(`wrong wire type ${got} for field ${name}`)
}

interface FieldFact {
  readonly name: string
  readonly number: number
  readonly inline: boolean
  readonly pointer: boolean
  readonly omitEmpty: boolean
  readonly type: string
}

const fieldPattern = /^(~|[^*?!=]+)(\*?)(\??)(!?)=(\d+)(?::(.+))?$/

function parseField(text: string): FieldFact {
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

function singularField(fact: FieldFact, codec: ValueCodec): FieldPlan {
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
const bytesField = (fact: FieldFact): FieldPlan => singularField({ ...fact, pointer: true }, bytesCodec)

function inlineField(fact: FieldFact, message: MessagePlan): FieldPlan {
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

function listField(fact: FieldFact, codec: ValueCodec): FieldPlan {
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

function mapField(fact: FieldFact, codec: ValueCodec): FieldPlan {
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
      let map = target[name] as Fields | undefined
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
      setKey(map, key, value ?? zeroOf(codec))
    },
  }
}

/** `__proto__` is a key like any other in what clients send. */
function setKey(map: Fields, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true })
  } else map[key] = value
}

/** What a map holds for an entry that came without a value. */
function zeroOf(codec: ValueCodec): unknown {
  if (codec === stringCodec || codec === bytesCodec) return ''
  if (codec === quantityCodec) return '0'
  if (codec === stringsCodec) return []
  if (codec instanceof MessagePlan) return {}
  return null
}

/** All plans of one codec. */
export class MessagePlans {
  readonly #plans = new Map<string, MessagePlan>()
  readonly #special: ReadonlyMap<string, ValueCodec>

  constructor(readEmbedded: ReadEmbedded = parseRawJson) {
    this.#special = new Map<string, ValueCodec>([
      ['string', stringCodec],
      ['bool', boolCodec],
      ['int32', int32Codec],
      ['int64', int64Codec],
      ['double', doubleCodec],
      ['bytes', bytesCodec],
      ['strings', stringsCodec],
      ['Time', timeCodec],
      ['MicroTime', microTimeCodec],
      ['IntOrString', intOrStringCodec],
      ['Quantity', quantityCodec],
      ['RawJson', rawJsonCodec(readEmbedded)],
    ])
  }

  /** Undefined if there is no such message. @param typeName `core.v1.Pod` */
  find(typeName: string): MessagePlan | undefined {
    const known = this.#plans.get(typeName)
    if (known) return known
    const at = typeName.lastIndexOf('.')
    const packageName = typeName.slice(0, at)
    const name = typeName.slice(at + 1)
    const facts = ownValue(ownValue(messageFacts, packageName), name)
    const extension = ownValue(messageExtensions, typeName)
    if (facts === undefined && extension === undefined) return undefined
    const plan = new MessagePlan(typeName)
    this.#plans.set(typeName, plan)
    const text = `${facts?.replace(/^@/, '') ?? ''} ${extension ?? ''}`
    const fields = text.split(' ').filter((field) => field !== '')
    plan.setFields(fields.map((field) => this.#field(parseField(field), packageName)))
    return plan
  }

  /** @throws Error for a message that the facts lack, which is a fault in them. */
  get(typeName: string): MessagePlan {
    const plan = this.find(typeName)
    if (!plan) throw new Error(`no facts about message ${typeName}`)
    return plan
  }

  /** True for messages that travel in an envelope of their own. */
  isKind(packageName: string, kind: string): boolean {
    return ownValue(ownValue(messageFacts, packageName), kind)?.startsWith('@') === true
  }

  #field(fact: FieldFact, packageName: string): FieldPlan {
    if (fact.inline) return inlineField(fact, this.#message(fact.type, packageName))
    if (fact.type.startsWith('[]')) return listField(fact, this.#codec(fact.type.slice(2), packageName))
    if (fact.type.startsWith('{}')) return mapField(fact, this.#codec(fact.type.slice(2), packageName))
    if (fact.type === 'bytes') return bytesField(fact)
    return singularField(fact, this.#codec(fact.type, packageName))
  }

  #codec(type: string, packageName: string): ValueCodec {
    const special = this.#special.get(type)
    if (special) return special
    switch (type) {
      case 'SchemaOrBool':
        return schemaOrBoolCodec(this.#message('JSONSchemaProps', packageName))
      case 'SchemaOrArray': {
        const schema = this.#message('JSONSchemaProps', packageName)
        return schemaOrListCodec(schema, schema)
      }
      case 'SchemaOrStrings':
        return schemaOrListCodec(this.#message('JSONSchemaProps', packageName), stringCodec)
      default:
        return this.#message(type, packageName)
    }
  }

  #message(type: string, packageName: string): MessagePlan {
    return this.get(type.includes('.') ? type : `${packageName}.${type}`)
  }
}

function ownValue<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined
}
