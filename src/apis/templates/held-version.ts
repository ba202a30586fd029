/**
 * The version of a template that is in force while its newest one reaches no namespace: until all namespaces have been
 * looked at, and for as long as `maxPrune` stops it. Namespaces keep what it gave, and it goes on giving that to those
 * that it selects and the newest does not: a mistyped selector, or a deletion, leaves new ones as guarded as the rest.
 */
import { compileMatcher, type Matcher } from './match.ts'
import type { NamespaceTemplate } from './types.ts'

/** By what the status says; undefined = the newest is in force, or none was before it. */
export function heldGeneration({ metadata, status }: NamespaceTemplate): number | undefined {
  const { heldGeneration: held, observedGeneration: observed } = status ?? {}
  if (held !== undefined) return held
  return observed === metadata.generation ? undefined : observed
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
