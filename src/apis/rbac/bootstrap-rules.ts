/** Short words for rules, so that the default policy reads as a table. */
import {
  type Binding,
  type ClusterRole,
  clusterRoleBindingsResource,
  clusterRolesResource,
  type PolicyRule,
  type Role,
  rbacGroup,
  roleBindingsResource,
  rolesResource,
  type Subject,
} from '../../kube/rbac.ts'

export const read: readonly string[] = ['get', 'list', 'watch']
export const write: readonly string[] = ['create', 'delete', 'deletecollection', 'patch', 'update']
export const readWrite: readonly string[] = [...read, ...write]

export const bootstrapLabel = 'kubernetes.io/bootstrapping'
export const autoUpdateAnnotation = 'rbac.authorization.kubernetes.io/autoupdate'

/** `may(read, 'apps', 'deployments deployments/scale')`; names are separated by blanks, the core group is ''. */
export function may(
  verbs: string | readonly string[],
  groups: string | readonly string[],
  resources: string,
): PolicyRule {
  return {
    verbs: typeof verbs === 'string' ? verbs.split(' ') : [...verbs].sort(),
    apiGroups: typeof groups === 'string' ? [groups] : [...groups],
    resources: resources.split(' '),
  }
}

export const mayGet = (paths: string): PolicyRule => ({ verbs: ['get'], nonResourceURLs: paths.split(' ') })

/** For controllers that write events. */
export const events: PolicyRule = may('create patch update', ['', 'events.k8s.io'], 'events')

const metadata = (name: string, labels: Record<string, string>): ClusterRole['metadata'] => ({
  name,
  labels: { [bootstrapLabel]: 'rbac-defaults', ...labels },
  annotations: { [autoUpdateAnnotation]: 'true' },
})

export function clusterRole(name: string, rules: PolicyRule[], labels: Record<string, string> = {}): ClusterRole {
  const { group, version } = clusterRolesResource
  return { apiVersion: `${group}/${version}`, kind: 'ClusterRole', metadata: metadata(name, labels), rules }
}

export function clusterRoleBinding(name: string, roleName: string, subjects: Subject[]): Binding {
  const { group, version } = clusterRoleBindingsResource
  return {
    apiVersion: `${group}/${version}`,
    kind: 'ClusterRoleBinding',
    metadata: metadata(name, {}),
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: roleName },
    subjects,
  }
}

/** A role that holds in one namespace of the system. */
export function role(namespace: string, name: string, rules: PolicyRule[]): Role {
  const { group, version } = rolesResource
  return { apiVersion: `${group}/${version}`, kind: 'Role', metadata: { ...metadata(name, {}), namespace }, rules }
}

export function roleBinding(namespace: string, name: string, roleName: string, subjects: Subject[]): Binding {
  const { group, version } = roleBindingsResource
  return {
    apiVersion: `${group}/${version}`,
    kind: 'RoleBinding',
    metadata: { ...metadata(name, {}), namespace },
    roleRef: { apiGroup: rbacGroup, kind: 'Role', name: roleName },
    subjects,
  }
}

export const groupSubject = (name: string): Subject => ({ kind: 'Group', apiGroup: rbacGroup, name })
export const userSubject = (name: string): Subject => ({ kind: 'User', apiGroup: rbacGroup, name })
