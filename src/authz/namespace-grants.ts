/**
 * Who may get which namespace: what the bindings and roles of RBAC come to for that one question, kept as they change,
 * and what creators may get while it initializes. It gives the same answers as the authorizers for `get namespaces/x`,
 * from the other side: not 'may this user', but 'which ones'.
 *
 * A binding costs its subjects when it changes; a role costs the bindings that refer to it, and only if what it says
 * about namespaces changed. What a terminating namespace's bindings gave is kept until the namespace is gone, as in
 * `DeletedNamespaceRights`: its owner sees it go.
 */
import { append } from '../base/append.ts'
import type { Clock } from '../base/clock.ts'
import type { NameView } from '../kube/name-view.ts'
import type { UserInfo } from '../kube/user.ts'
import type { IndexedBinding } from './binding-index.ts'
import { type Grant, type GrantHistoryLimits, GrantIndex, groupSubject, userSubject } from './grant-index.ts'
import type { RbacObserver, RoleAddress } from './rbac-authorizer.ts'
import type { CompiledRules } from './rbac-rules.ts'

/** Which namespaces a role lets its holder get; undefined = every one. */
type Readable = ReadonlySet<string> | undefined

type RulesOf = (binding: IndexedBinding) => CompiledRules | undefined

interface BoundRole {
  readable: Readable
  /** Each binding that refers to the role, with what it gives now. */
  readonly given: Map<IndexedBinding, readonly Grant[]>
}

const none: ReadonlySet<string> = new Set()

export class NamespaceGrants implements RbacObserver {
  readonly #grants: GrantIndex
  /** Those that bindings refer to, also where the role itself is missing. */
  readonly #roles = new Map<string, BoundRole>()
  /** By namespace, what removed bindings of a terminating one still give. */
  readonly #kept = new Map<string, Grant[]>()
  /** Namespaces that are gone and whose kept grants are to be taken back: at the next change, for watches are
   * told of the removal after this is. */
  #gone: { readonly namespace: string; readonly revision: number }[] = []

  constructor(clock: Clock, limits: GrantHistoryLimits) {
    this.#grants = new GrantIndex(clock, limits)
  }

  /** What this user may get of the namespaces, now and as it changes. */
  viewOf(user: UserInfo): NameView {
    return this.#grants.viewOf(user)
  }

  loaded(): void {
    this.#grants.record()
  }

  onBinding(
    next: IndexedBinding | undefined,
    old: IndexedBinding | undefined,
    { keep, rulesOf, revision }: { keep: boolean; rulesOf: RulesOf; revision: number },
  ): void {
    this.#settle(revision)
    const gains = next ? this.#add(next, rulesOf) : []
    const losses = old ? this.#remove(old, keep) : []
    this.#grants.apply(gains, losses, revision)
  }

  onRole(
    { kind, namespace, name }: RoleAddress,
    { keep, rules, revision }: { keep: boolean; rules: () => CompiledRules | undefined; revision: number },
  ): void {
    this.#settle(revision)
    const role = this.#roles.get(roleKey(kind, namespace, name))
    if (!role) return
    const readable = readableBy(rules())
    if (same(readable, role.readable)) return
    role.readable = readable
    const gains: Grant[] = []
    const losses: Grant[] = []
    for (const [binding, given] of role.given) {
      if (keep) this.#keep(binding.namespace, given)
      else append(losses, given)
      const grants = grantsOf(binding, readable)
      role.given.set(binding, grants)
      append(gains, grants)
    }
    this.#grants.apply(gains, losses, revision)
  }

  /** Must come before watches of namespaces are told that it exists again. */
  onNamespace(name: string, exists: boolean, revision: number): void {
    this.#settle(revision)
    if (!exists) this.#gone.push({ namespace: name, revision })
  }

  /**
   * The user who may get a namespace without a binding: its creator, while it initializes; undefined = none. A grant
   * begins with its namespace. That of a removed one is kept until the next change, so that its creator is told of the
   * removal.
   */
  onCreator(
    namespace: string,
    next: string | undefined,
    old: string | undefined,
    { isGone, revision }: { readonly isGone: boolean; readonly revision: number },
  ): void {
    this.#settle(revision)
    if (next === old) return
    const grant = (creator: string | undefined): readonly Grant[] =>
      creator === undefined ? [] : [{ subject: userSubject(creator), name: namespace }]
    if (isGone) {
      this.#keep(namespace, grant(old))
      this.#gone.push({ namespace, revision })
      return
    }
    this.#grants.apply(grant(next), grant(old), revision)
  }

  #add(binding: IndexedBinding, rulesOf: RulesOf): readonly Grant[] {
    const key = roleOf(binding)
    let role = this.#roles.get(key)
    if (!role) {
      role = { readable: readableBy(rulesOf(binding)), given: new Map() }
      this.#roles.set(key, role)
    }
    const grants = grantsOf(binding, role.readable)
    role.given.set(binding, grants)
    return grants
  }

  #remove(binding: IndexedBinding, keep: boolean): readonly Grant[] {
    const key = roleOf(binding)
    // Both are there: of a binding is only told that it went after it was told that it came.
    const role = this.#roles.get(key) as BoundRole
    const given = role.given.get(binding) as readonly Grant[]
    role.given.delete(binding)
    if (role.given.size === 0) this.#roles.delete(key)
    if (!keep) return given
    this.#keep(binding.namespace, given)
    return []
  }

  #keep(namespace: string, given: readonly Grant[]): void {
    const kept = this.#kept.get(namespace)
    if (kept) append(kept, given)
    else this.#kept.set(namespace, [...given])
  }

  /** At the removal itself they are still needed. */
  #settle(revision: number): void {
    const gone = this.#gone.filter((entry) => entry.revision < revision)
    this.#gone = this.#gone.filter((entry) => entry.revision >= revision)
    for (const { namespace, revision: at } of gone) {
      const kept = this.#kept.get(namespace) ?? []
      this.#kept.delete(namespace)
      this.#grants.apply([], kept, at)
    }
  }
}

const roleKey = (kind: string, namespace: string, name: string): string => `${kind}/${namespace}/${name}`

const roleOf = ({ roleKind, roleName, namespace }: IndexedBinding): string =>
  roleKey(roleKind, roleKind === 'Role' ? namespace : '', roleName)

const readableBy = (rules: CompiledRules | undefined): Readable =>
  rules === undefined ? none : rules.objectsOf('get', '', 'namespaces')

function same(a: Readable, b: Readable): boolean {
  if (a === b) return true
  return a !== undefined && b !== undefined && a.size === b.size && [...a].every((name) => b.has(name))
}

function grantsOf(binding: IndexedBinding, readable: Readable): readonly Grant[] {
  const { namespace, subjects } = binding
  const names =
    namespace === ''
      ? readable === undefined
        ? ['']
        : [...readable]
      : readable === undefined || readable.has(namespace)
        ? [namespace]
        : []
  const keys = new Set(subjects.map((s) => (s.list === 'users' ? userSubject(s.key) : groupSubject(s.key))))
  return [...keys].flatMap((subject) => names.map((name) => ({ subject, name })))
}
