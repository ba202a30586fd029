/**
 * What a write changed, as field sets.
 *
 * - `added` and `removed` hold every leaf that came or went, and every map, list item or struct that came or went with
 *   it (`.`). A struct held by value is always there, so it never comes or goes by itself.
 * - `modified` holds leaves only.
 * - An empty map or list is a leaf; so is a set of duplicate items.
 * @see sigs.k8s.io/structured-merge-diff/v6 typed/compare.go
 */
import { jsonEqual } from '../json-value.ts'
import type { Schema } from '../schema/schema.ts'
import type { JsonObject, JsonValue, KubeObject } from '../types.ts'
import { emptySet, type FieldSet, leaf, orderMembers, recursiveDifference, union, withoutSelf } from './field-set.ts'
import { objectSchema, untrackedFields, untrackedMetadata } from './object-schema.ts'
import { fieldElement, type PathElement } from './path-element.ts'
import {
  anySchema,
  fieldSchema,
  type Items,
  indexList,
  isMap,
  itemSchema,
  own,
  type Shape,
  shapeOf,
  sortedNames,
} from './shape.ts'
import { manyMembers } from './steps.ts'

export interface Changes {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

const emptyMap: JsonObject = Object.freeze({})

/** From nothing (undefined) or the live object to the next one; undefined = no tracked field changed. */
export function compareObjects(
  schema: Schema,
  live: KubeObject | undefined,
  next: KubeObject,
  resetFields?: FieldSet | undefined,
): Changes | undefined {
  const { root, metadata } = pairsOf(schema, live, next)
  const builder = new ChangesBuilder()
  compareFields(root, builder)
  const ofMetadata = new ChangesBuilder()
  compareFields(metadata, ofMetadata)
  builder.put('f:metadata', ofMetadata.build())
  return settableChanges(builder.build(), resetFields)
}

/** The object and its metadata, as they are compared. */
export function pairsOf(
  schema: Schema,
  live: KubeObject | undefined,
  next: KubeObject,
): Record<'root' | 'metadata', Pair> {
  const before = (live ?? emptyMap) as JsonObject
  const after = next as unknown as JsonObject
  const root = objectSchema(schema)
  return {
    root: {
      schema: root,
      before,
      after,
      skip: (name) => name === 'metadata' || untrackedFields.has(name),
      hadStructs: true,
      hasStructs: true,
    },
    metadata: {
      schema: fieldSchema(root, 'metadata') as Schema,
      before: mapOrEmpty(before['metadata']),
      after: mapOrEmpty(after['metadata']),
      skip: (name) => untrackedMetadata.has(name),
      hadStructs: true,
      hasStructs: true,
    },
  }
}

/** Without what the endpoint can't set. */
export function settableChanges(
  changes: NodeChanges | undefined,
  resetFields: FieldSet | undefined,
): Changes | undefined {
  if (changes === undefined || resetFields === undefined) return complete(changes)
  return complete({
    added: changes.added && recursiveDifference(changes.added, resetFields),
    modified: changes.modified && recursiveDifference(changes.modified, resetFields),
    removed: changes.removed && recursiveDifference(changes.removed, resetFields),
  })
}

const mapOrEmpty = (value: JsonValue | undefined): JsonObject => (isMap(value) ? value : emptyMap)

function complete(changes: NodeChanges | undefined): Changes | undefined {
  return (
    changes && {
      added: changes.added ?? emptySet,
      modified: changes.modified ?? emptySet,
      removed: changes.removed ?? emptySet,
    }
  )
}

/** The changes at and below one node. An absent set has no member there. */
export interface NodeChanges {
  readonly added?: FieldSet | undefined
  readonly modified?: FieldSet | undefined
  readonly removed?: FieldSet | undefined
}

export type Node = Record<PathElement, FieldSet>

export class ChangesBuilder {
  #added: Node | undefined
  #modified: Node | undefined
  #removed: Node | undefined

  put(element: PathElement, changes: NodeChanges | undefined): void {
    if (changes === undefined) return
    if (changes.added) this.add(element, changes.added)
    if (changes.modified) (this.#modified ??= {})[element] = changes.modified
    if (changes.removed) this.remove(element, changes.removed)
  }

  add(element: PathElement, node: FieldSet): void {
    this.#added ??= {}
    this.#added[element] = node
  }

  remove(element: PathElement, node: FieldSet): void {
    this.#removed ??= {}
    this.#removed[element] = node
  }

  /** Not in order yet; undefined: nothing changed. */
  get nodes(): Record<keyof NodeChanges, Node | undefined> | undefined {
    if (!this.#added && !this.#modified && !this.#removed) return undefined
    return { added: this.#added, modified: this.#modified, removed: this.#removed }
  }

  build(): NodeChanges | undefined {
    if (!this.#added && !this.#modified && !this.#removed) return undefined
    return {
      added: this.#added && orderMembers(this.#added),
      modified: this.#modified && orderMembers(this.#modified),
      removed: this.#removed && orderMembers(this.#removed),
    }
  }
}

export const modifiedLeaf: NodeChanges = { modified: leaf }

export function compareValues(schema: Schema, before: JsonValue, after: JsonValue): NodeChanges | undefined {
  if (before === after) return undefined
  const left = shapeOf(schema, before)
  const right = shapeOf(schema, after)
  if (left === 'map' && right === 'map') {
    const builder = new ChangesBuilder()
    compareFields(pairOf(schema, before, after), builder)
    return builder.build() ?? voidChange(before, after)
  }
  if (left === 'list' && right === 'list') {
    // Most lists of an update are as they were: seen here without naming their items.
    if (jsonEqual(before, after)) return undefined
    if (isVoid(before) && isVoid(after)) return modifiedLeaf
    return compareItems(schema, (before ?? []) as JsonValue[], (after ?? []) as JsonValue[])
  }
  if (left === right) return jsonEqual(before, after) ? undefined : modifiedLeaf
  return compareShapes(schema, before, left, after, right)
}

const none = (): boolean => false

/** Two maps, field by field. */
export interface Pair {
  readonly schema: Schema
  readonly before: JsonObject
  readonly after: JsonObject
  readonly skip: (name: string) => boolean
  /** Whether structs by value were there before: not where the map was null. */
  readonly hadStructs: boolean
  readonly hasStructs: boolean
}

/** `before` and `after` are maps or null. */
export const pairOf = (schema: Schema, before: JsonValue, after: JsonValue): Pair => ({
  schema,
  before: (before ?? emptyMap) as JsonObject,
  after: (after ?? emptyMap) as JsonObject,
  skip: none,
  hadStructs: before !== null,
  hasStructs: after !== null,
})

/** Asked last: of a map of many members it costs as much as going through all of them. */
export function voidChange(before: JsonValue, after: JsonValue): NodeChanges | undefined {
  if ((before === null) === (after === null)) return undefined
  return isVoid(before) && isVoid(after) ? modifiedLeaf : undefined
}

/** Null or without content. */
export function isVoid(value: JsonValue): boolean {
  if (value === null) return true
  if (Array.isArray(value)) return value.length === 0
  for (const _ in value as JsonObject) return false
  return true
}

/** Unknown content turned from one shape into another: the leaf changed, and what was below a map came or went. */
function compareShapes(schema: Schema, before: JsonValue, left: Shape, after: JsonValue, right: Shape): NodeChanges {
  return {
    modified: leaf,
    added: right === 'leaf' ? undefined : withoutSelf(wholeNode(schema, after)),
    removed: left === 'leaf' ? undefined : withoutSelf(wholeNode(schema, before)),
  }
}

function compareFields(pair: Pair, builder: ChangesBuilder): void {
  compareNames(namesInOrder(pair.after), pair, builder)
  compareGone(Object.keys(pair.before), pair, builder)
}

/** In order from the beginning where there are many: their sets are not built twice. */
export function namesInOrder(map: JsonObject): readonly string[] {
  const names = Object.keys(map)
  return names.length > manyMembers ? sortedNames(map) : names
}

/** Fields that are there now. */
export function compareNames(names: readonly string[], pair: Pair, builder: ChangesBuilder): void {
  const { schema, before, after } = pair
  for (const name of names) {
    const value = after[name]
    let old = own(before, name)
    if (value === old || value === undefined || pair.skip(name)) continue
    const field = fieldSchema(schema, name) ?? anySchema
    if (old === undefined && field.byValue && pair.hadStructs) old = unset(field)
    if (old === undefined) builder.add(fieldElement(name), wholeNode(field, value))
    else builder.put(fieldElement(name), compareValues(field, old, value))
  }
}

/** Fields that are there no more. */
export function compareGone(names: readonly string[], pair: Pair, builder: ChangesBuilder): void {
  const { schema, before, after } = pair
  for (const name of names) {
    const old = before[name]
    if (old === undefined || own(after, name) !== undefined || pair.skip(name)) continue
    const field = fieldSchema(schema, name) ?? anySchema
    if (field.byValue && pair.hasStructs) builder.put(fieldElement(name), compareValues(field, old, unset(field)))
    else builder.remove(fieldElement(name), wholeNode(field, old))
  }
}

/** A field by value that is not set: Go prints it as an empty struct or a null list. */
export const unset = (field: Schema): JsonValue => (field.type === 'array' ? null : emptyMap)

function compareItems(
  schema: Schema,
  before: readonly JsonValue[],
  after: readonly JsonValue[],
): NodeChanges | undefined {
  const left = indexList(schema, before)
  const right = indexList(schema, after)
  const items = itemSchema(schema)
  const builder = new ChangesBuilder()
  for (const [element, next] of right) compareItem(items, element, left.get(element), next, builder)
  for (const [element, old] of left) {
    if (!right.has(element)) builder.remove(element, wholeItems(items, old))
  }
  return builder.build()
}

export function compareItem(
  items: Schema,
  element: PathElement,
  old: Items | undefined,
  next: Items,
  builder: ChangesBuilder,
): void {
  if (old === undefined) builder.add(element, wholeItems(items, next))
  else if ('item' in old && 'item' in next) builder.put(element, compareValues(items, old.item, next.item))
  else builder.put(element, compareDuplicates(items, old, next))
}

export function compareDuplicates(items: Schema, before: Items, after: Items): NodeChanges | undefined {
  if ('item' in before) return { added: leaf, removed: wholeItems(items, before) }
  if ('item' in after) return { added: wholeItems(items, after), removed: leaf }
  return jsonEqual([...before.duplicates], [...after.duplicates]) ? undefined : modifiedLeaf
}

export const wholeItems = (items: Schema, found: Items): FieldSet =>
  'item' in found ? wholeNode(items, found.item) : leaf

/** The node of a value that came or went as a whole: itself and everything in it. */
export function wholeNode(schema: Schema, value: JsonValue): FieldSet {
  switch (shapeOf(schema, value)) {
    case 'leaf':
      return leaf
    case 'map':
      return value === null ? leaf : wholeMap(schema, value as JsonObject)
    case 'list':
      return value === null ? leaf : wholeList(schema, value as JsonValue[])
  }
}

function wholeMap(schema: Schema, map: JsonObject): FieldSet {
  const node: Node = { '.': leaf }
  const hasContent = addWhole(sortedNames(map), schema, map, node)
  return hasContent ? node : leaf
}

/** False: none of them has a value. */
export function addWhole(names: readonly string[], schema: Schema, map: JsonObject, node: Node): boolean {
  let hasContent = false
  for (const name of names) {
    const value = map[name]
    if (value === undefined) continue
    node[fieldElement(name)] = wholeNode(fieldSchema(schema, name) ?? anySchema, value)
    hasContent = true
  }
  return hasContent
}

function wholeList(schema: Schema, list: readonly JsonValue[]): FieldSet {
  if (list.length === 0) return leaf
  const node: Node = { '.': leaf }
  const items = itemSchema(schema)
  for (const [element, found] of indexList(schema, list)) node[element] = wholeItems(items, found)
  return orderMembers(node)
}

/** Added and modified: what the writer takes. */
export const takenFields = (changes: Changes): FieldSet => union(changes.added, changes.modified)
