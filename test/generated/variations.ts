/**
 * Variations of a valid object: one field of its schema at a time is absent, null, empty, of another type, beyond every
 * bound, huge, not ASCII, or a list that says its first item twice; and each struct has a field that is unknown. Fields
 * that the valid object does not have are varied too, inside the smallest value that leads to them.
 *
 * A variation is a path and a value, not an object: each way of sending it (`ways.ts`) makes of it what its request
 * needs.
 */
import { exactNumber } from '../../src/kube/json-value.ts'
import type { Schema } from '../../src/kube/schema/schema.ts'
import type { JsonObject, JsonValue } from '../../src/kube/types.ts'

export type Step = string | number

export interface Variation {
  readonly path: readonly Step[]
  /** undefined = absent. */
  readonly value: JsonValue | undefined
  /** `spec.containers[0].name: null` */
  readonly title: string
}

/** Longer than any field may be, shorter than what is too large to be read. */
const hugeLength = 70_000
/** Of two, three and four bytes; a NUL; and one that turns the direction of what follows. */
const notAscii = 'ü→\u{1f600}\u0000\u202e'

/** Values of each JSON type: ordinary, empty, beyond 32 bits, beyond what a double holds. */
const samples: readonly JsonValue[] = [
  '',
  'text',
  notAscii,
  'x'.repeat(hugeLength),
  0,
  7,
  -1,
  1.5,
  2 ** 31,
  exactNumber('9007199254740993') as unknown as JsonValue,
  true,
  [],
  [null],
  ['text'],
  [{}],
  {},
  { text: null },
  { text: 'text' },
]

/** No kind has it. */
export const unknownField = 'unheardOf'

/** Field names on the longest path that is varied. List items and map keys are not counted. */
const maxFields = 4

export function* variationsOf(schema: Schema, object: JsonObject): Generator<Variation> {
  yield* below(schema, object, [])
}

function* below(schema: Schema, value: JsonValue, path: readonly Step[]): Generator<Variation> {
  const fields = path.filter((step) => typeof step === 'string').length
  if (schema.properties !== undefined && fields < maxFields) yield variation([...path, unknownField], 7)
  for (const [step, child, childSchema] of childrenOf(schema, value)) {
    const at = [...path, step]
    const isField = typeof step === 'string'
    if (isField && fields >= maxFields) continue
    if (child !== undefined) yield variation(at, undefined)
    yield variation(at, null)
    for (const sample of samples) yield variation(at, sample)
    if (Array.isArray(child) && child[0] !== undefined) yield variation(at, [child[0], child[0]])
    yield* below(childSchema, child ?? smallest(childSchema), at)
  }
}

/** The members that are varied: all fields of a struct, the first item of a list, one key of a map. */
function childrenOf(schema: Schema, value: JsonValue): [Step, JsonValue | undefined, Schema][] {
  if (schema.properties) {
    const object = value as JsonObject
    return [...schema.properties].map(([field, child]) => [field, object[field], child])
  }
  if (schema.items) return [[0, (value as JsonValue[])[0], schema.items]]
  if (typeof schema.additionalProperties === 'object') {
    const [key = 'key'] = Object.keys(value as JsonObject)
    return [[key, (value as JsonObject)[key], schema.additionalProperties]]
  }
  return []
}

const smallest = (schema: Schema): JsonValue => (schema.type === 'array' ? [] : {})

/** Of twenty one is taken: only that needs a title. */
function variation(path: readonly Step[], value: JsonValue | undefined): Variation {
  return {
    path,
    value,
    get title() {
      return `${printed(path)}: ${value === undefined ? 'absent' : shown(JSON.stringify(value))}`
    },
  }
}

const shown = (text: string): string =>
  text.length > 100 ? `${text.slice(0, 100)}… (${text.length} characters)` : text

const printed = (path: readonly Step[]): string =>
  path.map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`)).join('')

/** The object with the variation in it. Shares with the object what is not varied. */
export function varied(object: JsonObject, { path, value }: Pick<Variation, 'path' | 'value'>): JsonObject {
  return withMember(object, path, value) as JsonObject
}

function withMember(at: JsonValue | undefined, path: readonly Step[], value: JsonValue | undefined): JsonValue {
  const [step, ...rest] = path
  if (step === undefined) return value ?? null
  if (typeof step === 'number') {
    const list = Array.isArray(at) ? [...at] : []
    if (rest.length === 0 && value === undefined) list.splice(step, 1)
    else list[step] = withMember(list[step], rest, value)
    return list
  }
  const next = { ...(at as JsonObject | undefined) }
  if (rest.length === 0 && value === undefined) delete next[step]
  else next[step] = withMember(next[step], rest, value)
  return next
}
