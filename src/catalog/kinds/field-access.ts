/** Reading fields of objects whose shape TypeScript does not know. What is absent or of another type reads as empty. */
import { isJsonObject, member } from '../../kube/json-value.ts'
import type { JsonObject, JsonValue } from '../../kube/types.ts'

export function fieldAt(value: unknown, ...path: readonly string[]): JsonValue | undefined {
  let at = value as JsonValue | undefined
  for (const key of path) {
    if (!isJsonObject(at)) return undefined
    at = member(at, key)
  }
  return at ?? undefined
}

export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = fieldAt(value, ...path)
  return typeof found === 'string' ? found : ''
}

export function numberAt(value: unknown, ...path: readonly string[]): number {
  const found = fieldAt(value, ...path)
  return typeof found === 'number' ? found : 0
}

export function booleanAt(value: unknown, ...path: readonly string[]): boolean {
  return fieldAt(value, ...path) === true
}

export function listAt(value: unknown, ...path: readonly string[]): readonly JsonValue[] {
  const found = fieldAt(value, ...path)
  return Array.isArray(found) ? found : []
}

export function objectAt(value: unknown, ...path: readonly string[]): JsonObject | undefined {
  const found = fieldAt(value, ...path)
  return isJsonObject(found) ? found : undefined
}

export function textsAt(value: unknown, ...path: readonly string[]): string[] {
  return listAt(value, ...path).filter((item) => typeof item === 'string')
}

/** Members whose values are texts: labels, selectors. */
export function textMapAt(value: unknown, ...path: readonly string[]): Record<string, string> {
  const found = objectAt(value, ...path) ?? {}
  return Object.fromEntries(Object.entries(found).filter((e): e is [string, string] => typeof e[1] === 'string'))
}

/** Status of the condition of a type; '' if there is none. */
export function conditionAt(value: unknown, type: string): JsonValue | undefined {
  return listAt(value, 'status', 'conditions').find((c) => textAt(c, 'type') === type)
}
