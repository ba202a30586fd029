/**
 * How a value takes part in field ownership, according to its schema: as a whole (`leaf`), field by field (`map`) or
 * item by item (`list`). Also: which item of a list is which.
 *
 * A value whose type is not the schema's counts as a leaf: refusing it is validation's task, not ownership's.
 * @see sigs.k8s.io/structured-merge-diff/v6 typed/helpers.go
 */
import { isExactNumber, isJsonObject } from '../json-value.ts'
import type { Schema } from '../schema/schema.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { keyElement, type PathElement, valueElement } from './path-element.ts'

/** Unknown content: maps are granular, lists are atomic. */
export const anySchema: Schema = { type: 'any' }

export type Shape = 'leaf' | 'map' | 'list'

/** No map is a number that is kept as its text. */
export const isMap: (value: unknown) => value is JsonObject = isJsonObject

/** Null is an empty map or list where the schema wants one. */
export function shapeOf(schema: Schema, value: JsonValue): Shape {
  switch (schema.type) {
    case 'object':
      return schema.mapType !== 'atomic' && (value === null || isMap(value)) ? 'map' : 'leaf'
    case 'array':
      return isKeyed(schema) && (value === null || (Array.isArray(value) && isIndexable(schema, value)))
        ? 'list'
        : 'leaf'
    case 'any':
      return schema.mapType !== 'atomic' && (value === null || isMap(value)) ? 'map' : 'leaf'
    default:
      return 'leaf'
  }
}

const isKeyed = (schema: Schema): boolean => schema.listType === 'set' || schema.listType === 'map'

/** The declared field, not one that a map or unknown content allows. */
export const declaredField = (schema: Schema, name: string): Schema | undefined => schema.properties?.get(name)

/** The schema of a field or map entry; undefined if the schema does not allow it. */
export function fieldSchema(schema: Schema, name: string): Schema | undefined {
  const declared = schema.properties?.get(name)
  if (declared !== undefined) return declared
  const { additionalProperties } = schema
  if (additionalProperties !== undefined) return additionalProperties === true ? anySchema : additionalProperties
  if (schema.type === 'any' || schema.preserveUnknownFields || schema.properties === undefined) return anySchema
  if (schema.embeddedResource && (name === 'apiVersion' || name === 'kind' || name === 'metadata')) return anySchema
  return undefined
}

export const itemSchema = (schema: Schema): Schema => schema.items ?? anySchema

const sortedKeys = new WeakMap<Schema, readonly string[]>()

function mergeKeys(schema: Schema): readonly string[] {
  let keys = sortedKeys.get(schema)
  if (keys === undefined) {
    keys = [...(schema.listMapKeys ?? [])].sort()
    sortedKeys.set(schema, keys)
  }
  return keys
}

/**
 * Which item of its list this is. Keys that are absent take the schema's default, else they are left out.
 * @returns why it cannot be told, in upstream's words, in place of an element
 */
export function elementOf(schema: Schema, item: JsonValue): PathElement | { readonly problem: string } {
  return schema.listType === 'map' ? keyedElement(schema, item) : memberElement(item)
}

function keyedElement(schema: Schema, item: JsonValue): PathElement | { readonly problem: string } {
  if (item === null) return { problem: 'associative list with keys may not have a null element' }
  if (!isMap(item)) return { problem: 'associative list with keys may not have non-map elements' }
  const element = keyElement(mergeKeys(schema), (name) => keyOf(schema, item, name))
  if (element !== 'k:{}') return element
  const names = (schema.listMapKeys ?? []).map((name) => JSON.stringify(name)).join(' ')
  return {
    problem:
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have ` +
      'default values for any key fields)',
  }
}

const keyOf = (schema: Schema, item: JsonObject, name: string): JsonValue | undefined =>
  own(item, name) ?? schema.items?.properties?.get(name)?.default

function memberElement(item: JsonValue): PathElement | { readonly problem: string } {
  if (item === null) return { problem: "associative list without keys has an element that's an explicit null" }
  if (Array.isArray(item)) return { problem: 'not supported: associative list with lists as elements' }
  if (isMap(item)) return { problem: "associative list without keys has an element that's a map type" }
  return valueElement(item)
}

function isIndexable(schema: Schema, list: readonly JsonValue[]): boolean {
  if (schema.listType === 'set') return list.every((item) => typeof item !== 'object' || isExactNumber(item))
  const names = mergeKeys(schema)
  return list.every((item) => isMap(item) && names.some((name) => keyOf(schema, item, name) !== undefined))
}

/** One item, or all the items that share an element: those are owned together, like an atomic value. */
export type Items = { readonly item: JsonValue } | { readonly duplicates: readonly JsonValue[] }

/** Only for what `shapeOf` calls a list. Ascending by position of the first of each. */
export const indexList = (schema: Schema, list: readonly JsonValue[]): ItemIndex => addItems(new Map(), schema, list)

export type ItemIndex = Map<PathElement, { readonly item: JsonValue } | { readonly duplicates: JsonValue[] }>

export function addItems(index: ItemIndex, schema: Schema, list: readonly JsonValue[]): ItemIndex {
  for (const item of list) {
    const element = elementOf(schema, item) as PathElement
    const earlier = index.get(element)
    if (earlier === undefined) index.set(element, { item })
    else if ('item' in earlier) index.set(element, { duplicates: [earlier.item, item] })
    // In place: a client may send a hundred thousand.
    else earlier.duplicates.push(item)
  }
  return index
}

export function own(map: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined
}

/** Sets a field whatever its name, `__proto__` included. */
export function put(map: JsonObject, name: string, value: JsonValue): void {
  if (name === '__proto__')
    Object.defineProperty(map, name, { value, enumerable: true, configurable: true, writable: true })
  else map[name] = value
}

/** Most objects have so few fields that to move them costs less than to call `sort`, which keeps books of its own. */
const fewNames = 16

/** Field names in order. */
export function sortedNames(map: JsonObject): string[] {
  const names = Object.keys(map)
  if (names.length > fewNames) return isAscending(names) ? names : names.sort()
  for (let i = 1; i < names.length; i++) {
    const name = names[i] as string
    let at = i
    for (; at > 0 && (names[at - 1] as string) > name; at--) names[at] = names[at - 1] as string
    names[at] = name
  }
  return names
}

function isAscending(names: readonly string[]): boolean {
  for (let i = 1; i < names.length; i++) if ((names[i - 1] as string) > (names[i] as string)) return false
  return true
}
