/**
 * What an applier no longer speaks about goes away, if no other manager owns it.
 * @see sigs.k8s.io/structured-merge-diff/v6 merge/update.go (prune), typed/remove.go
 */
import type { Slice } from '../../base/turns.ts'
import type { Schema } from '../schema/schema.ts'
import type { JsonObject, JsonValue, KubeObject } from '../types.ts'
import { makingFields, namingFields } from './configured-fields.ts'
import { differing, emptySet, type FieldSet, isEmpty, isMember, setOf } from './field-set.ts'
import { intersecting, uniting, unitingAll } from './large-sets.ts'
import type { Managed } from './managed-fields.ts'
import { objectSchema, untrackedFields, untrackedMetadata } from './object-schema.ts'
import { fieldElement } from './path-element.ts'
import { anySchema, elementOf, fieldSchema, itemSchema, put, shapeOf } from './shape.ts'
import { pausing, type Steps, stepsOf } from './steps.ts'
import { type Form, formOf, inForm, type RequestVersion, type Sliced } from './versions.ts'

export interface PruneInput {
  readonly request: RequestVersion & Sliced
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
  const { slice } = request
  const owned = yield* owningByForm(request, fields, others)
  yield* pausing(slice)
  const ownedHere = owned.get(last.apiVersion)?.fields ?? emptySet
  if (isEmpty(yield* stepsOf(differing(previous.fields, ownedHere, new Map()), slice))) return merged

  const { versions, apiVersion } = request
  const before = yield* inForm(versions, asObject(merged), apiVersion, last.apiVersion)
  yield* pausing(slice)
  const lastNamed = yield* stepsOf(namingFields(objectSchema(last.schema), previous.fields), slice)
  yield* pausing(slice)
  let rest: State = { form: last, whole: before, left: without(last, before, lastNamed, true) }
  yield* pausing(slice)
  // First in the version at hand: what conversions need is back before there are any.
  rest = yield* withOwned(rest, ownedHere, slice)
  for (const { form, fields } of owned.values()) {
    if (form.apiVersion !== last.apiVersion) {
      rest = yield* withOwned(yield* converted(request, rest, form), fields, slice)
    }
  }
  const { left } = yield* converted(request, rest, last)
  const had = yield* allFields(last, before, slice)
  const kept = yield* allFields(last, left, slice)
  const gone = yield* stepsOf(differing(had, kept, new Map()), slice)
  yield* pausing(slice)
  const pruned = yield* stepsOf(intersecting(gone, lastNamed), slice)
  yield* pausing(slice)
  const result = without(last, before, pruned, false)
  return (yield* inForm(versions, result, last.apiVersion, apiVersion)) as unknown as JsonObject
}

interface Owned {
  readonly form: Form
  readonly fields: FieldSet
}

/** What any manager owns now, this manager's new configuration included, by the version whose fields they are. */
function* owningByForm(
  request: RequestVersion & Sliced,
  fields: FieldSet,
  others: readonly Managed[],
): Steps<ReadonlyMap<string, Owned>> {
  const { apiVersion, schema, resetFields } = request
  const sets = new Map([[apiVersion, { form: { apiVersion, schema, resetFields } as Form, fields: [fields] }]])
  for (const m of others) {
    const form = formOf(request, m.apiVersion)
    if (form === undefined) continue
    const known = sets.get(form.apiVersion)
    if (known) known.fields.push(m.fields)
    else sets.set(form.apiVersion, { form, fields: [m.fields] })
  }
  const owned = new Map<string, Owned>()
  for (const [version, { form, fields }] of sets) {
    owned.set(version, { form, fields: yield* stepsOf(unitingAll(fields), request.slice) })
  }
  return owned
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
function* withOwned({ form, whole, left }: State, owned: FieldSet, slice: Slice | undefined): Steps<State> {
  const claimed = yield* stepsOf(uniting(owned, everybodys), slice)
  const ownedNamed = yield* stepsOf(namingFields(objectSchema(form.schema), claimed), slice)
  yield* pausing(slice)
  const stays = yield* stepsOf(uniting(yield* allFields(form, left, slice), ownedNamed), slice)
  yield* pausing(slice)
  const unowned = yield* stepsOf(differing(yield* allFields(form, whole, slice), stays, new Map()), slice)
  yield* pausing(slice)
  const kept = without(form, whole, unowned, true)
  yield* pausing(slice)
  return { form, whole, left: kept }
}

function* allFields({ schema }: Form, object: KubeObject, slice: Slice | undefined): Steps<FieldSet> {
  const root = objectSchema(schema)
  const fields = yield* makingFields(root, object as unknown as JsonObject, slice)
  yield* pausing(slice)
  const named = yield* stepsOf(namingFields(root, fields), slice)
  yield* pausing(slice)
  return named
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
