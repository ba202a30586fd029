/**
 * Strategic merge patch: a merge patch that knows which lists are sets or maps, from the schema's `patchStrategy` and
 * `patchMergeKey`, and that understands directives:
 *
 *   $patch: replace | delete                    on a map, or on an item of a merged list
 *   $setElementOrder/<list>: [...]              the order of a merged list
 *   $deleteFromPrimitiveList/<list>: [...]      members to take out of a list of scalars
 *   $retainKeys: [...]                          members not named here are removed
 *
 * Inputs are never changed; what a patch does not touch is shared with the result. Where upstream walks a map in random
 * order, deletions come first, then the order of the patch.
 * @see k8s.io/apimachinery/pkg/util/strategicpatch/patch.go v0.36
 */

import { setMember } from '../../base/json-text.ts'
import { type MaybeResumable, type Resumable, resumed, runAtOnce } from '../../base/resumable.ts'
import { goTypeOf, printGoValue } from '../go-quote.ts'
import { copyingMembers, isExactNumber, isJsonObject, member } from '../json-value.ts'
import { memberSchema, type Schema } from '../schema/schema.ts'
import type { StatusError } from '../status-error.ts'
import { badRequest, rejected } from '../status-error.ts'
import type { JsonObject, JsonValue } from '../types.ts'

const directive = '$patch'
const retainKeys = '$retainKeys'
const setElementOrder = '$setElementOrder'
const deleteFromPrimitiveList = '$deleteFromPrimitiveList'

const badRetainKeys = (): StatusError => badRequest('invalid patch format of retainKeys')
const badOrder = (): StatusError => badRequest('invalid patch format of setElementOrder list')
const badPrimitives = (): StatusError => badRequest('invalid patch format of primitive list')

/** Upstream answers these with a bare 500; a client's mistake deserves a 400. */
const badShape = (expected: string, value: unknown): StatusError =>
  badRequest(`expected a ${expected}, but received a ${goTypeOf(value)}`)
const noMergeKey = (item: JsonObject, key: string): StatusError =>
  badRequest(`map: ${printGoValue(item)} does not contain declared merge key: ${key}`)

/** @throws StatusError BadRequest for anything but an object. */
export function parseStrategicMergePatch(body: unknown): JsonObject {
  if (isJsonObject(body)) return body
  if (body === null) return {}
  const type = Array.isArray(body) ? 'array' : typeof body === 'boolean' ? 'bool' : typeof body
  throw badRequest(
    `json: cannot unmarshal ${type === 'object' ? 'number' : type} into Go value of type map[string]interface {}`,
  )
}

/** @throws StatusError BadRequest, or Invalid without details, where the patch can't be applied. */
export const applyStrategicMergePatch = (document: JsonObject, patch: JsonObject, schema: Schema): JsonObject =>
  runAtOnce(applyingStrategicMergePatch(document, patch, schema))

/** The same, with places for a pause. */
export const applyingStrategicMergePatch = (
  document: JsonObject,
  patch: JsonObject,
  schema: Schema,
): Resumable<JsonObject> => mergingMap(document, patch, schema)

/** Between two places for a pause. */
const membersAtOnce = 1024

const fieldOf = (schema: Schema | undefined, key: string): Schema | undefined => schema && memberSchema(schema, key)

/** The strategy beside retainKeys, which only matters to programs that make patches. */
const strategyOf = (schema: Schema | undefined): string | undefined =>
  schema?.patchStrategy?.find((s) => s !== 'retainKeys')

const isDirectiveKey = (key: string): boolean =>
  key === retainKeys || key.startsWith(setElementOrder) || key.startsWith(deleteFromPrimitiveList)

/** What a patch brings where nothing was: without nulls and directives. Undefined if the whole is a directive. */
function clean(value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) return value.map(clean).filter((item) => item !== undefined)
  if (!isJsonObject(value)) return value
  if (Object.hasOwn(value, directive)) return undefined
  return cleanedMembers(value)
}

function cleanedMembers(value: JsonObject): JsonObject {
  const out: JsonObject = {}
  for (const key in value) {
    const child = value[key] as JsonValue
    if (child === null || key === directive || isDirectiveKey(key)) continue
    const kept = clean(child)
    if (kept !== undefined) setMember(out, key, kept)
  }
  return out
}

/** `$setElementOrder/finalizers` → `finalizers` */
function targetOf(key: string, prefix: string, fault: () => StatusError): string {
  if (!key.startsWith(`${prefix}/`)) throw fault()
  return key.slice(prefix.length + 1)
}

function listAt(object: JsonObject, key: string): JsonValue[] | undefined {
  const value = member(object, key)
  if (value === undefined) return undefined
  if (!Array.isArray(value)) throw badShape('[]interface {}', value)
  return value
}

function* mergingMap(original: JsonObject, patch: JsonObject, schema: Schema | undefined): Resumable<JsonObject> {
  if (Object.hasOwn(patch, directive)) {
    const what = patch[directive]
    if (what === 'replace') return cleanedMembers(patch)
    if (what === 'delete') return {}
    throw badRequest(`unknown patch type: ${printGoValue(what)} in map: ${printGoValue(patch)}`)
  }
  const out = yield* retaining(original, patch)
  const done = new Set<string>([retainKeys])
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(setElementOrder)) continue
    const target = targetOf(key, setElementOrder, badOrder)
    const merged = yield* mergingOrdered(out, patch, target, patch[key] ?? null, fieldOf(schema, target))
    if (merged !== undefined) setMember(out, target, merged)
    done.add(key)
    done.add(target)
  }
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(deleteFromPrimitiveList)) continue
    const target = targetOf(key, deleteFromPrimitiveList, badPrimitives)
    const gone = patch[key] ?? null
    const list = member(out, target)
    if (gone === null) delete out[target]
    else if (Array.isArray(list) && Array.isArray(gone)) setMember(out, target, without(list, gone))
    done.add(key)
  }
  let passed = 0
  for (const key in patch) {
    if (++passed % membersAtOnce === 0) yield
    if (done.has(key)) continue
    const after = yield* resumed(merged(member(out, key), patch[key] as JsonValue, fieldOf(schema, key)))
    if (after === undefined) delete out[key]
    else setMember(out, key, after)
  }
  return out
}

/** Undefined: it goes. */
function merged(
  before: JsonValue | undefined,
  change: JsonValue,
  schema: Schema | undefined,
): MaybeResumable<JsonValue | undefined> {
  if (change === null) return undefined
  if (isJsonObject(before) && isJsonObject(change)) {
    return strategyOf(schema) === 'replace' ? cleanedMembers(change) : mergingMap(before, change, schema)
  }
  if (Array.isArray(before) && Array.isArray(change)) return mergingList(before, change, schema)
  return clean(change)
}

/** A copy of `original` with the members that `$retainKeys` lets stay. */
function* retaining(original: JsonObject, patch: JsonObject): Resumable<JsonObject> {
  const keep = member(patch, retainKeys)
  if (keep === undefined) return yield* copyingMembers(original)
  if (!Array.isArray(keep)) throw badRetainKeys()
  const names = new Set(keep)
  for (const [key, value] of Object.entries(patch)) {
    if (value !== null && !isDirectiveKey(key) && !names.has(key)) throw badRetainKeys()
  }
  const out: JsonObject = {}
  for (const [key, value] of Object.entries(original)) if (names.has(key)) setMember(out, key, value)
  return out
}

type ElementKind = 'map' | 'scalar' | 'none'

function elementKind(...lists: readonly (readonly JsonValue[])[]): ElementKind {
  let type: string | undefined
  for (const item of lists.flat(1)) {
    if (Array.isArray(item)) throw rejected(new Error('lists of lists are not supported'))
    const itemType = item === null ? 'null' : typeof item === 'object' && isExactNumber(item) ? 'number' : typeof item
    if (type !== undefined && type !== itemType) {
      throw badRequest(`list element types are not identical: ${printGoValue(lists)}`)
    }
    type = itemType
  }
  return type === undefined ? 'none' : type === 'object' ? 'map' : 'scalar'
}

/** Scalars by value; a 64-bit integer by its text. */
const identity = (value: JsonValue): unknown =>
  typeof value === 'object' && isExactNumber(value) ? `n:${(value as { rawJSON: string }).rawJSON}` : value

function keyOf(item: JsonValue, mergeKey: string | undefined): unknown {
  if (mergeKey === undefined) return identity(item)
  if (!isJsonObject(item)) throw badShape('map[string]interface {}', item)
  const value = member(item, mergeKey)
  if (value === undefined || Array.isArray(value) || isJsonObject(value)) throw noMergeKey(item, mergeKey)
  return identity(value)
}

/** First place of each key. */
function placesOf(list: readonly JsonValue[], mergeKey: string | undefined): Map<unknown, number> {
  const places = new Map<unknown, number>()
  list.forEach((item, i) => {
    const key = keyOf(item, mergeKey)
    if (!places.has(key)) places.set(key, i)
  })
  return places
}

const without = (list: readonly JsonValue[], gone: readonly JsonValue[]): JsonValue[] => {
  const keys = new Set(gone.map(identity))
  return list.filter((item) => !keys.has(identity(item)))
}

/** Merge key of a list of maps; undefined for scalars. */
function mergeKeyFor(kind: ElementKind, schema: Schema | undefined): string | undefined {
  if (kind !== 'map') return undefined
  if (!schema?.patchMergeKey) throw badRequest('cannot merge lists without merge key for struct')
  return schema.patchMergeKey
}

function* mergingList(
  original: readonly JsonValue[],
  patch: readonly JsonValue[],
  schema: Schema | undefined,
): Resumable<JsonValue[]> {
  if (strategyOf(schema) !== 'merge') return patch.map(clean).filter((item) => item !== undefined)
  const kind = elementKind(original, patch)
  if (kind === 'none') return []
  const mergeKey = mergeKeyFor(kind, schema)
  const { before, changes } =
    mergeKey === undefined ? { before: original, changes: patch } : applyItemDirectives(original, patch, mergeKey)
  yield
  const all = yield* mergingItems(before, changes, mergeKey, schema?.items)
  yield
  return yield* arranging(all, changes, before, mergeKey)
}

/** Takes out what `$patch: delete` items name; a `$patch: replace` item makes the patch the whole list. */
function applyItemDirectives(
  original: readonly JsonValue[],
  patch: readonly JsonValue[],
  mergeKey: string,
): { before: readonly JsonValue[]; changes: readonly JsonValue[] } {
  const changes: JsonValue[] = []
  const gone = new Set<unknown>()
  let replace = false
  for (const item of patch) {
    if (!isJsonObject(item) || !Object.hasOwn(item, directive)) {
      changes.push(item)
      continue
    }
    const what = item[directive]
    if (what === 'delete') gone.add(keyOf(item, mergeKey))
    else if (what === 'replace') replace = true
    else if (what === 'merge') throw badRequest('merging lists cannot yet be specified in the patch')
    else throw badRequest(`unknown patch type: ${printGoValue(what)} in map: ${printGoValue(item)}`)
  }
  if (replace) return { before: changes.map((item) => clean(item) ?? null), changes: [] }
  if (gone.size === 0) return { before: original, changes }
  const before = original.filter((item) => {
    const value = isJsonObject(item) ? member(item, mergeKey) : undefined
    return value === undefined || !gone.has(identity(value))
  })
  return { before, changes }
}

function* mergingItems(
  original: readonly JsonValue[],
  changes: readonly JsonValue[],
  mergeKey: string | undefined,
  itemSchema: Schema | undefined,
): Resumable<JsonValue[]> {
  if (mergeKey === undefined) {
    const unique = new Map<unknown, JsonValue>()
    for (const item of [...original, ...changes]) if (!unique.has(identity(item))) unique.set(identity(item), item)
    return [...unique.values()]
  }
  const out = [...original]
  const places = placesOf(out, mergeKey)
  yield
  let passed = 0
  for (const item of changes) {
    if (++passed % membersAtOnce === 0) yield
    const key = keyOf(item, mergeKey)
    const place = places.get(key)
    const before = place === undefined ? undefined : out[place]
    if (place !== undefined && isJsonObject(before) && isJsonObject(item))
      out[place] = yield* mergingMap(before, item, itemSchema)
    else {
      places.set(key, out.length)
      out.push(clean(item) ?? null)
    }
  }
  return out
}

/** `$setElementOrder/<target>` together with the patch of that list, if there is one. Undefined = no such list. */
function* mergingOrdered(
  original: JsonObject,
  patch: JsonObject,
  target: string,
  order: JsonValue,
  schema: Schema | undefined,
): Resumable<JsonValue[] | undefined> {
  if (!Array.isArray(order)) throw badShape('[]interface {}', order)
  const before = listAt(original, target)
  const changes = listAt(patch, target)
  if (!before && !changes) return undefined
  const kind = elementKind(before ?? [], changes ?? [])
  if (kind === 'none') return []
  const mergeKey = schema?.patchMergeKey ?? mergeKeyFor(kind, schema)
  refuseOtherOrder(changes ?? [], order, mergeKey)
  yield
  let all: readonly JsonValue[]
  if (before && changes) all = yield* mergingList(before, changes, schema)
  else if (before) all = before
  else all = (changes ?? []).map(clean).filter((item) => item !== undefined)
  return yield* arranging(all, order, before ?? [], mergeKey)
}

/** The items of the patch must stand in `$setElementOrder`, in the same order; items that only delete don't count. */
function refuseOtherOrder(
  changes: readonly JsonValue[],
  order: readonly JsonValue[],
  mergeKey: string | undefined,
): void {
  if (changes.length === 0 || order.length === 0) return
  const kept = changes.filter((item) => !isJsonObject(item) || !Object.hasOwn(item, directive))
  let place = 0
  for (const wanted of order) {
    const item = kept[place]
    if (item === undefined) return
    if (keyOf(item, mergeKey) === keyOf(wanted, mergeKey)) place++
  }
  if (place < kept.length) {
    throw badRequest(
      `The order in patch list:\n${printGoValue(changes)}\n doesn't match ${setElementOrder} ` +
        `list:\n${printGoValue(order)}\n`,
    )
  }
}

/**
 * Items named in `order` follow it; the others follow the live list. The two are then interleaved: an item only the
 * server has stands before the first named item that comes after it in the live list.
 */
function* arranging(
  merged: readonly JsonValue[],
  order: readonly JsonValue[],
  live: readonly JsonValue[],
  mergeKey: string | undefined,
): Resumable<JsonValue[]> {
  const orderPlaces = placesOf(order, mergeKey)
  yield
  const livePlaces = placesOf(live, mergeKey)
  yield
  const orderPlace = (item: JsonValue): number | undefined => orderPlaces.get(keyOf(item, mergeKey))
  const livePlace = (item: JsonValue): number | undefined => livePlaces.get(keyOf(item, mergeKey))
  const named = merged.filter((item) => orderPlace(item) !== undefined)
  const others = merged.filter((item) => orderPlace(item) === undefined)
  yield
  named.sort((a, b) => (orderPlace(a) ?? 0) - (orderPlace(b) ?? 0))
  others.sort((a, b) => (livePlace(a) ?? 0) - (livePlace(b) ?? 0))
  yield
  const out: JsonValue[] = []
  let next = 0
  for (const item of named) {
    const place = livePlace(item)
    for (let other = others[next]; other !== undefined && place !== undefined; other = others[next]) {
      const otherPlace = livePlace(other)
      if (otherPlace === undefined || otherPlace >= place) break
      out.push(other)
      next++
    }
    out.push(item)
  }
  return [...out, ...others.slice(next)]
}
