/** What a user who is refused something can do next: whom to ask, and what to hand to them. */
import type { AccessAnswer, Question } from '../../../apis/rbac/why-denied.ts'
import type { RoleName } from '../../../authz/explain-refusal.ts'
import { shellWord } from '../../../base/shell-text.ts'
import { type Binding, type PolicyRule, type Role, rbacGroup } from '../../../kube/rbac.ts'
import { type AccessObjects, subjectText } from './access-rows.ts'

export interface Binder {
  /** `User alice` */
  readonly subject: string
  /** `RoleBinding/admins of ClusterRole/admin` */
  readonly through: string
}

/** What these give is known in every cluster, also to users who may not read them. */
const knownToBind: ReadonlySet<string> = new Set(['admin', 'cluster-admin'])

/** Who may make RoleBindings in the namespace, as far as the objects that the user may read tell it. */
export function bindersOf(objects: AccessObjects): readonly Binder[] {
  const clusterRoles = rulesOf(objects.clusterRoles)
  const roles = rulesOf(objects.roles)
  const mayBind = ({ roleRef: { kind, name } }: Binding): boolean => {
    const rules = (kind === 'Role' ? roles : clusterRoles).get(name)
    return rules === undefined ? kind === 'ClusterRole' && knownToBind.has(name) : rules.some(givesBinding)
  }
  const found = new Map<string, Binder>()
  for (const [bindingKind, bindings] of [
    ['RoleBinding', objects.roleBindings],
    ['ClusterRoleBinding', objects.clusterRoleBindings],
  ] as const) {
    for (const binding of bindings) {
      const { metadata, roleRef, subjects = [] } = binding
      if (metadata.name?.startsWith('system:') === true || !mayBind(binding)) continue
      const through = `${bindingKind}/${metadata.name ?? ''} of ${roleRef.kind}/${roleRef.name}`
      for (const subject of subjects.map(subjectText)) {
        if (!found.has(subject)) found.set(subject, { subject, through })
      }
    }
  }
  return [...found.values()]
}

const rulesOf = (roles: readonly Role[]): ReadonlyMap<string, readonly PolicyRule[]> =>
  new Map(roles.map(({ metadata, rules }) => [metadata.name ?? '', rules ?? []]))

const givesBinding = ({ verbs, apiGroups = [], resources = [], resourceNames = [] }: PolicyRule): boolean =>
  resourceNames.length === 0 &&
  hasOrAll(verbs, 'create') &&
  hasOrAll(apiGroups, rbacGroup) &&
  hasOrAll(resources, 'rolebindings')

const hasOrAll = (list: readonly string[], wanted: string): boolean => list.includes(wanted) || list.includes('*')

/** The question as kubectl asks it, by the user whom it is about. */
export function canICommand({ verb, target, name, namespace }: Question): string {
  if (target.startsWith('/')) return `kubectl auth can-i ${verb} ${shellWord(target)}`
  const [resource = '', ...rest] = target.split('/')
  const what = name === '' ? resource : `${resource}/${name}`
  const part = rest.length === 0 ? '' : ` --subresource=${shellWord(rest.join('/'))}`
  return `kubectl auth can-i ${verb} ${shellWord(what)}${part}${flagOf(namespace)}`
}

/** Binds a role that is known to allow it; else one made for this alone. For a user who may bind roles. */
export function grantCommand({ user, attributes: a }: AccessAnswer, role: RoleName | undefined): string {
  const namespace = a.path === undefined ? a.namespace : ''
  const sort = namespace === '' ? 'clusterrole' : 'role'
  const who = user.username === '' ? 'USER' : user.username
  const what = role?.name ?? `${a.verb}-${a.path ?? a.resource}`
  const name = shellWord(`${what}-${who}`.replaceAll(/[^A-Za-z0-9.]+/g, '-').replaceAll(/^-+|(?<!-)-+$/g, ''))
  const bind = (given: string): string =>
    `kubectl create ${sort}binding ${name} ${given} ${subjectFlag(who)}${flagOf(namespace)}`
  if (role !== undefined) return bind(`--${role.kind.toLowerCase()}=${shellWord(role.name)}`)
  return `kubectl create ${sort} ${name} ${ruleFlags(a)}${flagOf(namespace)} && ${bind(`--${sort}=${name}`)}`
}

const flagOf = (namespace: string): string => (namespace === '' ? '' : ` -n ${shellWord(namespace)}`)

function subjectFlag(user: string): string {
  const [system, sort, home, account] = user.split(':')
  const isAccount = system === 'system' && sort === 'serviceaccount' && home && account
  return shellWord(isAccount ? `--serviceaccount=${home}:${account}` : `--user=${user}`)
}

function ruleFlags(a: AccessAnswer['attributes']): string {
  if (a.path !== undefined) return `--verb=${a.verb} ${shellWord(`--non-resource-url=${a.path}`)}`
  const ofGroup = a.group === '' ? a.resource : `${a.resource}.${a.group}`
  const resource = a.subresource === undefined ? ofGroup : `${ofGroup}/${a.subresource}`
  // A rule with names never allows these: their requests name no object when they are authorized.
  const isNameless = a.name === '' || a.verb === 'create' || a.verb === 'deletecollection'
  const named = isNameless ? '' : ` ${shellWord(`--resource-name=${a.name}`)}`
  return `--verb=${a.verb} ${shellWord(`--resource=${resource}`)}${named}`
}
