/**
 * The live value with an applied configuration laid over it. Nothing is removed: leaves of the configuration win, maps
 * and keyed lists are merged.
 *
 * Parts that the configuration does not change are shared with the live value, so `merged === live` means 'no change'.
 * @see sigs.k8s.io/structured-merge-diff/v6 typed/merge.go
 */
import { isResumable, type MaybeResumable, type Resumable, runAtOnce } from '../../base/resumable.ts'
import { copyingMembers, isExactNumber, jsonEqual } from '../json-value.ts'
import type { Schema } from '../schema/schema.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import type { PathElement } from './path-element.ts'
import { anySchema, elementOf, fieldSchema, itemSchema, own, put, shapeOf } from './shape.ts'

export const mergeValues = (schema: Schema, live: JsonValue, config: JsonValue): JsonValue =>
  runAtOnce(mergingValues(schema, live, config))

/** The same, with places for a pause in maps of many members. */
export function mergingValues(schema: Schema, live: JsonValue, config: JsonValue): MaybeResumable<JsonValue> {
  if (live === config) return live
  const left = shapeOf(schema, live)
  const right = shapeOf(schema, config)
  if (left === 'map' && right === 'map') {
    if (live === null || config === null) return live === null ? config : keepUnlessEmpty(live)
    return mergingMaps(schema, live as JsonObject, config as JsonObject)
  }
  if (left === 'list' && right === 'list') {
    if (live === null || config === null) return live === null ? config : keepUnlessEmpty(live)
    if (jsonEqual(live, config)) return live
    return mergeLists(schema, live as JsonValue[], config as JsonValue[])
  }
  return jsonEqual(live, config) ? live : config
}

/** Null laid over content changes nothing; laid over an empty map or list it wins. */
function keepUnlessEmpty(live: JsonValue): JsonValue {
  return Object.keys(live as object).length === 0 ? null : live
}

const membersAtOnce = 1024

function* mergingMaps(schema: Schema, live: JsonObject, config: JsonObject): Resumable<JsonObject> {
  let result: JsonObject | undefined
  let passed = 0
  for (const name in config) {
    if (++passed % membersAtOnce === 0) yield
    const value = config[name]
    if (value === undefined) continue
    const old = own(live, name)
    let next: JsonValue = value
    if (old !== undefined) {
      const merging = mergingValues(fieldSchema(schema, name) ?? anySchema, old, value)
      next = isResumable(merging) ? yield* merging : merging
    }
    if (next === old) continue
    result ??= yield* copyingMembers(live)
    put(result, name, next)
  }
  return result ?? live
}

/** Which item of a list is which. The members of a set, which are no containers, name themselves. */
type ListElement = PathElement | number | boolean | bigint

function elementsOf(schema: Schema, list: readonly JsonValue[]): readonly ListElement[] {
  if (schema.listType !== 'set') return list.map((item) => elementOf(schema, item) as PathElement)
  return list.some(isExactNumber) ? list.map(memberOf) : (list as readonly ListElement[])
}

/** A number that is kept as its text is another value each time it is read. */
const memberOf = (item: JsonValue): ListElement =>
  isExactNumber(item) ? BigInt(item.rawJSON) : (item as Exclude<ListElement, bigint>)

/**
 * Items of the configuration keep their order among themselves, items that only live has stay where they are relative
 * to their live neighbours. Duplicate live items are kept if the configuration does not name them, else replaced.
 */
function mergeLists(schema: Schema, live: JsonValue[], config: JsonValue[]): JsonValue[] {
  const items = itemSchema(schema)
  const liveElements = elementsOf(schema, live)
  const configElements = elementsOf(schema, config)
  /** Undefined for those that stand there twice. */
  const liveIndex = new Map<ListElement, JsonValue | undefined>()
  for (const [i, element] of liveElements.entries())
    liveIndex.set(element, liveIndex.has(element) ? undefined : live[i])
  const configured = new Set(configElements)
  const shared = configElements.filter((element) => liveIndex.has(element))
  const merged = new Set<ListElement>()
  const result: JsonValue[] = []

  let nextShared = 0
  const take = (position: number): void => {
    const element = configElements[position] as ListElement
    const item = config[position] as JsonValue
    const old = liveIndex.get(element)
    merged.add(element)
    result.push(old === undefined ? item : mergeValues(items, old, item))
  }

  let l = 0
  let c = 0
  while (l < live.length || c < config.length) {
    const element = liveElements[l]
    if (element !== undefined && c < config.length) {
      if (element === configElements[c]) {
        take(c)
        l++
        c++
        nextShared++
        continue
      }
      if (configured.has(element) && nextShared < shared.length && element !== shared[nextShared]) {
        // Its turn comes later: the configuration wants another shared item first.
        l++
        continue
      }
    }
    if (element !== undefined) {
      if (!configured.has(element)) {
        result.push(live[l] as JsonValue)
        l++
        continue
      }
      if (merged.has(element)) l++
    }
    if (c < config.length) {
      take(c)
      if (configElements[c] === shared[nextShared]) nextShared++
      c++
    }
  }
  return result.length === live.length && result.every((item, i) => item === live[i]) ? live : result
}
