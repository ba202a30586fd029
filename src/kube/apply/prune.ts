/**
 * What an applier no longer speaks about goes away, if nobody else owns it.
 * @see sigs.k8s.io/structured-merge-diff/v6 merge/update.go (prune), typed/remove.go
 */
import type { Schema } from '../schema/schema.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { fieldsOf, withNamedFields } from './configured-fields.ts'
import { difference, type FieldSet, intersection, isEmpty, isMember, setOf, union } from './field-set.ts'
import { untrackedFields, untrackedMetadata } from './object-schema.ts'
import { fieldElement } from './path-element.ts'
import { anySchema, elementOf, fieldSchema, itemSchema, put, shapeOf } from './shape.ts'

export interface PruneInput {
  readonly schema: Schema
  /** Live with the configuration laid over it. */
  readonly merged: JsonObject
  /** What this manager owned before. */
  readonly last: FieldSet
  /** What anybody owns now, this manager's new configuration included. */
  readonly owned: FieldSet
}

/** Never pruned, though no manager owns it. */
const everybodys: FieldSet = setOf([
  ...[...untrackedFields].map((name) => [fieldElement(name)]),
  ...[...untrackedMetadata].map((name) => ['f:metadata', fieldElement(name)]),
])

/**
 * Three steps, because removing a list item removes everything in it, also what is not this manager's to remove:
 * remove all that was applied last time; find out what of that is still owned, by anybody; from what then is missing,
 * really remove only what this manager had applied.
 */
export function pruned({ schema, merged, last, owned }: PruneInput): JsonObject {
  if (isEmpty(difference(last, owned))) return merged
  const named = (set: FieldSet): FieldSet => withNamedFields(schema, set)
  const remove = (set: FieldSet): JsonObject => (removeFields(schema, merged, set, true) ?? {}) as JsonObject
  const lastNamed = named(last)
  const ownedNamed = named(union(owned, everybodys))
  const all = named(fieldsOf(schema, merged))
  const withoutLast = named(fieldsOf(schema, remove(lastNamed)))
  const stillOwned = remove(difference(all, union(withoutLast, ownedNamed)))
  const gone = difference(all, named(fieldsOf(schema, stillOwned)))
  return (removeFields(schema, merged, intersection(gone, lastNamed), false) ?? {}) as JsonObject
}

/**
 * The value without the fields, entries and items in the set; undefined if all it had was in the set. A field whose
 * value ends up so becomes null, or goes too, but not the struct around it. Atomic values are kept whole. Parts from
 * which nothing is removed are shared with the argument.
 */
export function removeFields(
  schema: Schema,
  value: JsonValue,
  set: FieldSet,
  emptiedBecomesNull: boolean,
): JsonValue | undefined {
  if (isEmpty(set) || value === null || shapeOf(schema, value) === 'leaf') return value
  return Array.isArray(value)
    ? removeItems(schema, value, set, emptiedBecomesNull)
    : removeEntries(schema, value as JsonObject, set, emptiedBecomesNull)
}

function removeEntries(
  schema: Schema,
  map: JsonObject,
  set: FieldSet,
  emptiedBecomesNull: boolean,
): JsonObject | undefined {
  const result: JsonObject = {}
  const names = Object.keys(map)
  let removed = 0
  let changed = false
  for (const name of names) {
    const value = map[name] as JsonValue
    const node = set[fieldElement(name)]
    if (node !== undefined && isMember(node)) {
      removed++
      continue
    }
    const field = fieldSchema(schema, name) ?? anySchema
    const rest = node === undefined ? value : removeFields(field, value, node, emptiedBecomesNull)
    if (rest !== undefined) put(result, name, rest)
    else if (emptiedBecomesNull) put(result, name, null)
    changed ||= rest !== value
  }
  if (removed === 0 && !changed) return map
  return removed === names.length ? undefined : result
}

function removeItems(
  schema: Schema,
  list: JsonValue[],
  set: FieldSet,
  emptiedBecomesNull: boolean,
): JsonValue[] | undefined {
  const items = itemSchema(schema)
  const result: JsonValue[] = []
  for (const item of list) {
    const element = elementOf(schema, item)
    const node = typeof element === 'string' ? set[element] : undefined
    if (node !== undefined && isMember(node)) continue
    result.push(node === undefined ? item : (removeFields(items, item, node, emptiedBecomesNull) ?? {}))
  }
  if (result.length === list.length && result.every((item, i) => item === list[i])) return list
  return result.length === 0 ? undefined : result
}
