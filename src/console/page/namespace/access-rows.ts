/** Who may do what in a namespace, and through which binding: one row for each subject of each binding. */
import type { Binding, ClusterRole, PolicyRule, Role, Subject } from '../../../kube/rbac.ts'

export interface AccessRow {
  /** `User alice`, `ServiceAccount team-a/default` */
  readonly subject: string
  /** `ClusterRole/admin` */
  readonly role: string
  /** `RoleBinding/admin` */
  readonly binding: string
  /** It holds in every namespace. */
  readonly isClusterWide: boolean
  /** undefined = the role may not be read, or is not there. */
  readonly rules: readonly string[] | undefined
}

export interface AccessObjects {
  readonly roleBindings: readonly Binding[]
  readonly roles: readonly Role[]
  readonly clusterRoleBindings: readonly Binding[]
  readonly clusterRoles: readonly ClusterRole[]
}

/** Of the system's own parts there are many, and they are in every cluster. */
const isOfSystem = ({ metadata }: Binding): boolean => metadata.name?.startsWith('system:') === true

export function accessRows(objects: AccessObjects): readonly AccessRow[] {
  const clusterRoles = rulesByName(objects.clusterRoles)
  const roles = rulesByName(objects.roles)
  const rowsOf = (binding: Binding, isClusterWide: boolean): AccessRow[] => {
    const { kind, name } = binding.roleRef
    const rules = (kind === 'Role' ? roles : clusterRoles).get(name)
    // A ClusterRole of nothing but /metrics and nodes says nothing of a namespace.
    if (rules?.length === 0) return []
    return (binding.subjects ?? []).map((subject) => ({
      subject: subjectText(subject),
      role: `${kind}/${name}`,
      binding: `${isClusterWide ? 'ClusterRoleBinding' : 'RoleBinding'}/${binding.metadata.name ?? ''}`,
      isClusterWide,
      rules,
    }))
  }
  return [
    ...objects.roleBindings.flatMap((binding) => rowsOf(binding, false)),
    ...objects.clusterRoleBindings.filter((b) => !isOfSystem(b)).flatMap((binding) => rowsOf(binding, true)),
  ].sort((a, b) => Number(a.isClusterWide) - Number(b.isClusterWide) || (sortKey(a) < sortKey(b) ? -1 : 1))
}

const sortKey = ({ subject, binding }: AccessRow): string => `${subject} ${binding}`

/** As texts, made once for all bindings of a role. */
const rulesByName = (roles: readonly Role[]): ReadonlyMap<string, readonly string[]> =>
  new Map(roles.map(({ metadata, rules }) => [metadata.name ?? '', (rules ?? []).filter(isOfNamespaces).map(ruleText)]))

const isOfNamespaces = ({ nonResourceURLs = [] }: PolicyRule): boolean => nonResourceURLs.length === 0

export const subjectText = ({ kind, name, namespace }: Subject): string =>
  kind === 'ServiceAccount' ? `${kind} ${namespace ?? ''}/${name}` : `${kind} ${name}`

/** `get, list, watch: pods, services` */
function ruleText({ verbs, apiGroups = [], resources = [], resourceNames = [] }: PolicyRule): string {
  const what = resources.map((resource) => (resource === '*' ? 'everything' : resource)).join(', ')
  const groups = apiGroups.filter((group) => group !== '' && group !== '*')
  const of = groups.length === 0 ? '' : ` of ${groups.join(', ')}`
  const names = resourceNames.length === 0 ? '' : ` named ${resourceNames.join(', ')}`
  return `${verbs.includes('*') ? 'anything' : verbs.join(', ')}: ${what}${of}${names}`
}
