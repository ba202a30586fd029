/** RBAC objects and namespaces as the evaluator follows them. */
import { namespaceResource } from '../apis/namespaces/types.ts'
import type { RbacSource } from '../authz/rbac-source.ts'
import type { GroupVersionResource } from '../kube/gvk.ts'
import { clusterRoleBindingsResource, clusterRolesResource, roleBindingsResource, rolesResource } from '../kube/rbac.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { Lister } from '../registry/registry.ts'

export function rbacSource(lister: Lister, typeOf: (gvr: GroupVersionResource) => ResourceType): RbacSource {
  const resources = {
    ClusterRole: clusterRolesResource,
    ClusterRoleBinding: clusterRoleBindingsResource,
    Role: rolesResource,
    RoleBinding: roleBindingsResource,
    Namespace: namespaceResource,
  } as const
  return {
    subscribe: (kind, listener) => lister.subscribe(typeOf(resources[kind]), listener),
    findNamespace: (name) => lister.find(typeOf(namespaceResource), '', name)?.object,
  }
}
