/** Copies of JSON values. */
import { isExactNumber } from './json-value.ts'

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
