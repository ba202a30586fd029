/** Edits that take nothing from where their template was before. */
import { jsonEqual } from '../../kube/json-value.ts'
import { metadataParts } from './namespace-metadata.ts'
import { identityOf } from './render.ts'
import { completeReason, progressingCondition } from './rollout.ts'
import { objectsOf } from './template-objects.ts'
import type { NamespaceTemplate } from './types.ts'

/**
 * Whether a version gives all that the one before did, which had reached every namespace: where it deletes something
 * all the same, that is in namespaces that have opted out.
 */
export function isHarmless(next: NamespaceTemplate, old: NamespaceTemplate | undefined): boolean {
  if (old === undefined || next.metadata.deletionTimestamp !== undefined || !isReached(old)) return false
  const isSame = (part: 'namespaces' | 'parameters'): boolean => jsonEqual(next.spec?.[part], old.spec?.[part])
  if (!isSame('namespaces') || !isSame('parameters')) return false
  const given = new Set(placesOf(next))
  if (!placesOf(old).every((place) => given.has(place))) return false
  return metadataParts.every((part) => {
    const keys = next.spec?.namespaceMetadata?.[part] ?? {}
    return Object.keys(old.spec?.namespaceMetadata?.[part] ?? {}).every((key) => Object.hasOwn(keys, key))
  })
}

/** Objects with what decides where they are. */
const placesOf = (template: NamespaceTemplate): string[] =>
  objectsOf(template).map(({ source, when, cloneFrom }) =>
    JSON.stringify([identityOf(source), when, cloneFrom?.namespace]),
  )

/** Nothing of it waits, and nothing failed. */
const isReached = ({ metadata, status }: NamespaceTemplate): boolean =>
  status?.observedGeneration === metadata.generation &&
  (status?.conditions ?? []).some((c) => c.type === progressingCondition && c.reason === completeReason)
