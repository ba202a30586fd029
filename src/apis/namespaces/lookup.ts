/** How admission finds a namespace. `app/wire.ts` provides it from the watch cache. */
import type { ResourceType } from '../../kube/resource-type.ts'
import type { Namespace } from './types.ts'

/** Namespaces as admission sees them: from the cache. What a decision relies on is seen again at commit. */
export interface NamespaceLookup {
  readonly type: ResourceType
  find(name: string): Namespace | undefined
  /** Sees everything acknowledged anywhere before the call. */
  refresh(): Promise<void>
}
