/** What differs from other kinds: a write to the status leaves all metadata as it was. */
import type { Strategy } from '../../catalog/strategy.ts'
import { templateGroups, templateResourceName } from './types.ts'

/**
 * As where the kind is a custom one. Its annotations bound what it gives and to whom, and only writes of the object as
 * a whole ask its author.
 */
const templateStrategy: Strategy = {
  keptMetadata: { status: ['labels', 'annotations', 'finalizers', 'ownerReferences'] },
}

export const templateStrategies: Readonly<Record<string, Strategy>> = Object.fromEntries(
  templateGroups.map((group) => [`${templateResourceName}.${group}`, templateStrategy]),
)
