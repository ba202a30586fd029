/** RBAC objects and namespaces as the evaluator follows them. */
import type { GroupVersionResource } from '../../kube/gvk.ts'
import {
  clusterRoleBindingsResource,
  clusterRolesResource,
  roleBindingsResource,
  rolesResource,
} from '../../kube/rbac.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Lister, StoredObject, StoreView } from '../../registry/registry.ts'
import { namespaceResource } from '../namespaces/types.ts'

type Kind = 'ClusterRole' | 'ClusterRoleBinding' | 'Role' | 'RoleBinding' | 'Namespace'

const resources: Readonly<Record<Kind, GroupVersionResource>> = {
  ClusterRole: clusterRolesResource,
  ClusterRoleBinding: clusterRoleBindingsResource,
  Role: rolesResource,
  RoleBinding: roleBindingsResource,
  Namespace: namespaceResource,
}

type NamespacedKind = 'Role' | 'RoleBinding'

type Follow<K> = (kind: K, listener: Parameters<Lister['subscribe']>[1]) => () => void

export interface ListedRbac {
  readonly subscribe: Follow<Kind>
  readonly inNamespaces: {
    readonly follow: Follow<NamespacedKind | 'Namespace'>
    list(kind: NamespacedKind, namespace: string): Iterable<StoredObject>
  }
  findNamespace(name: string): KubeObject | undefined
}

export function rbacSource(
  lister: Lister,
  stored: Pick<StoreView, 'versions'>,
  typeOf: (resource: GroupVersionResource) => ResourceType,
): ListedRbac {
  const namespaceType = typeOf(namespaceResource)
  return {
    subscribe: (kind, listener) => lister.subscribe(typeOf(resources[kind]), listener),
    findNamespace: (name) => lister.find(namespaceType, '', name)?.object,
    inNamespaces: {
      follow: (kind, listener) => lister.follow(typeOf(resources[kind]), listener),
      *list(kind, namespace) {
        const type = typeOf(resources[kind])
        for (const version of stored.versions(type.storageName, namespace)) {
          // What is damaged gives no right; that it is damaged is known from here on.
          if (version.damage === undefined) yield version.as(type)
        }
      },
    },
  }
}
