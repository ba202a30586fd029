/**
 * What was at the place of a value before an update, and whether that is the same. What did not change is not judged
 * again by rules that came later (ratcheting).
 *
 * Only what the schema names can be told to be the same: members by its properties, items of map lists by their keys,
 * in any order. Other lists are the same as a whole or not at all. A resource as a whole always counts as changed: no
 * schema names what is in its metadata.
 * @see k8s.io/apiserver/pkg/cel/common/equality.go v0.36
 */
import { isJsonObject, jsonEqual, member } from '../json-value.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { memberSchema, type Schema } from './schema.ts'

export interface Before {
  readonly value: JsonValue
  /** Names what can be followed; never a branch of an `anyOf` and the like, which names less. */
  readonly schema: Schema
}

export function memberBefore(before: Before | undefined, key: string): Before | undefined {
  if (before === undefined || !isJsonObject(before.value)) return undefined
  const schema = memberSchema(before.schema, key)
  const value = member(before.value, key)
  return schema && value !== undefined ? { value, schema } : undefined
}

/** Finds for an item that which had its keys. */
export function itemsBefore(before: Before | undefined): (item: JsonValue) => Before | undefined {
  const { items, listType, listMapKeys } = before?.schema ?? {}
  if (!items || listType !== 'map' || !listMapKeys || !Array.isArray(before?.value)) return () => undefined
  const byKey = new Map<string, JsonValue>()
  for (const item of before.value) if (isJsonObject(item)) byKey.set(keyText(item, listMapKeys), item)
  return (item) => {
    const value = isJsonObject(item) ? byKey.get(keyText(item, listMapKeys)) : undefined
    return value === undefined ? undefined : { value, schema: items }
  }
}

/** Whether these changed can't be seen: an update compares objects that were converted to one version. */
export const isTypeMeta = (key: string): boolean => key === 'apiVersion' || key === 'kind'

export function isUnchanged(value: JsonValue, before: Before | undefined): boolean {
  if (before === undefined) return false
  const { value: old, schema } = before
  if (Array.isArray(value)) {
    if (!Array.isArray(old) || value.length !== old.length) return false
    if (schema.listType !== 'map') return jsonEqual(value, old)
    const oldItem = itemsBefore(before)
    return value.every((item) => isUnchanged(item, oldItem(item)))
  }
  if (!isJsonObject(value)) return jsonEqual(value, old)
  if (!isJsonObject(old)) return false
  const keys = Object.keys(value)
  return (
    keys.length === Object.keys(old).length && keys.every((k) => isUnchanged(value[k] ?? null, memberBefore(before, k)))
  )
}

const keyText = (item: JsonObject, keys: readonly string[]): string =>
  JSON.stringify(keys.map((key) => member(item, key) ?? null))
