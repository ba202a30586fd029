/**
 * What the creator of an object owns: every field that was set. In one pass the same set as from comparing the object
 * with nothing (`compare.ts`): maps, list items and structs are in it themselves, structs held by value are not, since
 * Go prints those whether they are set or not.
 */
import type { Schema } from '../schema/schema.ts'
import type { JsonObject, JsonValue, KubeObject } from '../types.ts'
import { compareValues, unset, wholeNode } from './compare.ts'
import { emptySet, type FieldSet, recursiveDifference, union } from './field-set.ts'
import { objectSchema, untrackedFields, untrackedMetadata } from './object-schema.ts'
import { fieldElement, type PathElement } from './path-element.ts'
import { anySchema, fieldSchema, isMap, sortedNames } from './shape.ts'

/** Undefined if nothing is owned. `resetFields`: what a client can't set through this endpoint. */
export function fieldsOfNew(
  schema: Schema,
  object: KubeObject,
  resetFields: FieldSet | undefined,
): FieldSet | undefined {
  const set = structFields(objectSchema(schema), object as unknown as JsonObject, untrackedFields)
  if (set === undefined || resetFields === undefined) return set
  const settable = recursiveDifference(set, resetFields)
  return settable === emptySet ? undefined : settable
}

/** Of a struct that is there whether it is set or not: of its fields those that are. */
function structFields(schema: Schema, struct: JsonObject, untracked?: ReadonlySet<string>): FieldSet | undefined {
  let set: Record<PathElement, FieldSet> | undefined
  for (const name of sortedNames(struct)) {
    const value = struct[name]
    if (value === undefined || untracked?.has(name)) continue
    const field = fieldSchema(schema, name) ?? anySchema
    const isMetadata = untracked === untrackedFields && name === 'metadata'
    const node = field.byValue
      ? fieldsByValue(field, value, isMetadata ? untrackedMetadata : undefined)
      : wholeNode(field, value)
    if (node === undefined) continue
    set ??= {}
    set[fieldElement(name)] = node
  }
  return set
}

function fieldsByValue(field: Schema, value: JsonValue, untracked?: ReadonlySet<string>): FieldSet | undefined {
  if (field.type === 'object' && field.mapType !== 'atomic' && isMap(value)) {
    return structFields(field, value, untracked)
  }
  if (untracked !== undefined) return undefined
  // A list, or no value of the type.
  const changes = compareValues(field, unset(field), value)
  return changes && union(changes.added ?? emptySet, changes.modified ?? emptySet)
}
