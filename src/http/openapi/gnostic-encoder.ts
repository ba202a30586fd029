/**
 * An OpenAPI 2.0 document from JSON to the protobuf that kubectl before 1.27 asks for.
 *
 * Most messages mirror a JSON object: a field is the property of that name in camel case, `vendor_extension` gathers
 * what begins with `x-`. The others wrap: maps become lists of named values, a union one message with one field.
 * `adapt` turns the JSON form of those into the form of an ordinary message; after that one rule writes them all.
 * What the facts do not know is left out; ours are complete for the documents we make, and a test holds them to it.
 */
import type { Resumable } from '../../base/resumable.ts'
import { WireWriter } from '../../catalog/protobuf/wire-writer.ts'
import type { JsonObject, JsonValue } from '../../kube/types.ts'
import { gnosticMessages } from './gnostic-facts.ts'

interface Field {
  /** In JSON. */
  readonly property: string
  readonly number: number
  readonly repeated: boolean
  readonly type: string
}

export class GnosticEncoder {
  readonly #messages = new Map<string, readonly Field[]>()

  /** The fields of a message, last one first: the writer works from the end. */
  #fields(message: string): readonly Field[] {
    let fields = this.#messages.get(message)
    if (fields === undefined) {
      const facts = gnosticMessages[message]
      if (facts === undefined) throw new Error(`no facts about the message ${message} of gnostic`)
      fields = facts.split(' ').map(parseField).reverse()
      this.#messages.set(message, fields)
    }
    return fields
  }

  /** A place for a pause after each path and each definition. */
  *encoding(document: JsonObject): Resumable<Uint8Array> {
    const writer = new WireWriter()
    yield* this.#writing(writer, 'Document', document)
    return writer.finish()
  }

  *#writing(writer: WireWriter, message: string, json: JsonValue): Resumable<void> {
    writer.enter()
    const object = adapt(message, json)
    for (const field of this.#fields(message)) {
      for (const value of this.#valuesOf(object, field)) {
        if (longMessages.has(field.type)) {
          const before = writer.length
          yield* this.#writing(writer, field.type, value)
          this.#close(writer, field, before)
        } else this.#field(writer, field, value)
        yield
      }
    }
    writer.leave()
  }

  #body(writer: WireWriter, message: string, json: JsonValue): void {
    writer.enter()
    const object = adapt(message, json)
    for (const field of this.#fields(message)) {
      for (const value of this.#valuesOf(object, field)) this.#field(writer, field, value)
    }
    writer.leave()
  }

  /** Last one first. */
  #valuesOf(object: JsonObject, { property, repeated }: Field): readonly JsonValue[] {
    const value = property === vendorExtension ? extensionsOf(object) : object[property]
    if (value === undefined || value === null) return []
    if (!repeated) return [value]
    return Array.isArray(value) ? value.toReversed() : []
  }

  #field(writer: WireWriter, field: Field, value: JsonValue): void {
    const { number, type, repeated } = field
    switch (type) {
      case 'string':
        if (value === '' && !repeated) return
        writer.string(String(value))
        writer.unsigned(number * 8 + 2)
        return
      case 'bool':
        if (value !== true) return
        writer.unsigned(1)
        writer.unsigned(number * 8)
        return
      case 'int64':
        if (typeof value !== 'number' || value === 0) return
        writer.signed(value)
        writer.unsigned(number * 8)
        return
      case 'double':
        if (typeof value !== 'number' || value === 0) return
        writer.double(value)
        writer.unsigned(number * 8 + 1)
        return
      default: {
        const before = writer.length
        this.#body(writer, type, value)
        this.#close(writer, field, before)
      }
    }
  }

  #close(writer: WireWriter, { number }: Field, before: number): void {
    writer.unsigned(writer.length - before)
    writer.unsigned(number * 8 + 2)
  }
}

/** Those that hold what there are thousands of. */
const longMessages: ReadonlySet<string> = new Set(['Document', 'Paths', 'Definitions'])

/** Never a property's own name: no JSON of ours has it. */
const vendorExtension = 'vendorExtension'

function parseField(text: string): Field {
  const m = /^(\w+)=(\d+)(?::(\[\])?(\w+))?$/.exec(text)
  if (!m) throw new Error(`not a field of gnostic: ${text}`)
  const [, name = '', number, repeated, type = 'string'] = m
  return {
    property: name === '_ref' ? '$ref' : name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    number: Number(number),
    repeated: repeated !== undefined,
    type,
  }
}

const isExtension = (name: string): boolean => name.startsWith('x-')

function named(object: JsonObject, keep: (name: string) => boolean): JsonValue[] {
  return Object.entries(object)
    .filter(([name]) => keep(name))
    .map(([name, value]) => ({ name, value }))
}

const extensionsOf = (object: JsonObject): JsonValue[] => named(object, isExtension)

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The JSON of a wrapping message as if it were an ordinary one. */
function adapt(message: string, json: JsonValue): JsonObject {
  switch (message) {
    case 'Any':
      // JSON is YAML.
      return { yaml: `${JSON.stringify(json)}\n` }
    case 'TypeItem':
      return { value: Array.isArray(json) ? json : [json] }
    case 'StringArray':
      return { value: json }
    case 'ItemsItem':
      return { schema: Array.isArray(json) ? json : [json] }
    case 'AdditionalPropertiesItem':
      return isObject(json) ? { schema: json } : { boolean: json }
    case 'ParametersItem':
      return { parameter: json }
    case 'ResponseValue':
      return { response: json }
    case 'SchemaItem':
      return { schema: json }
    case 'SecurityDefinitionsItem':
      return { apiKeySecurity: json }
  }
  if (!isObject(json)) throw new Error(`${message} of gnostic wants an object`)
  switch (message) {
    case 'Parameter':
      return json['in'] === 'body' ? { bodyParameter: json } : { nonBodyParameter: json }
    case 'NonBodyParameter':
      return json['in'] === 'path' ? { pathParameterSubSchema: json } : { queryParameterSubSchema: json }
    case 'Definitions':
    case 'Properties':
    case 'SecurityDefinitions':
    case 'SecurityRequirement':
      return { additionalProperties: named(json, () => true) }
    case 'Paths':
      return { path: named(json, (name) => !isExtension(name)) }
    case 'Responses':
      return { responseCode: named(json, (name) => !isExtension(name)) }
    default:
      return json
  }
}
