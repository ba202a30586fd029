/**
 * What the collector must know of objects, and where it hears of it. The wiring satisfies `OwnershipFeed` from the
 * watch cache, so that following every type costs no watch, no start-up time and next to no memory.
 */
import type { GroupVersionResource } from '../../kube/gvk.ts'
import type { OwnerReference } from '../../kube/types.ts'

/** Finalizers that only the collector removes. They are put there by a DELETE with that propagation policy. */
export const orphanFinalizer = 'orphan'
export const foregroundFinalizer = 'foregroundDeletion'

/** The resource that serves an object. */
export interface OwnedResource extends GroupVersionResource {
  readonly kind: string
  readonly namespaced: boolean
}

/** One object, as far as owning goes. */
export interface OwnershipFacts {
  readonly resource: OwnedResource
  /** '' for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly owners: readonly Readonly<OwnerReference>[]
  /** It is being deleted, and cannot go before its dependents are freed of it (orphan) or gone (foreground). */
  readonly awaits?: 'orphan' | 'foreground'
}

export interface OwnershipListener {
  /** The object has owners, or awaits something; or one of these has changed. */
  seen(facts: OwnershipFacts): void
  /** The object is still there, but neither has owners nor awaits anything any more. */
  left(uid: string): void
  /** Any object has gone. `uid` costs a parse: ask only if it may matter. */
  removed(namespace: string, uid: () => string): void
}

export interface OwnershipFeed {
  /**
   * Tells of each change inside its application, and in steps of everything there is: nothing is lost, and the last
   * that is told of an object is how it is. Types that cannot be collected (events, what cannot be deleted) are left
   * out.
   */
  subscribe(listener: OwnershipListener): () => void
  /** Resolves when everything there was has been told: before that, what is not known may exist. */
  told(): Promise<void>
  /** Is this very owner (by uid) where a dependent in `namespace` must look for it? As far as this process knows. */
  isPresent(owner: Readonly<OwnerReference>, namespace: string): boolean
  /** Everything acknowledged anywhere before the call has been told after it. */
  refresh(): Promise<void>
}
