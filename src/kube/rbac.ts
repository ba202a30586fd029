/**
 * The shapes of `rbac.authorization.k8s.io/v1`, and where those objects are found. Pure vocabulary: who evaluates the
 * rules is `authz/`, who guards their writing is `apis/rbac/`.
 */

import type { LabelSelectorObject } from './label-selector.ts'
import type { Resource } from './resource.ts'
import type { KubeObject } from './types.ts'

export const rbacGroup = 'rbac.authorization.k8s.io'

export const clusterRolesResource: Resource<ClusterRole> = { group: rbacGroup, version: 'v1', resource: 'clusterroles' }
export const clusterRoleBindingsResource: Resource<Binding> = {
  group: rbacGroup,
  version: 'v1',
  resource: 'clusterrolebindings',
}
export const rolesResource: Resource<Role> = { group: rbacGroup, version: 'v1', resource: 'roles' }
export const roleBindingsResource: Resource<Binding> = { group: rbacGroup, version: 'v1', resource: 'rolebindings' }

/** Either resources or nonResourceURLs, never both. */
export interface PolicyRule {
  verbs: string[]
  apiGroups?: string[]
  resources?: string[]
  resourceNames?: string[]
  nonResourceURLs?: string[]
}

export interface RoleRef {
  apiGroup: string
  kind: string
  name: string
}

export interface Subject {
  kind: string
  apiGroup?: string
  name: string
  namespace?: string
}

export interface Role extends KubeObject {
  rules?: PolicyRule[] | null
}

export interface ClusterRole extends Role {
  aggregationRule?: { clusterRoleSelectors?: LabelSelectorObject[] }
}

/** A RoleBinding or a ClusterRoleBinding. */
export interface Binding extends KubeObject {
  roleRef: RoleRef
  subjects?: Subject[]
}
