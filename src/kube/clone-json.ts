/** Copies of JSON values. */

import { setMember } from '../base/json-text.ts'
import type { Resumable } from '../base/resumable.ts'
import { isExactNumber } from './json-value.ts'
import type { JsonObject, JsonValue } from './types.ts'

/**
 * A deep copy of a plain JSON value. Several times faster than structuredClone, and it keeps exact numbers.
 * Members that are undefined are left out, as JSON has none.
 */
export function cloneJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return value
  if (Array.isArray(value)) return value.map(cloneJson) as T
  const copy: Record<string, unknown> = {}
  const source = value as Record<string, unknown>
  for (const key of Object.keys(source)) {
    const member = source[key]
    if (member === undefined) continue
    if (key === '__proto__')
      Object.defineProperty(copy, key, {
        value: cloneJson(member),
        writable: true,
        enumerable: true,
        configurable: true,
      })
    else copy[key] = cloneJson(member)
  }
  return copy as T
}

const valuesAtOnce = 2048

/** `cloneJson` with places for a pause. */
export function* cloningJson<T>(value: T): Resumable<T> {
  return (yield* cloning(value, { left: valuesAtOnce })) as T
}

function* cloning(value: unknown, budget: { left: number }): Resumable<unknown> {
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return value
  const isList = Array.isArray(value)
  const list: unknown[] = []
  const map: JsonObject = {}
  for (const key of isList ? value.keys() : Object.keys(value)) {
    if (--budget.left <= 0) {
      budget.left = valuesAtOnce
      yield
    }
    const member = (value as Record<string | number, unknown>)[key]
    // Most have nothing in them, and a generator costs more than a call.
    const copy = typeof member === 'object' && member !== null ? yield* cloning(member, budget) : member
    if (isList) list.push(copy)
    else if (copy !== undefined) setMember(map, key as string, copy as JsonValue)
  }
  return isList ? list : map
}
