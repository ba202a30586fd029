/**
 * How defaults are written down: per type name a list of rules, each given one value of that type to complete in place.
 * A parent's rules run before those of the types inside it, as upstream's do.
 */
import type { JsonValue } from '../../kube/types.ts'

/** One value of a built-in type: a JSON object that is the caller's own. */
export type Fields = Record<string, unknown>

export type DefaultRule = (value: Fields) => void

export type DefaultRules = Readonly<Record<string, readonly DefaultRule[]>>

/** Go's zero values count as absent for fields that are not pointers. */
export const isUnset = (value: unknown): boolean => value === undefined || value === null || value === '' || value === 0

const copy = (value: JsonValue): JsonValue =>
  typeof value === 'object' && value !== null ? structuredClone(value) : value

/** Sets fields that Go holds by value: absent, empty and zero are the same. */
export const fillUnset = (values: Readonly<Record<string, JsonValue>>): DefaultRule => {
  const entries = Object.entries(values)
  return (target) => {
    for (const [name, value] of entries) if (isUnset(target[name])) target[name] = copy(value)
  }
}

/** Sets fields that Go holds by pointer: what is there stays, be it zero or empty. */
export const fillAbsent = (values: Readonly<Record<string, JsonValue>>): DefaultRule => {
  const entries = Object.entries(values)
  return (target) => {
    for (const [name, value] of entries) if (target[name] === undefined) target[name] = copy(value)
  }
}

/** The struct in a field, made if it is missing. */
export function structIn(value: Fields, field: string): Fields {
  const found = findStruct(value, field)
  if (found) return found
  const made: Fields = {}
  value[field] = made
  return made
}

export function findStruct(value: Fields, field: string): Fields | undefined {
  const found = value[field]
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as Fields) : undefined
}

export function listIn(value: Fields, field: string): Fields[] {
  const found = value[field]
  return Array.isArray(found) ? found.filter((item): item is Fields => typeof item === 'object' && item !== null) : []
}
