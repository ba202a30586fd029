/**
 * Ownership after a write that is not an apply (POST, PUT, JSON/merge/strategic PATCH): who changes a field owns it.
 *
 * Runs on every create and update, so it compares once and touches only entries that lose or gain something.
 * @see k8s.io/apimachinery/pkg/util/managedfields/internal/fieldmanager.go v0.36
 */
import type { Schema } from '../schema/schema.ts'
import type { KubeObject, ManagedFieldsEntry } from '../types.ts'
import { type Changes, compareObjects, takenFields } from './compare.ts'
import { reconciledWithSchema } from './configured-fields.ts'
import { difference, type FieldSet, isEmpty, union } from './field-set.ts'
import {
  capped,
  entryOf,
  isReset,
  type Managed,
  readGiven,
  readStored,
  sameManager,
  withFields,
  writeManaged,
} from './managed-fields.ts'
import { objectSchema } from './object-schema.ts'

export interface TrackUpdateInput {
  /** What was stored before; undefined on create. */
  readonly live: KubeObject | undefined
  /** What is about to be stored. Its managedFields may come from the client. */
  readonly next: KubeObject
  /** Of the kind in version `apiVersion`. */
  readonly schema: Schema
  readonly manager: string
  readonly apiVersion: string
  /** '' or absent for the main resource. */
  readonly subresource?: string
  /** RFC3339, seconds, UTC. */
  readonly now: string
  /** Parts that this endpoint cannot set (`status` on the main resource): changes in them are nobody's. */
  readonly resetFields?: FieldSet | undefined
  /** False for versions of the kind that are no longer served: their entries are dropped. Default: all are. */
  readonly served?: ((apiVersion: string) => boolean) | undefined
}

/**
 * `next` with its managedFields brought up to date; shares everything else with `next`, and is `next` itself if they
 * were right already. Never throws.
 * What mutating admission changes afterwards belongs to nobody, as upstream.
 */
export function trackUpdate(input: TrackUpdateInput): KubeObject {
  const { live, next, subresource = '' } = input
  if (live === undefined && !next.metadata.managedFields) return tracksNew(input)
  const stored = readStored(live?.metadata.managedFields)
  const base = baseEntries(next.metadata.managedFields, stored, subresource)
  // An object whose ownership was cleared stays untracked until somebody applies.
  if (base.length === 0 && live !== undefined) return withEntries(next, undefined)
  const changes = compareObjects(input.schema, live, next, input.resetFields)
  const managed = updated(base, changes, input)
  if (managed === stored) return withEntries(next, live?.metadata.managedFields)
  return withEntries(next, writeManaged(managed))
}

/** What is created without a history belongs to its creator: no sets to join. */
function tracksNew(input: TrackUpdateInput): KubeObject {
  const { next, schema, resetFields } = input
  const { added, modified } = compareObjects(schema, undefined, next, resetFields) ?? {}
  if (!added || !modified) return next
  const taken = isEmpty(modified) ? added : union(added, modified)
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

function updated(base: readonly Managed[], changes: Changes | undefined, input: TrackUpdateInput): readonly Managed[] {
  const current = servedOnly(base, input.served)
  if (changes === undefined) return current
  const taken = takenFields(changes)
  const remaining = withoutFields(reconciled(current, input.schema), union(taken, changes.removed))
  return isEmpty(taken) ? remaining : capped(given(remaining, taken, input))
}

/** Every entry without these fields; entries that end up empty are dropped. */
export function withoutFields(managed: readonly Managed[], fields: FieldSet): readonly Managed[] {
  return mapEntries(managed, (m) => withFields(m, difference(m.fields, fields)))
}

export function servedOnly(
  managed: readonly Managed[],
  served: ((version: string) => boolean) | undefined,
): readonly Managed[] {
  return served === undefined || managed.every((m) => served(m.apiVersion))
    ? managed
    : managed.filter((m) => served(m.apiVersion))
}

export function reconciled(managed: readonly Managed[], schema: Schema): readonly Managed[] {
  return mapEntries(managed, (m) => withFields(m, reconciledWithSchema(objectSchema(schema), m.fields)))
}

function mapEntries(managed: readonly Managed[], change: (m: Managed) => Managed): readonly Managed[] {
  const result = managed.map(change).filter((m, i) => m === managed[i] || !isEmpty(m.fields))
  return result.length === managed.length && result.every((m, i) => m === managed[i]) ? managed : result
}

function given(managed: readonly Managed[], fields: FieldSet, input: TrackUpdateInput): readonly Managed[] {
  const own = managedBy(input, fields)
  const previous = managed.find((m) => sameManager(m, own))
  if (previous === undefined) return [...managed, own]
  return [...managed.filter((m) => m !== previous), { ...own, fields: union(previous.fields, fields) }]
}

const managedBy = ({ manager, apiVersion, subresource, now }: TrackUpdateInput, fields: FieldSet): Managed => ({
  manager: manager || 'unknown',
  operation: 'Update',
  apiVersion,
  subresource: subresource ?? '',
  time: now,
  fields,
})

export function withEntries(object: KubeObject, entries: readonly ManagedFieldsEntry[] | undefined): KubeObject {
  if (object.metadata.managedFields === entries) return object
  const { managedFields: _, ...metadata } = object.metadata
  return {
    ...object,
    metadata: entries === undefined ? metadata : { ...metadata, managedFields: entries as ManagedFieldsEntry[] },
  }
}
