/**
 * What an object itself tells of population: the label, our Apply entry in its managedFields, and a digest of what it
 * says. A client that may edit the object may write the first two, so they prove nothing; `applied-records.ts` says
 * what does.
 */
import type { KubeObject, ManagedFieldsEntry } from '../../kube/types.ts'
import { digestOfText } from './digest.ts'
import { templateFieldManager, templateNameLabel } from './types.ts'

const isApplyEntry = ({ manager, operation }: ManagedFieldsEntry): boolean =>
  manager === templateFieldManager && operation === 'Apply'

const hasApplyEntry = ({ metadata }: KubeObject): boolean => (metadata.managedFields ?? []).some(isApplyEntry)

/** Which of its fields templates gave, and which other writers, whom an apply may meet: not those of a status. */
export const fieldsGiven = ({ metadata }: KubeObject): readonly unknown[] =>
  (metadata.managedFields ?? [])
    .filter((m) => isApplyEntry(m) || (m.operation === 'Update' && !m.subresource))
    .map(({ manager, apiVersion, subresource, fieldsV1 }) => [manager, apiVersion, subresource, fieldsV1])

/** It carries the label (of this template, or of any) and an Apply entry of ours, as after a restore from a backup. */
export function isMarked(object: KubeObject, template?: string): boolean {
  const label = object.metadata.labels?.[templateNameLabel]
  return label !== undefined && (template === undefined || label === template) && hasApplyEntry(object)
}

/** What other appliers own of it: as long as that stays, an apply of ours that they stand in the way of is refused. */
const othersFields = ({ metadata }: KubeObject): string[] =>
  (metadata.managedFields ?? [])
    .filter((m) => m.operation === 'Apply' && m.manager !== templateFieldManager && !m.subresource)
    .map(({ manager, fieldsV1 }) => JSON.stringify([manager, fieldsV1]))
    .sort()

/**
 * Of all that an object says. Status and bookkeeping are left out: a quota's `used` moves with every pod, and that is
 * no drift. That our Apply entry is there counts: without it the next apply would not know which fields it gave. So
 * does what other appliers own.
 */
export function contentDigest(object: KubeObject): string {
  const { labels } = object.metadata
  const known = labels && digests.get(labels)
  if (known !== undefined && isMadeOf(object, known.object)) return known.digest
  const digest = digestOfText(contentText(object))
  if (labels !== undefined) digests.set(labels, { object, digest })
  return digest
}

/** What `contentDigest` is a digest of. */
export const contentText = (object: KubeObject): string => JSON.stringify(contentOf(object))

export function contentOf(object: KubeObject): readonly unknown[] {
  const { apiVersion: _a, kind: _k, metadata, status: _s, ...content } = object
  const { labels, annotations, deletionTimestamp } = metadata
  const appliers = [hasApplyEntry(object), ...othersFields(object)]
  return [unlessEmpty(labels), unlessEmpty(annotations), deletionTimestamp, content, ...appliers]
}

/**
 * What is created here is seen again by the watch, whose objects share the parts of what was stored: nothing need be
 * digested twice. By labels.
 */
const digests = new WeakMap<object, { readonly object: KubeObject; readonly digest: string }>()

function isMadeOf(object: KubeObject, other: KubeObject): boolean {
  const { annotations, managedFields, deletionTimestamp } = other.metadata
  if (object.metadata.annotations !== annotations || object.metadata.managedFields !== managedFields) return false
  if (object.metadata.deletionTimestamp !== deletionTimestamp) return false
  return hasPartsOf(object, other) && hasPartsOf(other, object)
}

function hasPartsOf(object: KubeObject, other: KubeObject): boolean {
  for (const key in object) if (!aside.has(key) && object[key] !== other[key]) return false
  return true
}

const aside: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'status'])

/** An empty map is not stored. */
function unlessEmpty(map: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> | undefined {
  for (const _ in map) return map
  return undefined
}
