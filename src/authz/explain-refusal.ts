/**
 * What would have allowed a refused request: bindings that give it to others, and roles without a binding here.
 * Works on plain objects, so that it can be asked on the server and of any cluster. Costs what there is of bindings and
 * roles in the cluster's and the request's scope: only when asked for.
 */
import { quote } from '../kube/go-quote.ts'
import { nameOf } from '../kube/metadata.ts'
import { type Binding, type Role, rbacGroup } from '../kube/rbac.ts'
import type { UserInfo } from '../kube/user.ts'
import type { AuthzAttributes } from './authz.ts'
import { indexedBinding } from './binding-index.ts'
import { namespaceOf, ruleTest } from './rbac-request.ts'
import { CompiledRules } from './rbac-rules.ts'

/** The objects of one kind; undefined = who asks may not read them. */
type Readable<T> = Iterable<T> | undefined

/** Roles and RoleBindings are those of one namespace. */
export interface RbacObjects {
  readonly clusterRoles: Readable<Role>
  readonly clusterRoleBindings: Readable<Binding>
  readonly roles: Readable<Role>
  readonly roleBindings: Readable<Binding>
}

export interface RoleName {
  readonly kind: 'ClusterRole' | 'Role'
  readonly name: string
}

export interface OthersBinding {
  readonly kind: 'ClusterRoleBinding' | 'RoleBinding'
  /** '' for a ClusterRoleBinding. */
  readonly namespace: string
  readonly name: string
  readonly role: RoleName
  /** `Group "devs"`, `ServiceAccount "name/namespace"` */
  readonly subjects: readonly string[]
}

export interface RefusalExplanation {
  /** Those for people before those for parts of the system; of these, those of the namespace first. */
  readonly bindings: readonly OthersBinding[]
  /** Those for people first; of these the narrowest, by the number of what their rules name. */
  readonly roles: readonly RoleName[]
  /** The first of these that is for people and does not give everything: one to bind for this request alone. */
  readonly suggested: RoleName | undefined
  /** Bindings of the user that refer to a role that is not there. */
  readonly broken: readonly OthersBinding[]
  /** `rolebindings.rbac.authorization.k8s.io`, …: could not be read, so what they hold is not here. */
  readonly unread: readonly string[]
}

export function explainRefusal(attributes: AuthzAttributes, objects: RbacObjects): RefusalExplanation {
  const { user } = attributes
  const namespace = namespaceOf(attributes)
  const allows = ruleTest(attributes)
  const clusterRoles = compileRoles(objects.clusterRoles)
  const roles = compileRoles(namespace === '' ? [] : objects.roles)
  const bindings: OthersBinding[] = []
  const broken: OthersBinding[] = []
  for (const [home, list] of [
    [namespace, namespace === '' ? [] : objects.roleBindings],
    ['', objects.clusterRoleBindings],
  ] as const) {
    for (const binding of list ?? []) {
      const described = describe(home, binding)
      const known = described.role.kind === 'ClusterRole' ? clusterRoles : home === '' ? undefined : roles
      const rules = known?.get(described.role.name)
      if (rules && allows(rules)) bindings.push(described)
      if (known && !rules && concerns(home, binding, user)) broken.push(described)
    }
  }
  const allowing = [...named('Role', roles), ...named('ClusterRole', clusterRoles)]
    .filter(({ rules }) => allows(rules))
    .sort((a, b) => Number(isSystem(a)) - Number(isSystem(b)) || breadth(a.rules) - breadth(b.rules))
  const suggested = allowing.find((role) => !isSystem(role) && !givesEverything(role.rules))
  return {
    bindings: bindings.sort((a, b) => Number(isSystem(a.role)) - Number(isSystem(b.role))),
    broken,
    roles: allowing.map(({ kind, name }) => ({ kind, name })),
    suggested: suggested && { kind: suggested.kind, name: suggested.name },
    unread: [
      ...(namespace !== '' && !objects.roleBindings ? [`rolebindings.${rbacGroup}`] : []),
      ...(objects.clusterRoleBindings ? [] : [`clusterrolebindings.${rbacGroup}`]),
      ...(namespace !== '' && !objects.roles ? [`roles.${rbacGroup}`] : []),
      ...(objects.clusterRoles ? [] : [`clusterroles.${rbacGroup}`]),
    ],
  }
}

/** One sentence for each thing, at most `limit` of a kind, for readers of an answer. */
export function explanationLines(explanation: RefusalExplanation, limit = 10): readonly string[] {
  const { bindings, roles, broken, unread } = explanation
  const more = (all: readonly unknown[], what: string): string[] =>
    all.length > limit ? [`and ${all.length - limit} more ${what}`] : []
  const role = ({ kind, name }: RoleName): string => `${kind} ${quote(name)}`
  return [
    ...broken.slice(0, limit).map((b) => `${bindingName(b)} refers to ${role(b.role)}, which is not there`),
    ...bindings.slice(0, limit).map((b) => `${bindingName(b)} of ${role(b.role)} allows it to ${toWhom(b)}`),
    ...more(bindings, 'bindings'),
    ...roles.slice(0, limit).map((r) => `${role(r)} would allow it through a binding`),
    ...more(roles, 'roles'),
    ...unread.map((resource) => `${resource} can't be listed by who asks`),
  ]
}

/** `RoleBinding "name/namespace"`, as upstream writes it in the reason for a yes. */
export const bindingName = ({ kind, name, namespace }: OthersBinding): string =>
  `${kind} ${quote(namespace === '' ? name : `${name}/${namespace}`)}`

export const toWhom = ({ subjects }: OthersBinding): string => (subjects.length === 0 ? 'nobody' : subjects.join(', '))

function describe(namespace: string, binding: Binding): OthersBinding {
  const name = nameOf(binding.metadata)
  return {
    kind: namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding',
    namespace,
    name,
    role: { kind: binding.roleRef.kind === 'Role' ? 'Role' : 'ClusterRole', name: binding.roleRef.name },
    subjects: indexedBinding(namespace, name, binding).subjects.map((s) => s.text),
  }
}

const concerns = (namespace: string, binding: Binding, user: UserInfo): boolean =>
  indexedBinding(namespace, '', binding).subjects.some((s) =>
    s.list === 'users' ? s.key === user.username : user.groups.includes(s.key),
  )

const compileRoles = (roles: Readable<Role>): ReadonlyMap<string, CompiledRules> | undefined =>
  roles && new Map([...roles].map((r) => [nameOf(r.metadata), new CompiledRules(r.rules ?? [])]))

const named = (
  kind: RoleName['kind'],
  roles: ReadonlyMap<string, CompiledRules> | undefined,
): (RoleName & { readonly rules: CompiledRules })[] =>
  [...(roles ?? [])].map(([name, rules]) => ({ kind, name, rules }))

/** Made for a component, or to be gathered by others: not what one gives to a person. */
const isSystem = ({ name }: RoleName): boolean => name.startsWith('system:')

/** As `cluster-admin`: a role that an administrator does not bind to let a user do one thing. */
const givesEverything = ({ resourceRules }: CompiledRules): boolean =>
  resourceRules.some((r) => [r.verbs, r.apiGroups, r.resources].every((list) => list.includes('*')))

/** How much a role gives, roughly: a star counts as much. */
function breadth({ resourceRules, nonResourceRules }: CompiledRules): number {
  const size = (list: readonly string[]): number => list.reduce((sum, item) => sum + (item.includes('*') ? 100 : 1), 0)
  return (
    resourceRules.reduce((sum, r) => sum + size(r.verbs) * size(r.apiGroups) * size(r.resources), 0) +
    nonResourceRules.reduce((sum, r) => sum + size(r.verbs) * size(r.nonResourceURLs), 0)
  )
}
