/**
 * Ownership after a write that is not an apply (POST, PUT, JSON/merge/strategic PATCH): who changes a field owns it.
 *
 * Runs on every create and update, so it compares once and touches only entries that lose or gain something.
 * @see k8s.io/apimachinery/pkg/util/managedfields/internal/fieldmanager.go v0.36
 */
import type { Slice } from '../../base/turns.ts'
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../types.ts'
import type { Changes } from './compare.ts'
import { comparingObjects, takingFields } from './comparing.ts'
import { reconciledWithSchema } from './configured-fields.ts'
import { differing, type FieldSet, isEmpty, type Sizes } from './field-set.ts'
import { uniting } from './large-sets.ts'
import {
  capUpdates,
  entryOf,
  isReset,
  type Managed,
  readGiven,
  readStored,
  sameManager,
  timeOfWrite,
  withEntries,
  withFields,
  writeManaged,
} from './managed-fields.ts'
import { fieldsOfNew } from './new-fields.ts'
import { objectSchema } from './object-schema.ts'
import { pausing, type Steps, settled, stepsOf } from './steps.ts'
import { ChangesByVersion, formOf, type RequestVersion, type Version } from './versions.ts'

/** `schema` is that of the kind in version `apiVersion`; so are `resetFields` (`status` on the main resource). */
export interface TrackUpdateInput extends RequestVersion {
  /** What was stored before; undefined on create. */
  readonly live: KubeObject | undefined
  /** What is about to be stored. Its managedFields may come from the client. */
  readonly next: KubeObject
  readonly manager: string
  /** '' or absent for the main resource. */
  readonly subresource?: string
  /** RFC3339, seconds, UTC. */
  readonly now: string
  /** Where the object is large: to be asked between two passes over it. */
  readonly slice?: Slice | undefined
}

/**
 * `next` with its managedFields brought up to date; shares everything else with `next`, and is `next` itself if they
 * were right already. Throws only what a conversion between versions throws.
 * What mutating admission changes afterwards has no owner, as upstream.
 */
export function trackUpdate(input: TrackUpdateInput & { readonly versions?: never; readonly slice?: never }): KubeObject
export function trackUpdate(input: TrackUpdateInput): KubeObject | Promise<KubeObject>
export function trackUpdate(input: TrackUpdateInput): KubeObject | Promise<KubeObject> {
  const { live, next, subresource = '' } = input
  if (live === undefined && !next.metadata.managedFields) {
    return input.slice === undefined ? trackNew(input) : settled(trackNewInSteps(input))
  }
  const stored = readStored(live?.metadata.managedFields)
  const base = baseEntries(next.metadata.managedFields, stored, subresource)
  // An object whose ownership was cleared stays untracked until the next apply.
  if (base.length === 0 && live !== undefined) return withEntries(next, undefined)
  return settled(tracked(input, stored, base))
}

function* tracked(input: TrackUpdateInput, stored: readonly Managed[], base: readonly Managed[]): Steps<KubeObject> {
  const { live, next } = input
  const changes = yield* comparingObjects(input.schema, live, next, input.resetFields, input.slice)
  if (input.slice) yield* pausing(input.slice)
  const managed = yield* updated(base, changes, input)
  if (managed === stored) return withEntries(next, live?.metadata.managedFields)
  return withEntries(next, writeManaged(managed))
}

/** What is created without managedFields belongs to its creator: there are no sets to join, and no other versions. */
export function trackNew({
  next,
  schema,
  resetFields,
  manager,
  apiVersion,
  subresource,
  now,
}: Omit<TrackUpdateInput, 'live' | 'versions' | 'slice'>): KubeObject {
  const fields = fieldsOfNew(schema, next, resetFields)
  if (fields === undefined) return next
  const entry: ManagedFieldsEntry = {
    manager: manager || 'unknown',
    operation: 'Update',
    apiVersion,
    time: now,
    fieldsType: 'FieldsV1',
    fieldsV1: fields as JsonObject,
  }
  if (subresource) entry.subresource = subresource
  return { ...next, metadata: { ...next.metadata, managedFields: [entry] } }
}

/** The same as `trackNew`, with pauses: for objects that are large. */
export function* trackNewInSteps(input: TrackUpdateInput): Steps<KubeObject> {
  const { next, schema, resetFields, slice } = input
  const { added, modified } = (yield* comparingObjects(schema, undefined, next, resetFields, slice)) ?? {}
  if (!added || !modified) return next
  if (slice) yield* pausing(slice)
  const taken = yield* stepsOf(uniting(added, modified), slice)
  if (isEmpty(taken)) return next
  return { ...next, metadata: { ...next.metadata, managedFields: [entryOf(managedBy(input, taken))] } }
}

/** The body's own entries are believed if they are good, but never through a sub-resource. */
function baseEntries(given: unknown, stored: readonly Managed[], subresource: string): readonly Managed[] {
  if (subresource !== '' || given === undefined || given === null) return stored
  if (isReset(given)) return []
  const read = readGiven(given, stored)
  if (read === undefined || read.length === 0) return stored
  return read.length === stored.length && read.every((m, i) => m === stored[i]) ? stored : read
}

function* updated(
  base: readonly Managed[],
  changes: Changes | undefined,
  input: TrackUpdateInput,
): Steps<readonly Managed[]> {
  const current = knownOnly(base, input)
  if (changes === undefined) return current
  const taken = yield* stepsOf(takingFields(changes), input.slice)
  // The writer itself loses nothing that it takes: it is given it again below.
  if (input.slice) yield* pausing(input.slice)
  const reconciledEntries = reconcile(current, input)
  if (input.slice) yield* pausing(input.slice)
  const remaining = yield* withoutChanged(reconciledEntries, changes, input)
  if (input.slice) yield* pausing(input.slice)
  return isEmpty(taken) ? remaining : capUpdates(yield* given(remaining, taken, input))
}

/** Every entry without what was changed or removed. */
function* withoutChanged(
  managed: readonly Managed[],
  changes: Changes,
  input: TrackUpdateInput,
): Steps<readonly Managed[]> {
  const byVersion = new ChangesByVersion(input, input.live, input.next, changes)
  return yield* withoutFields(managed, yield* changesFor(managed, byVersion, input), input.slice)
}

/** For each entry what happened, in the entry's own version. */
export function* changesFor(
  managed: readonly Managed[],
  byVersion: ChangesByVersion,
  request: RequestVersion,
): Steps<ReadonlyMap<Managed, Changes>> {
  const found = new Map<Managed, Changes>()
  for (const m of managed) {
    const form = formOf(request, m.apiVersion)
    const changes = form && (yield* byVersion.in(form))
    if (changes) found.set(m, changes)
  }
  return found
}

/** Every entry without what another manager changed or removed; those that end up empty are dropped. */
export function* withoutFields(
  managed: readonly Managed[],
  changes: ReadonlyMap<Managed, Changes>,
  slice: Slice | undefined,
): Steps<readonly Managed[]> {
  const sizes: Sizes = new Map()
  /** Most entries are of one version, and so share what happened. */
  const concerned = new Map<Changes, FieldSet>()
  const result: Managed[] = []
  for (const m of managed) {
    const found = changes.get(m)
    if (found === undefined) {
      result.push(m)
      continue
    }
    let fields = concerned.get(found)
    if (fields === undefined) {
      const taken = yield* stepsOf(takingFields(found), slice)
      if (slice) yield* pausing(slice)
      fields = yield* stepsOf(uniting(taken, found.removed), slice)
      concerned.set(found, fields)
      if (slice) yield* pausing(slice)
    }
    result.push(withFields(m, yield* stepsOf(differing(m.fields, fields, sizes), slice)))
    if (slice) yield* pausing(slice)
  }
  return keptEntries(managed, result)
}

/** Without the entries of versions that are gone. */
export function knownOnly(managed: readonly Managed[], request: RequestVersion): readonly Managed[] {
  const { versions, apiVersion } = request
  if (versions === undefined) return managed
  const isKnown = (m: Managed): boolean => m.apiVersion === apiVersion || versions.find(m.apiVersion) !== undefined
  return managed.every(isKnown) ? managed : managed.filter(isKnown)
}

/** As the schema of each entry's version is now. */
export function reconcile(managed: readonly Managed[], request: RequestVersion): readonly Managed[] {
  return mapEntries(managed, (m) => {
    const form: Version | undefined = formOf(request, m.apiVersion)
    return form ? withFields(m, reconciledWithSchema(objectSchema(form.schema), m.fields)) : m
  })
}

function mapEntries(managed: readonly Managed[], change: (m: Managed) => Managed): readonly Managed[] {
  return keptEntries(managed, managed.map(change))
}

/** `changed` entry by entry: those that ended up empty are dropped. The old list where nothing has changed. */
function keptEntries(managed: readonly Managed[], changed: readonly Managed[]): readonly Managed[] {
  const result = changed.filter((m, i) => m === managed[i] || !isEmpty(m.fields))
  return result.length === managed.length && result.every((m, i) => m === managed[i]) ? managed : result
}

function* given(managed: readonly Managed[], fields: FieldSet, input: TrackUpdateInput): Steps<readonly Managed[]> {
  const own = managedBy(input, fields)
  const previous = managed.find((m) => sameManager(m, own))
  const time = timeOfWrite(own.subresource, input.now, previous)
  if (previous === undefined) return [...managed, { ...own, time }]
  const all = yield* stepsOf(uniting(previous.fields, fields), input.slice)
  return [...managed.filter((m) => m !== previous), { ...own, time, fields: all }]
}

const managedBy = ({ manager, apiVersion, subresource, now }: TrackUpdateInput, fields: FieldSet): Managed => ({
  manager: manager || 'unknown',
  operation: 'Update',
  apiVersion,
  subresource: subresource ?? '',
  time: now,
  fields,
})
