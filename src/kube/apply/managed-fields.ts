/**
 * The entries of `metadata.managedFields`: who owns what. Reading, writing, order, and the cap on their number.
 *
 * Fields of entries that the server itself stored are canonical; those that come in a request body are made so.
 * @see k8s.io/apimachinery/pkg/util/managedfields/internal/managedfields.go v0.36
 */
import { formatTime } from '../time.ts'
import type { JsonObject, ManagedFieldsEntry } from '../types.ts'
import { equalSets, type FieldSet, isEmpty, parseFieldSet, union } from './field-set.ts'

export type Operation = 'Apply' | 'Update'

/** Who: an Apply entry is the same whatever version was applied, an Update entry is per version. */
export interface ManagerId {
  readonly manager: string
  readonly operation: Operation
  readonly apiVersion: string
  /** '' for the main resource. */
  readonly subresource: string
}

export interface Managed extends ManagerId {
  /** RFC3339, seconds, UTC. */
  readonly time: string | undefined
  readonly fields: FieldSet
  /** The entry as it was read, if nothing has changed since. */
  readonly entry?: ManagedFieldsEntry
}

/**
 * When a manager last gained something. Upstream leads ownership through the Scale and back, on which way only the
 * times of those known before are kept: who scales has the time of what the same manager did before, or none.
 * @see k8s.io/apimachinery/pkg/util/managedfields/scalehandler.go (ToParent) v0.36
 */
export const timeOfWrite = (subresource: string, now: string, previous: Managed | undefined): string | undefined =>
  subresource === 'scale' ? previous?.time : now

export function sameManager(a: ManagerId, b: ManagerId): boolean {
  return (
    a.manager === b.manager &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  )
}

/** The text by which upstream sorts managers. */
export function managerText(id: ManagerId): string {
  return JSON.stringify({
    ...(id.manager ? { manager: id.manager } : {}),
    operation: id.operation,
    ...(id.operation === 'Update' ? { apiVersion: id.apiVersion } : {}),
    ...(id.subresource ? { subresource: id.subresource } : {}),
  })
}

/** How messages name a manager: `"m1"`, `"curl" using v1`, `"x" with subresource "status" using v1`. */
export function showManager(id: ManagerId): string {
  const subresource = id.subresource ? ` with subresource ${JSON.stringify(id.subresource)}` : ''
  const version = id.operation === 'Update' ? ` using ${id.apiVersion}` : ''
  return `${JSON.stringify(id.manager)}${subresource}${version}`
}

/** Entries of a stored object. */
export function readStored(entries: readonly ManagedFieldsEntry[] | undefined): readonly Managed[] {
  return (entries ?? []).map((entry) => ({
    manager: entry.manager ?? '',
    operation: entry.operation === 'Apply' ? 'Apply' : 'Update',
    apiVersion: entry.apiVersion ?? '',
    subresource: entry.subresource ?? '',
    time: entry.time,
    fields: (entry.fieldsV1 ?? {}) as FieldSet,
    entry,
  }))
}

/**
 * Entries from a request body; undefined if any of them is bad, which callers treat as if none were given. Entries
 * that equal a stored one are not read again.
 */
export function readGiven(entries: unknown, stored: readonly Managed[]): readonly Managed[] | undefined {
  if (!Array.isArray(entries)) return undefined
  const result: Managed[] = []
  for (const given of entries as unknown[]) {
    const managed = readEntry(given, stored)
    if (managed === undefined) return undefined
    const earlier = result.findIndex((m) => sameManager(m, managed))
    if (earlier >= 0) result.splice(earlier, 1)
    result.push(managed)
  }
  return result
}

function readEntry(given: unknown, stored: readonly Managed[]): Managed | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const entry = given as ManagedFieldsEntry
  const { operation, apiVersion, fieldsType } = entry
  if ((operation !== 'Apply' && operation !== 'Update') || !apiVersion || fieldsType !== 'FieldsV1') return undefined
  const id: ManagerId = { manager: entry.manager ?? '', operation, apiVersion, subresource: entry.subresource ?? '' }
  const known = stored.find((m) => sameManager(m, id))
  if (known?.entry && known.apiVersion === apiVersion && known.time === entry.time && sameFields(known.entry, entry)) {
    return known
  }
  try {
    return { ...id, time: canonicalTime(entry.time), fields: parseFieldSet(entry.fieldsV1 ?? {}) }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const sameFields = (a: ManagedFieldsEntry, b: ManagedFieldsEntry): boolean =>
  a === b || equalSets((a.fieldsV1 ?? {}) as FieldSet, (b.fieldsV1 ?? {}) as FieldSet)

function canonicalTime(time: string | undefined): string | undefined {
  const ms = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(ms) ? undefined : formatTime(ms)
}

/**
 * Do two lists say the same but for times (and so maybe order)? A write that changes nothing else is no write: whoever
 * stores the object then keeps the old list.
 */
export function sameOwnership(a: readonly ManagedFieldsEntry[], b: readonly ManagedFieldsEntry[]): boolean {
  const known = readStored(b)
  return (
    a.length === b.length &&
    readStored(a).every((m) =>
      known.some((k) => sameManager(m, k) && m.apiVersion === k.apiVersion && equalSets(m.fields, k.fields)),
    )
  )
}

/** `[]` and `[{}]` in a body ask for the ownership to be forgotten. */
export function isReset(entries: unknown): boolean {
  if (!Array.isArray(entries)) return false
  if (entries.length === 0) return true
  const only: unknown = entries[0]
  return entries.length === 1 && typeof only === 'object' && only !== null && isEmpty(only as FieldSet)
}

/** In the order upstream stores them; undefined if nobody owns anything. */
export function writeManaged(managed: readonly Managed[]): ManagedFieldsEntry[] | undefined {
  if (managed.length === 0) return undefined
  return [...managed].sort(compareManaged).map(entryOf)
}

export function entryOf(managed: Managed): ManagedFieldsEntry {
  return (
    managed.entry ?? {
      ...(managed.manager ? { manager: managed.manager } : {}),
      operation: managed.operation,
      apiVersion: managed.apiVersion,
      ...(managed.time === undefined ? {} : { time: managed.time }),
      fieldsType: 'FieldsV1',
      fieldsV1: managed.fields as JsonObject,
      ...(managed.subresource ? { subresource: managed.subresource } : {}),
    }
  )
}

function compareManaged(a: Managed, b: Managed): number {
  return (
    compareText(a.operation, b.operation) ||
    compareTime(a.time, b.time) ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  )
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function compareTime(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0
  const seconds = (time: string | undefined): number => (time ? Math.floor(Date.parse(time) / 1000) || 0 : 0)
  return seconds(a) - seconds(b)
}

/** With other fields; the entry is written anew. */
export function withFields(managed: Managed, fields: FieldSet): Managed {
  if (fields === managed.fields) return managed
  const { entry: _, ...rest } = managed
  return { ...rest, fields }
}

export const maxUpdateManagers = 10
const bucketName = 'ancient-changes'

/** Folds the oldest Update entries into one per version until there are few enough. */
export function capped(managed: readonly Managed[]): readonly Managed[] {
  const updates = managed.filter((m) => m.operation === 'Update')
  let excess = updates.length - maxUpdateManagers
  if (excess <= 0) return managed
  updates.sort((a, b) => compareTime(a.time, b.time) || compareText(managerText(a), managerText(b)))
  const kept = new Set(managed)
  const oldest = new Map<string, Managed>()
  for (const update of updates) {
    if (excess <= 0) break
    if (!kept.has(update)) continue
    const base = oldest.get(update.apiVersion)
    if (base === undefined) {
      oldest.set(update.apiVersion, update)
      continue
    }
    const id: ManagerId = { manager: bucketName, operation: 'Update', apiVersion: update.apiVersion, subresource: '' }
    const parts = [...kept].filter((m) => m === base || m === update || sameManager(m, id))
    const bucket: Managed = {
      ...id,
      time: parts.reduce((latest, m) => (compareTime(m.time, latest) > 0 ? m.time : latest), update.time),
      fields: parts.map((m) => m.fields).reduce(union),
    }
    for (const part of parts) kept.delete(part)
    kept.add(bucket)
    oldest.set(update.apiVersion, bucket)
    excess -= parts.length - 1
  }
  return [...kept]
}
