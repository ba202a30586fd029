/**
 * The JSON patch (RFC 6902) that makes one value of another: member by member in objects, whole values elsewhere. Not
 * the shortest there is, but right.
 */
import { append } from '../../base/append.ts'
import type { JsonValue } from '../types.ts'

export type JsonDiffOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: JsonValue }
  | { readonly op: 'remove'; readonly path: string }

export function jsonDiff(before: JsonValue, after: JsonValue, path = ''): JsonDiffOperation[] {
  if (isObject(before) && isObject(after)) {
    const operations: JsonDiffOperation[] = []
    for (const key of Object.keys(before)) {
      if (!Object.hasOwn(after, key) || after[key] === undefined)
        operations.push({ op: 'remove', path: `${path}/${escapeKey(key)}` })
    }
    for (const [key, value] of Object.entries(after)) {
      if (value === undefined) continue
      const old = Object.hasOwn(before, key) ? before[key] : undefined
      const place = `${path}/${escapeKey(key)}`
      if (old === undefined) operations.push({ op: 'add', path: place, value })
      else append(operations, jsonDiff(old, value, place))
    }
    return operations
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ op: 'replace', path, value: after }]
}

const isObject = (value: JsonValue): value is { [key: string]: JsonValue } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const escapeKey = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')
