/** Which initializers a new namespace waits for: all configurations merged, those of ours first. Pure. */
import { labelSelectorOf, matchesLabels } from '../../kube/label-selector.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { Namespace } from '../namespaces/types.ts'
import {
  givenInitializersAnnotation,
  type NamespaceInitializer,
  type NamespaceInitializerConfiguration,
  namespaceTemplateInitializer,
} from './types.ts'

/** Configurations in the order of their names, each in its own order; a name counts where it stands first. */
export function mergeConfigurations(
  configurations: Iterable<NamespaceInitializerConfiguration>,
): readonly NamespaceInitializer[] {
  const sorted = [...configurations].sort((a, b) => (nameOf(a.metadata) < nameOf(b.metadata) ? -1 : 1))
  const merged = new Map<string, NamespaceInitializer>()
  for (const { initializers = [] } of sorted) {
    for (const initializer of initializers) if (!merged.has(initializer.name)) merged.set(initializer.name, initializer)
  }
  return [...merged.values()]
}

/** `populated`: templates match, so the built-in initializer acts, before all others. */
export function pendingInitializers(
  merged: readonly NamespaceInitializer[],
  namespace: Namespace,
  populated: boolean,
): string[] {
  const selected = merged
    .filter(({ namespaceSelector }) =>
      namespaceSelector === undefined
        ? true
        : matchesLabels(labelSelectorOf(namespaceSelector), namespace.metadata.labels),
    )
    .map((i) => i.name)
    .filter((name) => name !== namespaceTemplateInitializer)
  return populated ? [namespaceTemplateInitializer, ...selected] : selected
}

/** How long a turn of `initializer` may take, and what happens then; undefined = for ever. */
export function deadlineOf(
  merged: readonly NamespaceInitializer[],
  namespace: Pick<Namespace, 'metadata'>,
  initializer: string,
): { readonly timeoutMs: number; readonly goesOn: boolean } | undefined {
  // A list that its creator gave has no configuration behind it.
  if (namespace.metadata.annotations?.[givenInitializersAnnotation] === 'true') return undefined
  if (initializer === namespaceTemplateInitializer) return undefined
  const { timeoutSeconds, failurePolicy } = merged.find((i) => i.name === initializer) ?? {}
  return timeoutSeconds === undefined
    ? undefined
    : { timeoutMs: timeoutSeconds * 1000, goesOn: failurePolicy === 'Ignore' }
}
