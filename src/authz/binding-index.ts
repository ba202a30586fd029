/**
 * Bindings by subject. A check looks up the user and each of their groups, so its cost depends on the bindings that
 * speak of them and on no others.
 */
import { quote } from '../kube/go-quote.ts'
import type { Binding } from '../kube/rbac.ts'
import type { UserInfo } from '../kube/user.ts'
import type { AuthzDecision } from './authz.ts'

interface IndexedSubject {
  readonly list: 'users' | 'groups'
  /** User name or group name; a service account is its user name. */
  readonly key: string
  /** `Group "devs"`, `ServiceAccount "name/namespace"` */
  readonly text: string
}

export interface IndexedBinding {
  /** '' = ClusterRoleBinding. */
  readonly namespace: string
  readonly name: string
  readonly roleKind: string
  readonly roleName: string
  readonly subjects: readonly IndexedSubject[]
}

/** Subjects of an unknown kind are left out: they match no user. */
export function indexedBinding(namespace: string, name: string, binding: Binding): IndexedBinding {
  const subjects: IndexedSubject[] = []
  for (const s of binding.subjects ?? []) {
    if (s.kind === 'User') subjects.push({ list: 'users', key: s.name, text: `User ${quote(s.name)}` })
    else if (s.kind === 'Group') subjects.push({ list: 'groups', key: s.name, text: `Group ${quote(s.name)}` })
    else if (s.kind === 'ServiceAccount') {
      const home = s.namespace || namespace
      if (home === '') continue
      const key = `system:serviceaccount:${home}:${s.name}`
      subjects.push({ list: 'users', key, text: `ServiceAccount ${quote(`${s.name}/${home}`)}` })
    }
  }
  return { namespace, name, roleKind: binding.roleRef.kind, roleName: binding.roleRef.name, subjects }
}

/** What a binding allows. Most answers never say why; the words are made when read, by the audit log above all. */
export class AllowedByBinding implements AuthzDecision {
  readonly allowed = true
  readonly #binding: IndexedBinding
  readonly #user: UserInfo

  constructor(binding: IndexedBinding, user: UserInfo) {
    this.#binding = binding
    this.#user = user
  }

  get reason(): string {
    return allowedReason(this.#binding, this.#user)
  }
}

/** Why a request was allowed, in upstream's words. */
function allowedReason(binding: IndexedBinding, user: UserInfo): string {
  // There is one: by it the binding was found.
  const { text } = binding.subjects.find((s) =>
    s.list === 'users' ? s.key === user.username : user.groups.includes(s.key),
  ) as IndexedSubject
  const role = `${binding.roleKind} ${quote(binding.roleName)} to ${text}`
  return binding.namespace === ''
    ? `RBAC: allowed by ClusterRoleBinding ${quote(binding.name)} of ${role}`
    : `RBAC: allowed by RoleBinding ${quote(`${binding.name}/${binding.namespace}`)} of ${role}`
}

export class BindingIndex {
  readonly #users = new Map<string, IndexedBinding[]>()
  readonly #groups = new Map<string, IndexedBinding[]>()

  add(binding: IndexedBinding): void {
    for (const subject of binding.subjects) {
      const map = this.#mapOf(subject)
      const list = map.get(subject.key)
      if (!list) map.set(subject.key, [binding])
      else insert(list, binding)
    }
  }

  remove(binding: IndexedBinding): void {
    for (const subject of binding.subjects) {
      const map = this.#mapOf(subject)
      const list = map.get(subject.key)
      const at = list ? position(list, binding.name) : -1
      if (!list || list[at] !== binding) continue
      list.splice(at, 1)
      if (list.length === 0) map.delete(subject.key)
    }
  }

  /** The first binding of the user that `accept` takes: those of the user itself, then group by group, each by name. */
  find(user: UserInfo, accept: (binding: IndexedBinding) => boolean): IndexedBinding | undefined {
    const own = this.#users.get(user.username)?.find(accept)
    if (own) return own
    for (const group of user.groups) {
      const found = this.#groups.get(group)?.find(accept)
      if (found) return found
    }
    return undefined
  }

  #mapOf(subject: IndexedSubject): Map<string, IndexedBinding[]> {
    return subject.list === 'users' ? this.#users : this.#groups
  }
}

/** Where the name is, or would be. */
function position(list: readonly IndexedBinding[], name: string): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((list[middle] as IndexedBinding).name < name) low = middle + 1
    else high = middle
  }
  return low
}

/** One entry per binding, also where it names the subject twice. */
function insert(list: IndexedBinding[], binding: IndexedBinding): void {
  const at = position(list, binding.name)
  if (list[at] !== binding) list.splice(at, 0, binding)
}
