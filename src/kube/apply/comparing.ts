/**
 * What a write changed (`compare.ts`), with pauses. Members are gone through in parts of so many values; what is large
 * itself is gone into.
 */
import type { Resumable } from '../../base/resumable.ts'
import type { Slice } from '../../base/turns.ts'
import { jsonEqual } from '../json-value.ts'
import type { Schema } from '../schema/schema.ts'
import type { JsonObject, JsonValue, KubeObject } from '../types.ts'
import {
  addWhole,
  type Changes,
  ChangesBuilder,
  compareDuplicates,
  compareGone,
  compareItem,
  compareNames,
  compareObjects,
  isVoid,
  modifiedLeaf,
  type Node,
  type NodeChanges,
  namesInOrder,
  type Pair,
  pairOf,
  pairsOf,
  settableChanges,
  unset,
  voidChange,
  wholeItems,
} from './compare.ts'
import { type FieldSet, leaf, withoutSelf } from './field-set.ts'
import { indexing, makingItemNodes, orderingMembers } from './large-lists.ts'
import { uniting } from './large-sets.ts'
import { fieldElement } from './path-element.ts'
import { anySchema, fieldSchema, type Items, itemSchema, own, shapeOf, sortedNames } from './shape.ts'
import { inWeighedParts, pausing, type Steps, weightOf } from './steps.ts'

/** With pauses where the object is large: then maps of many members are gone through in parts. */
export function* comparingObjects(
  schema: Schema,
  live: KubeObject | undefined,
  next: KubeObject,
  resetFields: FieldSet | undefined,
  slice: Slice | undefined,
): Steps<Changes | undefined> {
  if (slice === undefined) return compareObjects(schema, live, next, resetFields)
  const { root, metadata } = pairsOf(schema, live, next)
  const builder = new ChangesBuilder()
  yield* comparingFields(root, builder, slice)
  const ofMetadata = new ChangesBuilder()
  yield* comparingFields(metadata, ofMetadata, slice)
  builder.put('f:metadata', yield* building(ofMetadata, slice))
  yield* pausing(slice)
  return settableChanges(yield* building(builder, slice), resetFields)
}

/** `ChangesBuilder.build`, with pauses. */
function* building(builder: ChangesBuilder, slice: Slice | undefined): Steps<NodeChanges | undefined> {
  const { nodes } = builder
  return (
    nodes && {
      added: yield* orderingOf(nodes.added, slice),
      modified: yield* orderingOf(nodes.modified, slice),
      removed: yield* orderingOf(nodes.removed, slice),
    }
  )
}

function* orderingOf(node: Node | undefined, slice: Slice | undefined): Steps<FieldSet | undefined> {
  return node && (yield* orderingMembers(node, slice))
}

/** `compareFields`, with pauses. */
function* comparingFields(pair: Pair, builder: ChangesBuilder, slice: Slice | undefined): Steps<void> {
  const { before, after, skip } = pair
  const names = namesInOrder(after)
  yield* pausing(slice)
  yield* inWeighedParts(
    names,
    {
      weigh: (name) => (skip(name) ? 1 : weightOf(after[name]) + weightOf(own(before, name))),
      some: (part) => compareNames(part, pair, builder),
      large: (name) => comparingField(name, pair, builder, slice),
    },
    slice,
  )
  yield* inWeighedParts(
    Object.keys(before),
    {
      weigh: (name) => (own(after, name) === undefined && !skip(name) ? weightOf(before[name]) : 1),
      some: (part) => compareGone(part, pair, builder),
      large: (name) => comparingGone(name, pair, builder, slice),
    },
    slice,
  )
}

/** `compareNames` of one. */
function* comparingField(name: string, pair: Pair, builder: ChangesBuilder, slice: Slice | undefined): Steps<void> {
  const value = pair.after[name]
  let old = own(pair.before, name)
  if (value === old || value === undefined || pair.skip(name)) return
  const field = fieldSchema(pair.schema, name) ?? anySchema
  if (old === undefined && field.byValue && pair.hadStructs) old = unset(field)
  if (old === undefined) builder.add(fieldElement(name), yield* makingWhole(field, value, slice))
  else builder.put(fieldElement(name), yield* comparingValues(field, old, value, slice))
}

/** `compareGone` of one that is there no more. */
function* comparingGone(name: string, pair: Pair, builder: ChangesBuilder, slice: Slice | undefined): Steps<void> {
  const field = fieldSchema(pair.schema, name) ?? anySchema
  const old = pair.before[name] as JsonValue
  if (field.byValue && pair.hasStructs)
    builder.put(fieldElement(name), yield* comparingValues(field, old, unset(field), slice))
  else builder.remove(fieldElement(name), yield* makingWhole(field, old, slice))
}

/** `compareValues`, with pauses. */
function* comparingValues(
  schema: Schema,
  before: JsonValue,
  after: JsonValue,
  slice: Slice | undefined,
): Steps<NodeChanges | undefined> {
  if (before === after) return undefined
  const left = shapeOf(schema, before)
  const right = shapeOf(schema, after)
  yield* pausing(slice)
  if (left === 'map' && right === 'map') {
    const builder = new ChangesBuilder()
    yield* comparingFields(pairOf(schema, before, after), builder, slice)
    return (yield* building(builder, slice)) ?? voidChange(before, after)
  }
  if (left === 'list' && right === 'list') {
    if (jsonEqual(before, after)) return undefined
    if (isVoid(before) && isVoid(after)) return modifiedLeaf
    yield* pausing(slice)
    return yield* comparingItems(schema, (before ?? []) as JsonValue[], (after ?? []) as JsonValue[], slice)
  }
  if (left === right) return jsonEqual(before, after) ? undefined : modifiedLeaf
  return {
    modified: leaf,
    added: right === 'leaf' ? undefined : withoutSelf(yield* makingWhole(schema, after, slice)),
    removed: left === 'leaf' ? undefined : withoutSelf(yield* makingWhole(schema, before, slice)),
  }
}

/** `compareItems`, with pauses. */
function* comparingItems(
  schema: Schema,
  before: readonly JsonValue[],
  after: readonly JsonValue[],
  slice: Slice | undefined,
): Steps<NodeChanges | undefined> {
  const left = yield* indexing(schema, before, slice)
  const right = yield* indexing(schema, after, slice)
  const items = itemSchema(schema)
  const builder = new ChangesBuilder()
  yield* inWeighedParts(
    [...right],
    {
      weigh: ([, next]) => weightOfItems(next),
      some: (part) => {
        for (const [element, next] of part) compareItem(items, element, left.get(element), next, builder)
      },
      *large([element, next]) {
        const old = left.get(element)
        if (old === undefined) builder.add(element, yield* makingWholeItems(items, next, slice))
        else if ('item' in old && 'item' in next)
          builder.put(element, yield* comparingValues(items, old.item, next.item, slice))
        else builder.put(element, compareDuplicates(items, old, next))
      },
    },
    slice,
  )
  yield* inWeighedParts(
    [...left].filter(([element]) => !right.has(element)),
    {
      weigh: ([, old]) => weightOfItems(old),
      some: (part) => {
        for (const [element, old] of part) builder.remove(element, wholeItems(items, old))
      },
      *large([element, old]) {
        builder.remove(element, yield* makingWholeItems(items, old, slice))
      },
    },
    slice,
  )
  return yield* building(builder, slice)
}

/** Those that share an element are owned together: what is in them does not count. */
const weightOfItems = (found: Items): number => ('item' in found ? weightOf(found.item) : 1)

function* makingWholeItems(items: Schema, found: Items, slice: Slice | undefined): Steps<FieldSet> {
  return 'item' in found ? yield* makingWhole(items, found.item, slice) : leaf
}

/** `wholeNode`, with pauses. */
function* makingWhole(schema: Schema, value: JsonValue, slice: Slice | undefined): Steps<FieldSet> {
  const shape = shapeOf(schema, value)
  if (shape === 'leaf' || value === null) return leaf
  if (shape === 'map') return yield* makingWholeMap(schema, value as JsonObject, slice)
  const list = value as JsonValue[]
  if (list.length === 0) return leaf
  const items = itemSchema(schema)
  const nodes = {
    weigh: weightOfItems,
    nodeOf: (found: Items) => wholeItems(items, found),
    makingNode: (found: Items) => makingWholeItems(items, found, slice),
  }
  return yield* makingItemNodes(schema, list, nodes, slice, { '.': leaf })
}

function* makingWholeMap(schema: Schema, map: JsonObject, slice: Slice | undefined): Steps<FieldSet> {
  const names = sortedNames(map)
  yield* pausing(slice)
  const node: Node = { '.': leaf }
  let hasContent = false
  yield* inWeighedParts(
    names,
    {
      weigh: (name) => weightOf(map[name]),
      some: (part) => {
        hasContent = addWhole(part, schema, map, node) || hasContent
      },
      *large(name) {
        node[fieldElement(name)] = yield* makingWhole(
          fieldSchema(schema, name) ?? anySchema,
          map[name] as JsonValue,
          slice,
        )
        hasContent = true
      },
    },
    slice,
  )
  return hasContent ? node : leaf
}

/** `takenFields` with places for a pause. */
export const takingFields = (changes: Changes): Resumable<FieldSet> => uniting(changes.added, changes.modified)
