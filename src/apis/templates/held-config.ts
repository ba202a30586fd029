/**
 * What we applied to an object last, read from the object itself: the values of the fields that our Apply entry owns.
 * If that is what would be applied now, applying would change nothing, so it need not be sent. That is how a process
 * that has just started knows what another one did.
 *
 * Needs no schema: where the two differ only in form (an order, a default inside of a list that is owned as a whole) it
 * says that they differ, and the apply is sent for nothing. It never says that they are equal when they are not.
 */
import { parseJsonText } from '../../base/parse-json-text.ts'
import type { ServedKind } from '../../client/client.ts'
import { apiVersionOf } from '../../kube/gvk.ts'
import type { JsonObject, JsonValue, KubeObject } from '../../kube/types.ts'
import { digestOf } from './digest.ts'
import { templateFieldManager } from './types.ts'

/** The digest of what we applied last; undefined if it can't be told. Compare it with `configDigest`. */
export function heldDigest(object: KubeObject, type: ServedKind): string | undefined {
  const held = heldConfig(object, type)
  return held && digestOf(held)
}

/** What `heldDigest` is a digest of. `type`: what the object is one of, which items of a list do not say. */
export function heldConfig(object: KubeObject, type: ServedKind): JsonObject | undefined {
  const apiVersion = apiVersionOf(type)
  const entry = (object.metadata.managedFields ?? []).find(
    (m) => m.manager === templateFieldManager && m.operation === 'Apply' && !m.subresource,
  )
  if (entry?.fieldsV1 === undefined || entry.apiVersion !== apiVersion) return undefined
  const held = ownedPart(object as unknown as JsonObject, entry.fieldsV1)
  if (!isObject(held)) return undefined
  const { name, namespace } = object.metadata
  const owned = isObject(held['metadata']) ? held['metadata'] : {}
  const config = { ...held, apiVersion, kind: type.kind, metadata: { ...owned, name, namespace } }
  return sortKeys(config as JsonObject) as JsonObject
}

export const configDigest = (config: KubeObject): string => digestOf(sortKeys(config as unknown as JsonObject))

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * `fields` in the form of FieldsV1: `f:name` a field, `k:{…}` the item of a list with these keys, `v:…` an item by its
 * value, `.` the thing itself; nothing below it = all of it. undefined = something owned is not there.
 * @see sigs.k8s.io/structured-merge-diff/fieldpath (serialize.go)
 */
function ownedPart(value: JsonValue | undefined, fields: JsonObject): JsonValue | undefined {
  const paths = Object.keys(fields).filter((path) => path !== '.')
  if (value === undefined || paths.length === 0) return value
  if (Array.isArray(value)) return ownedItems(value, fields, paths)
  if (!isObject(value)) return undefined
  const part: JsonObject = {}
  for (const path of paths) {
    if (!path.startsWith('f:')) return undefined
    const key = path.slice(2)
    const owned = ownedPart(value[key], fields[path] as JsonObject)
    if (owned === undefined) return undefined
    part[key] = owned
  }
  return part
}

function ownedItems(items: readonly JsonValue[], fields: JsonObject, paths: readonly string[]): JsonValue | undefined {
  const part: JsonValue[] = []
  for (const item of items) {
    const path = paths.find((p) => isItemOf(p, item))
    if (path === undefined) continue
    const owned = ownedPart(item, fields[path] as JsonObject)
    if (owned === undefined) return undefined
    part.push(owned)
  }
  return part.length === paths.length ? part : undefined
}

/** Whether a part of a path, `k:…` or `v:…`, means this item of a list. */
export function isItemOf(path: string, item: JsonValue): boolean {
  if (path.startsWith('v:')) return path.slice(2) === JSON.stringify(item)
  if (!path.startsWith('k:') || !isObject(item)) return false
  const keys = parseJsonText(path.slice(2)) as JsonObject
  return Object.entries(keys).every(([key, value]) => item[key] === value)
}

function sortKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortKeys(value[key] as JsonValue)]),
  )
}
