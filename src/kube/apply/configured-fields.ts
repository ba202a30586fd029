/**
 * The fields an applied configuration speaks about: its leaves, the items of its lists and the entries of its maps.
 * Unlike an Update, it does not claim the structs and maps around them.
 * @see sigs.k8s.io/structured-merge-diff/v6 typed/tofieldset.go
 */
import type { Resumable } from '../../base/resumable.ts'
import type { Slice } from '../../base/turns.ts'
import type { Schema } from '../schema/schema.ts'
import type { JsonObject, JsonValue, KubeObject } from '../types.ts'
import { emptySet, type FieldSet, isEmpty, leaf, orderMembers, recursiveDifference, withSelf } from './field-set.ts'
import { makingItemNodes } from './large-lists.ts'
import { objectSchema, untrackedFields, untrackedMetadata } from './object-schema.ts'
import { fieldElement, type PathElement } from './path-element.ts'
import {
  anySchema,
  declaredField,
  fieldSchema,
  type Items,
  indexList,
  isMap,
  itemSchema,
  shapeOf,
  sortedNames,
} from './shape.ts'
import { inWeighedParts, pausing, type Steps, weightOf } from './steps.ts'

/** Without what has no owner (TypeMeta, names, ...). */
export function configuredFields(schema: Schema, config: KubeObject, resetFields?: FieldSet | undefined): FieldSet {
  const set = difference(fieldsOf(objectSchema(schema), config as unknown as JsonValue))
  return resetFields === undefined ? set : recursiveDifference(set, resetFields)
}

/** The same with pauses, where there is much of it. */
export function* configuringFields(
  schema: Schema,
  config: KubeObject,
  resetFields: FieldSet | undefined,
  slice: Slice,
): Steps<FieldSet> {
  const node = yield* makingNode(objectSchema(schema), config as unknown as JsonValue, slice)
  const set = difference(node ?? emptySet)
  yield* pausing(slice)
  return resetFields === undefined ? set : recursiveDifference(set, resetFields)
}

function difference(set: FieldSet): FieldSet {
  const result: Record<PathElement, FieldSet> = {}
  for (const element in set) {
    const name = element.slice(2)
    if (untrackedFields.has(name)) continue
    const node = set[element] as FieldSet
    if (name !== 'metadata') {
      result[element] = node
      continue
    }
    const metadata: Record<PathElement, FieldSet> = {}
    for (const key in node) {
      if (key !== '.' && !untrackedMetadata.has(key.slice(2))) metadata[key] = node[key] as FieldSet
    }
    if (!isEmpty(metadata)) result[element] = metadata
  }
  return result
}

/** Everything below a value, for values of any schema; `root` is the schema of the value. */
export function fieldsOf(schema: Schema, value: JsonValue): FieldSet {
  return nodeOf(schema, value) ?? emptySet
}

/** `fieldsOf`, with pauses where there is a slice. */
export function* makingFields(schema: Schema, value: JsonValue, slice: Slice | undefined): Steps<FieldSet> {
  return slice === undefined ? fieldsOf(schema, value) : ((yield* makingNode(schema, value, slice)) ?? emptySet)
}

/** The node of a value, without itself unless it is a leaf; undefined if there is nothing in it. */
function nodeOf(schema: Schema, value: JsonValue): FieldSet | undefined {
  switch (shapeOf(schema, value)) {
    case 'leaf':
      return leaf
    case 'map':
      return value === null ? undefined : mapNode(schema, value as JsonObject)
    case 'list':
      return value === null ? undefined : listNode(schema, value as JsonValue[])
  }
}

/** `nodeOf`, with pauses. */
function* makingNode(schema: Schema, value: JsonValue, slice: Slice): Steps<FieldSet | undefined> {
  const shape = shapeOf(schema, value)
  yield* pausing(slice)
  if (value === null || shape === 'leaf') return nodeOf(schema, value)
  if (shape === 'list') return yield* makingListNode(schema, value as JsonValue[], slice)
  const map = value as JsonObject
  const names = sortedNames(map)
  const node: Node = {}
  let hasContent = false
  yield* pausing(slice)
  yield* inWeighedParts(
    names,
    {
      weigh: (name) => weightOf(map[name]),
      some: (part) => {
        hasContent = addFields(schema, map, part, node) || hasContent
      },
      *large(name) {
        const below = yield* makingNode(fieldSchema(schema, name) ?? anySchema, map[name] as JsonValue, slice)
        const child = declaredField(schema, name) === undefined ? withSelf(below) : below
        if (child === undefined) return
        node[fieldElement(name)] = child
        hasContent = true
      },
    },
    slice,
  )
  return hasContent ? node : undefined
}

function* makingListNode(schema: Schema, list: readonly JsonValue[], slice: Slice): Steps<FieldSet | undefined> {
  if (list.length === 0) return undefined
  const items = itemSchema(schema)
  const nodes = {
    weigh: (found: Items) => ('item' in found ? weightOf(found.item) : 1),
    nodeOf: (found: Items) => itemNode(items, found),
    *makingNode(found: Items): Steps<FieldSet> {
      return 'item' in found ? withSelf(yield* makingNode(items, found.item, slice)) : leaf
    },
  }
  return yield* makingItemNodes(schema, list, nodes, slice)
}

type Node = Record<PathElement, FieldSet>

function mapNode(schema: Schema, map: JsonObject): FieldSet | undefined {
  const node: Node = {}
  return addFields(schema, map, sortedNames(map), node) ? node : undefined
}

/** Of `names`, into `node`. False: there is nothing in any of them. */
function addFields(schema: Schema, map: JsonObject, names: readonly string[], node: Node): boolean {
  let hasContent = false
  for (const name of names) {
    const value = map[name]
    if (value === undefined) continue
    const below = nodeOf(fieldSchema(schema, name) ?? anySchema, value)
    const claimed =
      value === null || (isMap(value) && isEmpty(value as object as FieldSet)) || !declaredField(schema, name)
    const child = claimed ? withSelf(below) : below
    if (child === undefined) continue
    node[fieldElement(name)] = child
    hasContent = true
  }
  return hasContent
}

function listNode(schema: Schema, list: readonly JsonValue[]): FieldSet | undefined {
  if (list.length === 0) return undefined
  const node: Node = {}
  const items = itemSchema(schema)
  for (const [element, found] of indexList(schema, list)) node[element] = itemNode(items, found)
  return orderMembers(node)
}

const itemNode = (items: Schema, found: Items): FieldSet =>
  'item' in found ? withSelf(nodeOf(items, found.item)) : leaf

const membersAtOnce = 1024

/**
 * The set, with every struct field that has something in the set below it (as removing the field removes it all). With
 * places for a pause.
 */
export function* namingFields(schema: Schema, set: FieldSet): Resumable<FieldSet> {
  const changed: Record<PathElement, FieldSet> = {}
  let hasChanged = false
  let passed = 0
  for (const element in set) {
    if (++passed % membersAtOnce === 0) yield
    const node = set[element] as FieldSet
    if (element === '.' || isEmpty(node)) continue
    const below = yield* namingFields(childSchema(schema, element), node)
    const named = element.startsWith('f:') && declaredField(schema, element.slice(2)) !== undefined
    const next = named ? withSelf(below) : below
    if (next === node) continue
    changed[element] = next
    hasChanged = true
  }
  if (!hasChanged) return set
  yield
  return { ...set, ...changed }
}

function childSchema(schema: Schema, element: PathElement): Schema {
  if (element.startsWith('f:')) return fieldSchema(schema, element.slice(2)) ?? anySchema
  return itemSchema(schema)
}

/**
 * The set after the schema changed: where a part has become atomic, an owner of something in it owns all of it.
 * The other way (atomic to granular) needs nothing: upstream treats it as always having been granular.
 * @see sigs.k8s.io/structured-merge-diff/v6 typed/reconcile_schema.go
 */
export function reconciledWithSchema(schema: Schema, set: FieldSet): FieldSet {
  let result: Record<PathElement, FieldSet> | undefined
  for (const element in set) {
    const node = set[element] as FieldSet
    if (element === '.' || isEmpty(node)) continue
    const child = knownChild(schema, element)
    if (child === undefined) continue
    const next = isAtomic(child) ? leaf : reconciledWithSchema(child, node)
    if (next === node) continue
    result ??= { ...set }
    result[element] = next
  }
  return result ?? set
}

function knownChild(schema: Schema, element: PathElement): Schema | undefined {
  if (element.startsWith('f:')) return fieldSchema(schema, element.slice(2))
  return schema.items
}

function isAtomic(schema: Schema): boolean {
  if (schema.mapType === 'atomic') return true
  return schema.type === 'array' && schema.listType !== 'set' && schema.listType !== 'map'
}
