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
import type { Lister } from '../../registry/registry.ts'
import { namespaceResource } from '../namespaces/types.ts'

type Kind = 'ClusterRole' | 'ClusterRoleBinding' | 'Role' | 'RoleBinding' | 'Namespace'

const resources: Readonly<Record<Kind, GroupVersionResource>> = {
  ClusterRole: clusterRolesResource,
  ClusterRoleBinding: clusterRoleBindingsResource,
  Role: rolesResource,
  RoleBinding: roleBindingsResource,
  Namespace: namespaceResource,
}

export interface ListedRbac {
  subscribe(kind: Kind, listener: Parameters<Lister['subscribe']>[1]): ReturnType<Lister['subscribe']>
  findNamespace(name: string): KubeObject | undefined
}

export function rbacSource(lister: Lister, typeOf: (resource: GroupVersionResource) => ResourceType): ListedRbac {
  const namespaceType = typeOf(namespaceResource)
  return {
    subscribe: (kind, listener) => lister.subscribe(typeOf(resources[kind]), listener),
    findNamespace: (name) => lister.find(namespaceType, '', name)?.object,
  }
}
