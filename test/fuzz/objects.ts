/** Objects that are nearly valid: one of each kind, with a few of its fields changed. */
import type { Schema } from '../../src/kube/schema/schema.ts'
import type { JsonObject, JsonValue } from '../../src/kube/types.ts'
import { expression, steep } from './expressions.ts'
import type { Random } from './random.ts'
import { name, number, text, value } from './words.ts'

/** The object with up to three changes. */
export function changed(random: Random, schema: Schema, object: JsonObject): JsonObject {
  let next = object
  for (let i = random.below(4); i > 0; i--) next = replaced(random, schema, next) as JsonObject
  return next
}

/** A copy with one place in it replaced, by what its schema allows or by something else. */
function replaced(random: Random, schema: Schema, at: JsonValue | undefined): JsonValue {
  if (schema.properties !== undefined && random.chance(0.9)) {
    const object = isPlain(at) ? at : {}
    const field = fieldOf(random, schema.properties, object)
    const known = schema.properties.get(field)
    const isDeeper = known !== undefined && random.chance(0.7)
    const next = isDeeper ? replaced(random, known, object[field]) : newValue(random, known)
    if (next !== undefined) return { ...object, [field]: next }
    const { [field]: _, ...rest } = object
    return rest
  }
  if (schema.items !== undefined && random.chance(0.9)) {
    const list = Array.isArray(at) ? [...at] : []
    const i = random.below(list.length + 1)
    if (random.chance(0.1) && list[0] !== undefined) return [...list, list[0]]
    list[i] = replaced(random, schema.items, list[i])
    return list
  }
  if (typeof schema.additionalProperties === 'object' && random.chance(0.9)) {
    const key = random.chance(0.7) ? name(random) : text(random)
    return { ...(isPlain(at) ? at : {}), [key]: replaced(random, schema.additionalProperties, undefined) }
  }
  return newValue(random, schema) ?? null
}

const isPlain = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function fieldOf(random: Random, properties: ReadonlyMap<string, Schema>, object: JsonObject): string {
  const present = Object.keys(object)
  if (present.length > 0 && random.chance(0.6)) return random.pick(present)
  return random.chance(0.95) && properties.size > 0 ? random.pick([...properties.keys()]) : text(random)
}

/** undefined = the field is taken away. */
function newValue(random: Random, schema: Schema | undefined): JsonValue | undefined {
  if (random.chance(0.1)) return undefined
  return schema === undefined || random.chance(0.25) ? value(random) : fitting(random, schema, 4)
}

/** Of the type that the schema wants. */
export function fitting(random: Random, schema: Schema, depth: number): JsonValue {
  switch (schema.type) {
    case 'string':
      return stringFor(random, schema)
    case 'integer':
    case 'number':
      return random.chance(0.7) ? random.below(100) : number(random)
    case 'boolean':
      return random.chance(0.5)
    case 'intOrString':
      return random.chance(0.5) ? random.below(70_000) : text(random)
    case 'quantity':
      return random.pick(['1', '100m', '1Gi', '0', '-1', '1e3', '0.0000000001', '9Ei', '1e30', '', 'x'])
    case 'array':
      return depth <= 0 || !schema.items ? [] : random.some(3, () => fitting(random, schema.items as Schema, depth - 1))
    case 'any':
      return value(random, depth - 2)
    case 'object':
      return objectFor(random, schema, depth)
  }
}

function objectFor(random: Random, schema: Schema, depth: number): JsonObject {
  if (depth <= 0) return {}
  const { properties, additionalProperties } = schema
  if (properties !== undefined) {
    const keys = [...properties.keys()]
    const chosen = random.some(4, () => random.pick(keys))
    return Object.fromEntries(chosen.map((key) => [key, fitting(random, properties.get(key) as Schema, depth - 1)]))
  }
  if (typeof additionalProperties !== 'object') return value(random, 0) === null ? {} : { x: text(random) }
  return Object.fromEntries(
    random.some(3, () => [name(random), fitting(random, additionalProperties, depth - 1)] as const),
  )
}

function stringFor(random: Random, schema: Schema): string {
  if (schema.format === 'byte') return random.pick(['', 'AA==', 'AAAA', '*', 'A', 'gAE=', '\n'])
  if (schema.format === 'date-time') return random.pick(['2026-01-01T00:00:00Z', '', 'x', '0000-00-00T00:00:00Z'])
  if (schema.enum !== undefined && random.chance(0.7)) return String(random.pick(schema.enum))
  if (random.chance(0.05)) return random.chance(0.8) ? expression(random) : steep(random)
  return random.chance(0.5) ? name(random) : text(random)
}
