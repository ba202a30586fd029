/**
 * Gnostic's protobuf back to the JSON it was made from. It leans on the same table of numbers as the encoder;
 * that these are right is shown by kubectl.
 */
import { WireReader } from '../../src/catalog/protobuf/wire-reader.ts'
import { gnosticMessages } from '../../src/http/openapi/gnostic-facts.ts'
import type { JsonObject, JsonValue } from '../../src/kube/types.ts'

export function decodeGnostic(bytes: Uint8Array): JsonValue {
  return read(new WireReader(bytes), 'Document')
}

/** Reads to the end of the present message. */
function read(reader: WireReader, message: string): JsonValue {
  const fields = new Map(
    (gnosticMessages[message] ?? '').split(' ').map((text) => {
      const [, name = '', number, repeated, type = 'string'] = /^(\w+)=(\d+)(?::(\[\])?(\w+))?$/.exec(text) ?? []
      return [Number(number), { name, repeated: repeated !== undefined, type }]
    }),
  )
  const raw: { [name: string]: JsonValue } = {}
  while (reader.position < reader.end) {
    const tag = reader.tag()
    const field = fields.get(tag >>> 3)
    if (!field) throw new Error(`${message} has no field ${tag >>> 3}`)
    const value = readValue(reader, field.type)
    if (!field.repeated) raw[field.name] = value
    else raw[field.name] = [...((raw[field.name] as JsonValue[] | undefined) ?? []), value]
  }
  return restore(message, raw)
}

function readValue(reader: WireReader, type: string): JsonValue {
  switch (type) {
    case 'string':
      return reader.string()
    case 'bool':
      return reader.bool()
    case 'int64':
      return reader.int64() as number
    case 'double':
      return reader.double()
    default: {
      const outer = reader.enter()
      const value = read(reader, type)
      reader.leave(outer)
      return value
    }
  }
}

const toObject = (items: JsonValue | undefined): JsonObject =>
  Object.fromEntries(
    ((items ?? []) as { name: string; value?: JsonValue }[]).map(({ name, value }) => [name, value ?? {}]),
  )

function restore(message: string, raw: { [name: string]: JsonValue }): JsonValue {
  switch (message) {
    case 'Any':
      return JSON.parse(String(raw['yaml'])) as JsonValue
    case 'TypeItem': {
      const types = raw['value'] as JsonValue[]
      return types.length === 1 ? (types[0] ?? null) : types
    }
    case 'StringArray':
      return raw['value'] ?? []
    case 'ItemsItem':
      return (raw['schema'] as JsonValue[])[0] ?? null
    case 'AdditionalPropertiesItem':
    case 'ParametersItem':
    case 'ResponseValue':
    case 'SchemaItem':
    case 'SecurityDefinitionsItem':
    case 'Parameter':
    case 'NonBodyParameter':
      return Object.values(raw)[0] ?? false
    case 'Definitions':
    case 'Properties':
    case 'SecurityDefinitions':
    case 'SecurityRequirement':
      return toObject(raw['additional_properties'])
    case 'Paths':
      return toObject(raw['path'])
    case 'Responses':
      return toObject(raw['response_code'])
  }
  if (message.startsWith('Named')) return raw
  const { vendor_extension, ...rest } = raw
  const properties = Object.entries(rest).map(([name, value]) => [
    name === '_ref' ? '$ref' : name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ])
  return { ...(Object.fromEntries(properties) as JsonObject), ...toObject(vendor_extension) }
}
