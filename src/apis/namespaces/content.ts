/**
 * The index of what is in a namespace, as the controller and admission ask it. `app/namespace-content.ts` provides it.
 */
import type { GroupVersionResource } from '../../kube/gvk.ts'
import type { Remaining } from './conditions.ts'

/** What is in a namespace, from an index: the cost is that of the types present, not of the types served. */
export interface NamespaceContent {
  /** Types that have objects in the namespace. */
  of(namespace: string): readonly { readonly resource: GroupVersionResource; readonly count: number }[]
  /** Up to `limit` of the objects in it, and the number of objects per finalizer over all of them. */
  remaining(
    namespace: string,
    limit: number,
  ): {
    readonly named: readonly Remaining[]
    readonly finalizers: ReadonlyMap<string, number>
  }
  /** Calls back whenever an object has changed or gone in a namespace that is known to be terminating. */
  onChange(listener: (namespace: string) => void): () => void
  /** Sees everything acknowledged anywhere before the call. */
  refresh(): Promise<void>
}
