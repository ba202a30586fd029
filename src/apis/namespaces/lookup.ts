/** How admission finds a namespace: in the watch cache. */
import type { Attributes } from '../../admission/admission.ts'
import type { FeatureContext } from '../../feature/feature.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { type Namespace, namespaceResource } from './types.ts'

/** Namespaces as admission sees them: from the cache. What a decision relies on is seen again at commit. */
export interface NamespaceLookup {
  readonly type: ResourceType<Namespace>
  find(name: string): Namespace | undefined
  /** Sees everything acknowledged anywhere before the call. */
  refresh(): Promise<void>
}

/** The namespace of an object that is written: maybe one that is created in the same transaction. */
export function namespaceOf(
  lookup: Pick<NamespaceLookup, 'find'>,
  a: Pick<Attributes, 'namespace' | 'pendingScope'>,
): Namespace | undefined {
  return a.pendingScope?.object ?? lookup.find(a.namespace)
}

export function namespaceLookup({ lister, typeOf }: Pick<FeatureContext, 'lister' | 'typeOf'>): NamespaceLookup {
  const type = typeOf(namespaceResource)
  return {
    type,
    find: (name) => lister.find(type, '', name)?.object,
    refresh: () => lister.refresh(),
  }
}
