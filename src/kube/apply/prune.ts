/**
 * What an applier no longer speaks about goes away, if no other manager owns it.
 * @see sigs.k8s.io/structured-merge-diff/v6 merge/update.go (prune), typed/remove.go
 */
import type { Schema } from '../schema/schema.ts'
import type { JsonObject, JsonValue, KubeObject } from '../types.ts'
import { fieldsOf, withNamedFields } from './configured-fields.ts'
import {
  difference,
  emptySet,
  type FieldSet,
  intersection,
  isEmpty,
  isMember,
  setOf,
  union,
  unionOf,
} from './field-set.ts'
import type { Managed } from './managed-fields.ts'
import { objectSchema, untrackedFields, untrackedMetadata } from './object-schema.ts'
import { fieldElement } from './path-element.ts'
import { anySchema, elementOf, fieldSchema, itemSchema, put, shapeOf } from './shape.ts'
import type { Steps } from './steps.ts'
import { type Form, formOf, inForm, type RequestVersion } from './versions.ts'

export interface PruneInput {
  readonly request: RequestVersion
  /** Live with the configuration laid over it. */
  readonly merged: JsonObject
  /** What this manager owned before. */
  readonly previous: Managed
  /** What it owns now, in the version of the request. */
  readonly fields: FieldSet
  /** All other managers. */
  readonly others: readonly Managed[]
}

/** Never pruned, though no manager owns it. */
const everybodys: FieldSet = setOf([
  ...[...untrackedFields].map((name) => [fieldElement(name)]),
  ...[...untrackedMetadata].map((name) => ['f:metadata', fieldElement(name)]),
])

/**
 * `merged` itself if nothing goes.
 *
 * Three steps, because removing a list item removes everything in it, also what is not this manager's to remove:
 * remove all that was applied last time; find out what of that is still owned, by any manager, in any version; from
 * what then is missing, really remove only what this manager had applied. It is done in the version that was applied
 * last time: its fields are known in no other.
 */
export function* pruned({ request, merged, previous, fields, others }: PruneInput): Steps<JsonObject> {
  const last = formOf(request, previous.apiVersion)
  if (last === undefined) return merged
  const owned = ownedByForm(request, fields, others)
  if (isEmpty(difference(previous.fields, owned.get(last.apiVersion)?.fields ?? emptySet))) return merged

  const { versions, apiVersion } = request
  const before = yield* inForm(versions, asObject(merged), apiVersion, last.apiVersion)
  const lastNamed = withNamedFields(objectSchema(last.schema), previous.fields)
  let rest: State = { form: last, whole: before, left: without(last, before, lastNamed, true) }
  // First in the version at hand: what conversions need is back before there are any.
  rest = withOwned(rest, owned.get(last.apiVersion)?.fields ?? emptySet)
  for (const { form, fields } of owned.values()) {
    if (form.apiVersion !== last.apiVersion) rest = withOwned(yield* converted(request, rest, form), fields)
  }
  const { left } = yield* converted(request, rest, last)
  const gone = difference(allFields(last, before), allFields(last, left))
  const result = without(last, before, intersection(gone, lastNamed), false)
  return (yield* inForm(versions, result, last.apiVersion, apiVersion)) as unknown as JsonObject
}

interface Owned {
  readonly form: Form
  readonly fields: FieldSet
}

/** What any manager owns now, this manager's new configuration included, by the version whose fields they are. */
function ownedByForm(
  request: RequestVersion,
  fields: FieldSet,
  others: readonly Managed[],
): ReadonlyMap<string, Owned> {
  const { apiVersion, schema, resetFields } = request
  const sets = new Map([[apiVersion, { form: { apiVersion, schema, resetFields } as Form, fields: [fields] }]])
  for (const m of others) {
    const form = formOf(request, m.apiVersion)
    if (form === undefined) continue
    const known = sets.get(form.apiVersion)
    if (known) known.fields.push(m.fields)
    else sets.set(form.apiVersion, { form, fields: [m.fields] })
  }
  return new Map([...sets].map(([version, found]) => [version, { form: found.form, fields: unionOf(found.fields) }]))
}

/** An object with all it had, and what is left of it, in one version. */
interface State {
  readonly form: Form
  readonly whole: KubeObject
  readonly left: KubeObject
}

function* converted({ versions }: RequestVersion, { form, whole, left }: State, to: Form): Steps<State> {
  return {
    form: to,
    whole: yield* inForm(versions, whole, form.apiVersion, to.apiVersion),
    left: yield* inForm(versions, left, form.apiVersion, to.apiVersion),
  }
}

/** What is owned is left. */
function withOwned({ form, whole, left }: State, owned: FieldSet): State {
  const ownedNamed = withNamedFields(objectSchema(form.schema), union(owned, everybodys))
  const unowned = difference(allFields(form, whole), union(allFields(form, left), ownedNamed))
  return { form, whole, left: without(form, whole, unowned, true) }
}

function allFields({ schema }: Form, object: KubeObject): FieldSet {
  const root = objectSchema(schema)
  return withNamedFields(root, fieldsOf(root, object as unknown as JsonObject))
}

function without({ schema }: Form, object: KubeObject, fields: FieldSet, emptiedBecomesNull: boolean): KubeObject {
  return asObject(removeFields(objectSchema(schema), object as unknown as JsonObject, fields, emptiedBecomesNull) ?? {})
}

const asObject = (value: JsonValue): KubeObject => value as unknown as KubeObject

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
