/**
 * The entries of `metadata.managedFields`: who owns what. Reading, writing, order, and the cap on their number.
 *
 * Fields of entries that the server itself stored are canonical; those that come in a request body are made so.
 * @see k8s.io/apimachinery/pkg/util/managedfields/internal/managedfields.go v0.36
 */
import { formatTime } from '../time.ts'
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../types.ts'
import { equalSets, type FieldSet, isEmpty, parseFieldSet, unionOf } from './field-set.ts'

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

/** The same text for those that `sameManager` takes for one, and for no others. */
const managerKey = ({ manager, operation, apiVersion, subresource }: ManagerId): string =>
  JSON.stringify([manager, operation, subresource, operation === 'Apply' ? '' : apiVersion])

/** The first entry of each manager. */
function byManager(managed: readonly Managed[]): ReadonlyMap<string, Managed> {
  const found = new Map<string, Managed>()
  for (const m of managed) {
    const key = managerKey(m)
    if (!found.has(key)) found.set(key, m)
  }
  return found
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
  // Most writers send what they were given.
  if (areEntriesOf(entries, stored)) return stored
  const known = byManager(stored)
  const result = new Map<string, Managed>()
  for (const given of entries as unknown[]) {
    const managed = readEntry(given, known)
    if (managed === undefined) return undefined
    const key = managerKey(managed)
    // The last of those of one manager holds, at its own place.
    result.delete(key)
    result.set(key, managed)
  }
  return [...result.values()]
}

function areEntriesOf(entries: readonly unknown[], stored: readonly Managed[]): boolean {
  if (entries.length !== stored.length) return false
  for (const [i, { entry }] of stored.entries()) {
    const given = entries[i] as ManagedFieldsEntry | null
    if (given === entry) continue
    if (entry === undefined || given?.fieldsType !== 'FieldsV1' || entry.operation !== given.operation) return false
    if (entry.manager !== given.manager || entry.apiVersion !== given.apiVersion) return false
    if (entry.subresource !== given.subresource || entry.time !== given.time || !sameFields(entry, given)) return false
  }
  return true
}

function readEntry(given: unknown, stored: ReadonlyMap<string, Managed>): Managed | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const entry = given as ManagedFieldsEntry
  const { operation, apiVersion, fieldsType } = entry
  if ((operation !== 'Apply' && operation !== 'Update') || !apiVersion || fieldsType !== 'FieldsV1') return undefined
  const id: ManagerId = { manager: entry.manager ?? '', operation, apiVersion, subresource: entry.subresource ?? '' }
  const known = stored.get(managerKey(id))
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
 * Do two lists say the same but for times (and so maybe order)? A write that changes nothing else is no write: the
 * old list is stored then.
 */
export function sameOwnership(a: readonly ManagedFieldsEntry[], b: readonly ManagedFieldsEntry[]): boolean {
  if (a.length !== b.length) return false
  const [ofA, ofB] = [readStored(a), readStored(b)]
  // Mostly in the same order.
  if (ofA.every((m, i) => isSameOwner(m, ofB[i]))) return true
  const known = byManager(ofB)
  return ofA.every((m) => isSameOwner(m, known.get(managerKey(m))))
}

const isSameOwner = (a: Managed, b: Managed | undefined): boolean =>
  b !== undefined && sameManager(a, b) && a.apiVersion === b.apiVersion && equalSets(a.fields, b.fields)

/** `[]` and `[{}]` in a body ask for the ownership to be forgotten. */
export function isReset(entries: unknown): boolean {
  if (!Array.isArray(entries)) return false
  if (entries.length === 0) return true
  const only: unknown = entries[0]
  return entries.length === 1 && typeof only === 'object' && only !== null && isEmpty(only as FieldSet)
}

/** In the order upstream stores them; undefined if nothing has an owner. */
export function writeManaged(managed: readonly Managed[]): ManagedFieldsEntry[] | undefined {
  if (managed.length === 0) return undefined
  if (managed.length === 1) return managed.map(entryOf)
  return timed(managed)
    .sort(compareManaged)
    .map(({ managed }) => entryOf(managed))
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

interface Timed {
  readonly managed: Managed
  /** Since 1970; 0 where there is no time. Read once: sorting looks at each entry many times. */
  readonly seconds: number
}

const timed = (managed: readonly Managed[]): Timed[] => managed.map((m) => ({ managed: m, seconds: secondsOf(m.time) }))

const secondsOf = (time: string | undefined): number => (time ? Math.floor(Date.parse(time) / 1000) || 0 : 0)

function compareManaged({ managed: a, seconds: ofA }: Timed, { managed: b, seconds: ofB }: Timed): number {
  return (
    compareText(a.operation, b.operation) ||
    ofA - ofB ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  )
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** With other fields; the entry is written anew. */
export function withFields(managed: Managed, fields: FieldSet): Managed {
  if (fields === managed.fields) return managed
  const { entry: _, ...rest } = managed
  return { ...rest, fields }
}

export const maxUpdateManagers = 10
const bucketName = 'ancient-changes'

/** Folds the oldest Update entries into one per version until there are few enough. */
export function capUpdates(managed: readonly Managed[]): readonly Managed[] {
  const updates = managed.filter((m) => m.operation === 'Update')
  let excess = updates.length - maxUpdateManagers
  if (excess <= 0) return managed
  const known = byManager(managed)
  const ancientOf = (apiVersion: string): ManagerId => ({
    manager: bucketName,
    operation: 'Update',
    apiVersion,
    subresource: '',
  })
  const oldest = new Map<string, Managed>()
  /** What goes into one, by version. */
  const folds = new Map<string, Set<Managed>>()
  for (const update of oldestFirst(updates)) {
    if (excess <= 0) break
    const { apiVersion } = update
    let parts = folds.get(apiVersion)
    if (parts?.has(update)) continue
    const base = oldest.get(apiVersion)
    if (base === undefined) {
      oldest.set(apiVersion, update)
      continue
    }
    const before = parts?.size ?? 1
    if (parts === undefined) {
      const ancient = known.get(managerKey(ancientOf(apiVersion)))
      parts = new Set(ancient === undefined ? [base] : [base, ancient])
      folds.set(apiVersion, parts)
    }
    parts.add(update)
    excess -= parts.size - before
  }
  const folded = new Set([...folds.values()].flatMap((parts) => [...parts]))
  const buckets = [...folds].map(([apiVersion, parts]) => folding(ancientOf(apiVersion), [...parts]))
  return [...managed.filter((m) => !folded.has(m)), ...buckets]
}

const oldestFirst = (updates: readonly Managed[]): readonly Managed[] =>
  timed(updates)
    .map((update) => ({ ...update, text: managerText(update.managed) }))
    .sort((a, b) => a.seconds - b.seconds || compareText(a.text, b.text))
    .map(({ managed }) => managed)

/** All parts as one entry, with the latest of their times. */
function folding(id: ManagerId, parts: readonly Managed[]): Managed {
  const latest = timed(parts).reduce((last, part) => (part.seconds > last.seconds ? part : last))
  return { ...id, time: latest.managed.time, fields: unionOf(parts.map(({ fields }) => fields)) }
}

export function withEntries(object: KubeObject, entries: readonly ManagedFieldsEntry[] | undefined): KubeObject {
  if (object.metadata.managedFields === entries) return object
  const { managedFields: _, ...metadata } = object.metadata
  return {
    ...object,
    metadata: entries === undefined ? metadata : { ...metadata, managedFields: entries as ManagedFieldsEntry[] },
  }
}
