/**
 * Decoding into a built-in kind, as Go would: types are checked, unknown fields dropped and reported, null means
 * absent, times and quantities take their canonical form. Faults are told in the words of Go's decoders.
 *
 * There are dialects: bodies and JSON or merge patch results come through a JSON decoder, strategic merge results
 * through upstream's conversion from maps. What server-side apply merged is typed already and comes through neither.
 *
 * The input is never changed; what needs no change is shared. Recursive: the parser bounds the depth.
 * @see sigs.k8s.io/json, k8s.io/apimachinery/pkg/runtime/converter.go v0.36
 */
import { append } from '../../base/append.ts'
import { setMember } from '../../base/json-text.ts'
import { goTypeOf } from '../go-quote.ts'
import { isExactNumber, isJsonObject } from '../json-value.ts'
import { parseQuantity, printQuantity, QuantityError } from '../quantity.ts'
import { type ParsedJson, printPath } from '../strict-json.ts'
import { formatMicroTime, formatTime, parseTime, timeFault } from '../time.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import type { Schema } from './schema.ts'

/** What was sent is not of the kind's type. The message is the tail of `... cannot be handled as a ...: <message>`. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError'
}

export type Dialect = 'json' | 'map' | 'typed'

export interface Decoded {
  readonly value: JsonObject
  /** Paths: `spec.containers[0].bogus`. In document order; sorted in the map dialect. At most 100. */
  readonly unknownFields: readonly string[]
}

const maxUnknown = 100
const none: readonly string[] = []

/** `io.k8s.api.core.v1.PodSpec` → `PodSpec` */
const bareName = (schema: Schema | undefined): string => schema?.typeName?.split('.').at(-1) ?? ''

function goTypeName(schema: Schema): string {
  switch (schema.type) {
    case 'string':
      return schema.format === 'byte' ? '[]uint8' : schema.format === 'date-time' ? 'v1.Time' : 'string'
    case 'integer':
      return schema.format === 'int32' ? 'int32' : 'int64'
    case 'number':
      return 'float64'
    case 'boolean':
      return 'bool'
    case 'array':
      return `[]${schema.items ? goTypeName(schema.items) : 'interface {}'}`
    case 'object': {
      if (typeof schema.additionalProperties === 'object') {
        return `map[string]${goTypeName(schema.additionalProperties)}`
      }
      return schema.typeName ? schema.typeName.split('.').slice(-2).join('.') : 'map[string]interface {}'
    }
    case 'intOrString':
      return 'intstr.IntOrString'
    case 'quantity':
      return 'resource.Quantity'
    case 'any':
      return 'interface {}'
  }
}

/** How Go's JSON decoder calls what it found. */
export function jsonNameOf(value: JsonValue): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  return isJsonObject(value) ? 'object' : 'number'
}

/** reflect.Kind of a value in a Go map. */
const kindOf = (value: JsonValue): string =>
  Array.isArray(value) ? 'slice' : isJsonObject(value) ? 'map' : goTypeOf(value)

const literalOf = (value: JsonValue): string =>
  typeof value === 'object' && isExactNumber(value) ? (value as { rawJSON: string }).rawJSON : String(value)

class Decoder {
  readonly #dialect: Dialect
  /** Where we are, for unknown fields. */
  readonly #path: (string | number)[] = []
  /** Where we are, as Go's messages have it: struct fields only, neither map keys nor indices. */
  readonly #fields: string[] = []
  /** Made when there is one. */
  #unknown: Set<string> | undefined
  /** The innermost struct: Go names it in messages. */
  #struct: Schema | undefined

  constructor(dialect: Dialect) {
    this.#dialect = dialect
  }

  #mismatch(value: JsonValue, schema: Schema, detail = jsonNameOf(value)): DecodeError {
    if (this.#dialect === 'map') {
      if (schema.type === 'array') return new DecodeError(`cannot restore slice from ${kindOf(value)}`)
      if (schema.type === 'object') {
        const isMap = schema.additionalProperties !== undefined
        return new DecodeError(
          isMap ? `cannot restore map from ${kindOf(value)}` : `cannot restore struct from: ${kindOf(value)}`,
        )
      }
      return new DecodeError(`cannot convert ${goTypeOf(value)} to ${goTypeName(schema)}`)
    }
    const field = this.#struct ? `Go struct field ${bareName(this.#struct)}.${this.#fields.join('.')}` : 'Go value'
    return new DecodeError(`json: cannot unmarshal ${detail} into ${field} of type ${goTypeName(schema)}`)
  }

  /** Some types decode themselves: the message then knows no field. */
  #ownMismatch(value: JsonValue, goType: string, detail = jsonNameOf(value)): DecodeError {
    return new DecodeError(`json: cannot unmarshal ${detail} into Go value of type ${goType}`)
  }

  value(value: JsonValue, schema: Schema): JsonValue {
    switch (schema.type) {
      case 'object':
        return this.#object(value, schema)
      case 'array':
        return this.#array(value, schema)
      case 'string':
        return this.#string(value, schema)
      case 'integer':
        return this.#integer(value, schema)
      case 'number':
        if (typeof value === 'number' || isExactNumber(value)) return value
        throw this.#mismatch(value, schema)
      case 'boolean':
        if (typeof value === 'boolean') return value
        throw this.#mismatch(value, schema)
      case 'intOrString':
        return this.#intOrString(value)
      case 'quantity':
        return this.#quantity(value)
      case 'any':
        return value
    }
  }

  #object(value: JsonValue, schema: Schema): JsonValue {
    if (!isJsonObject(value)) throw this.#mismatch(value, schema)
    if (typeof schema.additionalProperties === 'object') return this.#map(value, schema.additionalProperties)
    if (schema.additionalProperties === true || schema.preserveUnknownFields) return value
    const outer = this.#struct
    this.#struct = schema
    let out: JsonObject | undefined
    for (const key of Object.keys(value)) {
      const child = value[key] as JsonValue
      const field = schema.properties?.get(key)
      let kept: JsonValue | undefined
      if (!field) this.#noteUnknown(key)
      else if (child !== null) {
        this.#path.push(key)
        this.#fields.push(key)
        kept = this.value(child, field)
        this.#fields.pop()
        this.#path.pop()
      }
      if (kept !== child) out ??= copyUntil(value, key)
      if (out && kept !== undefined) setMember(out, key, kept)
    }
    this.#struct = outer
    return out ?? value
  }

  /** Each once, in the order in which they were found. */
  get unknownFields(): readonly string[] {
    return this.#unknown === undefined ? none : [...this.#unknown]
  }

  #noteUnknown(key: string): void {
    this.#unknown ??= new Set()
    if (this.#unknown.size < maxUnknown) this.#unknown.add(printPath([...this.#path, key]))
  }

  /** A null value is there, as the zero value of its type. */
  #map(value: JsonObject, schema: Schema): JsonObject {
    let out: JsonObject | undefined
    for (const key of Object.keys(value)) {
      const child = value[key] as JsonValue
      this.#path.push(key)
      const kept = child === null ? zeroOf(schema) : this.value(child, schema)
      this.#path.pop()
      if (kept !== child) out ??= copyUntil(value, key)
      if (out) setMember(out, key, kept)
    }
    return out ?? value
  }

  #array(value: JsonValue, schema: Schema): JsonValue {
    if (!Array.isArray(value)) throw this.#mismatch(value, schema)
    const { items } = schema
    if (!items) return value
    let out: JsonValue[] | undefined
    for (const [i, item] of value.entries()) {
      this.#path.push(i)
      const kept = item === null ? zeroOf(items) : this.value(item, items)
      this.#path.pop()
      if (kept !== item) out ??= value.slice(0, i)
      out?.push(kept)
    }
    return out ?? value
  }

  #string(value: JsonValue, schema: Schema): JsonValue {
    if (schema.format === 'date-time' || schema.format === 'micro-time') {
      return this.#time(value, schema.format === 'micro-time')
    }
    if (typeof value !== 'string') throw this.#mismatch(value, schema)
    return schema.format === 'byte' ? canonicalBase64(value) : value
  }

  #time(value: JsonValue, micro: boolean): JsonValue {
    if (typeof value !== 'string') throw this.#ownMismatch(value, 'string')
    const ms = parseTime(value)
    if (ms === undefined) throw new DecodeError(timeFault(value))
    return micro ? formatMicroTime(ms) : formatTime(ms)
  }

  #integer(value: JsonValue, schema: Schema): JsonValue {
    const fits =
      typeof value === 'number'
        ? Number.isInteger(value) && (schema.format === 'int32' ? isInt32(value) : Math.abs(value) < 2 ** 63)
        : isExactNumber(value) && schema.format !== 'int32'
    if (fits) return value
    if (typeof value === 'number' || isExactNumber(value))
      throw this.#mismatch(value, schema, `number ${literalOf(value)}`)
    throw this.#mismatch(value, schema)
  }

  #intOrString(value: JsonValue): JsonValue {
    if (typeof value === 'string' || (typeof value === 'number' && isInt32(value))) return value
    if (typeof value === 'number' || isExactNumber(value))
      throw this.#ownMismatch(value, 'int32', `number ${literalOf(value)}`)
    throw this.#ownMismatch(value, 'int32')
  }

  #quantity(value: JsonValue): JsonValue {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    try {
      const canonical = printQuantity(parseQuantity(text))
      return canonical === value ? value : canonical
    } catch (e) {
      if (e instanceof QuantityError) throw new DecodeError(e.message, { cause: e })
      throw e
    }
  }
}

const isInt32 = (value: number): boolean => Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31

/** The members before `end`, without nulls. */
function copyUntil(object: JsonObject, end: string): JsonObject {
  const out: JsonObject = {}
  for (const key of Object.keys(object)) {
    if (key === end) break
    const value = object[key]
    if (value !== null && value !== undefined) setMember(out, key, value)
  }
  return out
}

/** What Go leaves where a list or a map says null. */
function zeroOf(schema: Schema): JsonValue {
  switch (schema.type) {
    case 'string':
      return schema.format === 'date-time' || schema.format === 'micro-time' ? null : ''
    case 'integer':
    case 'number':
    case 'intOrString':
      return 0
    case 'boolean':
      return false
    case 'quantity':
      return '0'
    case 'object':
      return schema.properties && !schema.additionalProperties ? {} : null
    default:
      return null
  }
}

/** Line breaks are ignored, as Go ignores them. */
function canonicalBase64(text: string): string {
  const clean = /[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, '') : text
  if (clean.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(clean)) return clean
  const bad = /[^A-Za-z0-9+/\r\n]/.exec(text)
  throw new DecodeError(`illegal base64 data at input byte ${bad ? bad.index : Math.floor(text.length / 4) * 4}`)
}

/** @throws DecodeError with the first mismatch. */
export function decode(value: JsonValue, schema: Schema, dialect: Dialect = 'json'): Decoded {
  const decoder = new Decoder(dialect)
  const decoded = decoder.value(value, schema) as JsonObject
  const { unknownFields } = decoder
  return { value: decoded, unknownFields: dialect === 'map' ? unknownFields.toSorted() : unknownFields }
}

/** Keys that stood twice, as the parser found them. */
export type Repeated = Pick<ParsedJson, 'duplicates' | 'repeats'>

const duplicateText = (path: string): string => `duplicate field "${path}"`
const unknownText = (path: string): string => `unknown field "${path}"`

/** What upstream's YAML library says of all of them, in one text. */
export const repeatsText = (repeats: readonly string[]): string => `yaml: unmarshal errors:\n  ${repeats.join('\n  ')}`

/**
 * What fieldValidation Strict answers and Warn warns of, each as one text. `body`: what a built-in kind's decoder found
 * on its way through a JSON document; for YAML, patches and custom resources upstream looks twice and tells them apart.
 * @example `unknown field "spec.bogus"`, `duplicate field "metadata.name"`
 */
export function strictFaults(found: Repeated, unknownFields: readonly string[], body?: JsonValue): string[] {
  const { duplicates, repeats } = found
  const unknown = unknownFields.map(unknownText)
  if (repeats !== undefined) return [...(repeats.length > 0 ? [repeatsText(repeats)] : []), ...unknown.sort()]
  if (body === undefined) return [...duplicates.map(duplicateText), ...unknown.sort()]
  if (duplicates.length === 0) return unknown
  // A key that is not known at all is not told to stand there twice.
  const texts = new Map(duplicates.map((path) => [path, duplicateText(path)]))
  for (const path of unknownFields) texts.set(path, unknownText(path))
  return inOrder(body, [], texts)
}

/** Texts in the order in which their paths stand in the document. */
function inOrder(value: JsonValue, path: readonly (string | number)[], texts: ReadonlyMap<string, string>): string[] {
  if (typeof value !== 'object' || value === null) return []
  const members: Iterable<[string | number, JsonValue]> = Array.isArray(value) ? value.entries() : Object.entries(value)
  const found: string[] = []
  for (const [step, child] of members) {
    const here = [...path, step]
    const text = texts.get(printPath(here))
    if (text !== undefined) found.push(text)
    append(found, inOrder(child, here, texts))
  }
  return found
}
