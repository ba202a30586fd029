/**
 * How one message goes over the wire: its fields, each of which knows how to write and how to read itself.
 */
import { mismatch, type ValueCodec } from './value-codec.ts'
import { type WireReader, wireBytes } from './wire-reader.ts'
import { EncodeError, type WireWriter } from './wire-writer.ts'

/** A JSON object whose values are not yet known to be of any type. */
export type MessageFields = { [name: string]: unknown }

export interface FieldPlan {
  /** JSON name, for messages. */
  readonly name: string
  readonly number: number
  readonly wire: number
  write(writer: WireWriter, source: Readonly<MessageFields>): void
  read(reader: WireReader, wire: number, target: MessageFields): void
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
  writeBody(writer: WireWriter, source: Readonly<MessageFields>): void {
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
  readBody(reader: WireReader, target: MessageFields): void {
    const byNumber = this.#byNumber
    while (reader.position < reader.end) {
      const tag = reader.tag()
      reader.countValue()
      const field = byNumber[tag >>> 3]
      if (field === undefined) reader.skip(tag & 7)
      else field.read(reader, tag & 7, target)
    }
  }

  readInto(reader: WireReader, target: MessageFields): void {
    const outer = reader.enter()
    this.readBody(reader, target)
    reader.leave(outer)
  }

  read(reader: WireReader): MessageFields {
    const target: MessageFields = {}
    this.readInto(reader, target)
    return target
  }

  isEmpty(value: unknown): boolean {
    for (const _ in value as object) return false
    return true
  }
}

const noFields: Readonly<MessageFields> = Object.freeze({})

/** The fields of what should be an object; nothing stands for one without any. @throws EncodeError */
export function fieldsOf(value: unknown): Readonly<MessageFields> {
  if (value === undefined || value === null) return noFields
  if (typeof value !== 'object' || Array.isArray(value)) throw mismatch('object', value)
  return value as MessageFields
}
