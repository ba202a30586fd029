/**
 * What RBAC must be told about the world. The wiring adapts the watch cache to it, so `authz` knows no registry.
 */
import type { KubeObject } from '../kube/types.ts'

export type RbacKind = 'ClusterRole' | 'ClusterRoleBinding' | 'Role' | 'RoleBinding'

/** An object and its address. `object` may be parsed on first use, so it is read only when needed. */
export interface RbacObject {
  readonly namespace: string
  readonly name: string
  readonly object: KubeObject
}

/** `revision`: of the change, also where it is a removal. */
export type RbacListener = (next: RbacObject | undefined, old: RbacObject | undefined, revision: number) => void

/** Roles and bindings in namespaces, for an index that keeps only some of them. */
export interface NamespacedRbac {
  /** Of one namespace, as of the change being delivered. */
  list(kind: NamespacedKind, namespace: string): Iterable<RbacObject>
  /** As `RbacSource.subscribe`, for changes alone. */
  follow(kind: NamespacedKind | 'Namespace', listener: RbacListener): () => void
}

type NamespacedKind = 'Role' | 'RoleBinding'

export interface RbacSource {
  /** Absent: all of them are told. */
  readonly inNamespaces?: NamespacedRbac
  /**
   * First called for everything that exists (`old` undefined), then for each change (`next` undefined = removed), in
   * the order of the store across all kinds, before a client can see the answer of the write.
   */
  subscribe(kind: RbacKind | 'Namespace', listener: RbacListener): () => void
  /** The namespace as of the change being delivered. */
  findNamespace(name: string): KubeObject | undefined
}
