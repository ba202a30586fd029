/**
 * The version of a template that is in force while its newest one reaches no namespace, as `maxPrune` stops it.
 * Namespaces keep what it gave, and it goes on giving that to those that it selects and the newest does not: a mistyped
 * selector, or a deletion, leaves new ones as guarded as the rest. The status alone says so, in one field: whatever
 * decides about namespaces reads the same, and a template without it has no other version.
 */
import { compileMatcher, type Matcher } from './match.ts'
import type { NamespaceTemplate } from './types.ts'

/** What is recorded of a template that was made disabled, until its newest version reaches namespaces: a draft. */
export const noneYet = 0

/** As it is recorded; undefined = the newest is in force, or none yet. */
export const heldGeneration = ({ status }: NamespaceTemplate): number | undefined =>
  status?.heldGeneration === noneYet ? undefined : status?.heldGeneration

/**
 * Which is to be recorded while the newest reaches none: what is so already, else what the last status was about, and
 * before there is one the first, which takes nothing away. undefined = none was before the newest.
 */
export function generationBefore({ metadata, status }: NamespaceTemplate): number | undefined {
  const { heldGeneration: held, observedGeneration: observed = 1 } = status ?? {}
  if (held === noneYet) return undefined
  return held ?? (observed === (metadata.generation ?? 1) ? undefined : observed)
}

/** Whether this version of the template is in force in its newest one's place. */
export function isInForce({ template }: Matcher, newest: NamespaceTemplate): boolean {
  const held = heldGeneration(newest)
  return held !== undefined && template.metadata.generation === held
}

/** The template as it was at that generation. What its annotations say is so now: they make no generation. */
export function versionOf(
  template: NamespaceTemplate,
  generation: number,
  spec: NonNullable<NamespaceTemplate['spec']>,
): Matcher {
  const { deletionTimestamp: _, ...metadata } = template.metadata
  return compileMatcher({ ...template, metadata: { ...metadata, generation }, spec })
}
