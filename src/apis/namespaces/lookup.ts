/** How admission finds a namespace. `app/wire.ts` provides it from the watch cache. */
import type { Attributes } from '../../admission/admission.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { Namespace } from './types.ts'

/** Namespaces as admission sees them: from the cache. What a decision relies on is seen again at commit. */
export interface NamespaceLookup {
  readonly type: ResourceType
  find(name: string): Namespace | undefined
  /** Sees everything acknowledged anywhere before the call. */
  refresh(): Promise<void>
}

/** Where an object is written: maybe a namespace that is created along with it. */
export function namespaceOf(lookup: Pick<NamespaceLookup, 'find'>, a: Attributes): Namespace | undefined {
  return (a.newNamespace as Namespace | undefined) ?? lookup.find(a.namespace)
}
