/**
 * RBAC: decisions from an index that follows the store. It is fed by `RbacSource`, keeps no copy of what it does not
 * need, and compiles a role when it is first asked about.
 *
 * Invariants: a decision depends on the set of roles and bindings alone, not on the order in which they came; its cost
 * depends on the bindings that name the user or one of their groups, cluster-wide and in the namespace of the request.
 *
 * @see k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/rbac.go v1.36
 */
import { append } from '../base/append.ts'
import type { Clock } from '../base/clock.ts'
import { aggregate } from '../kube/aggregate.ts'
import { quote } from '../kube/go-quote.ts'
import type { Binding, Role } from '../kube/rbac.ts'
import type { UserInfo } from '../kube/user.ts'
import type { Authorizer, AuthzAttributes, AuthzDecision, RuleSet } from './authz.ts'
import { AllowedByBinding, BindingIndex, type IndexedBinding, indexedBinding } from './binding-index.ts'
import { DeletedNamespaceRights, type DeletedNamespaceRightsOptions } from './deleted-namespace-rights.ts'
import { isRead, namespaceOf, ruleTest } from './rbac-request.ts'
import { CompiledRules } from './rbac-rules.ts'
import type { RbacObject, RbacSource } from './rbac-source.ts'

/** The bindings of one scope, by name and by subject, and its roles, compiled on first use. */
class Scope {
  readonly index: BindingIndex = new BindingIndex()
  readonly bindings: Map<string, IndexedBinding> = new Map()
  readonly #roles = new Map<string, RbacObject | CompiledRules>()

  get empty(): boolean {
    return this.bindings.size === 0 && this.#roles.size === 0
  }

  setBinding(name: string, next: IndexedBinding | undefined): void {
    const old = this.bindings.get(name)
    if (old) this.index.remove(old)
    if (next) {
      this.bindings.set(name, next)
      this.index.add(next)
    } else this.bindings.delete(name)
  }

  setRole(name: string, next: RbacObject | undefined): void {
    if (next) this.#roles.set(name, next)
    else this.#roles.delete(name)
  }

  findRules(name: string): CompiledRules | undefined {
    const role = this.#roles.get(name)
    if (role === undefined || role instanceof CompiledRules) return role
    const rules = new CompiledRules((role.object as Role).rules ?? [])
    this.#roles.set(name, rules)
    return rules
  }
}

export interface RoleAddress {
  readonly kind: 'ClusterRole' | 'Role'
  /** '' for a ClusterRole. */
  readonly namespace: string
  readonly name: string
}

/**
 * Who must know how rights change. Called inside each change, in the order of the store, first for all that exists.
 * `keep`: what was removed stays in force for reads of its namespace, which is terminating, until that is gone.
 */
export interface RbacObserver {
  onBinding(
    next: IndexedBinding | undefined,
    old: IndexedBinding | undefined,
    change: {
      readonly keep: boolean
      /** Of the role that `next` refers to. */
      readonly rules: () => CompiledRules | undefined
      readonly revision: number
    },
  ): void
  onRole(
    address: RoleAddress,
    change: {
      readonly keep: boolean
      /** undefined = the role was removed. */
      readonly rules: () => CompiledRules | undefined
      readonly revision: number
    },
  ): void
  onNamespace(name: string, exists: boolean, revision: number): void
  /** What existed has been told; what follows are changes. */
  loaded(): void
}

export interface RbacOptions extends DeletedNamespaceRightsOptions {
  readonly observer?: RbacObserver
}

export class RbacAuthorizer implements Authorizer, Disposable {
  readonly #source: RbacSource
  readonly #observer: RbacObserver | undefined
  readonly #cluster = new Scope()
  readonly #namespaces = new Map<string, Scope>()
  readonly #deletedNamespaces: DeletedNamespaceRights
  readonly #unsubscribe: readonly (() => void)[]
  #examined = 0

  constructor(source: RbacSource, clock: Clock, options: RbacOptions = {}) {
    this.#source = source
    this.#observer = options.observer
    this.#deletedNamespaces = new DeletedNamespaceRights(clock, options)
    this.#unsubscribe = [
      source.subscribe('ClusterRole', (next, old, revision) => this.#onClusterRole(next, old, revision)),
      source.subscribe('ClusterRoleBinding', (next, old, revision) => this.#onClusterBinding(next, old, revision)),
      source.subscribe('Role', (next, old, revision) => this.#onRole(next, old, revision)),
      source.subscribe('RoleBinding', (next, old, revision) => this.#onRoleBinding(next, old, revision)),
      source.subscribe('Namespace', (next, old, revision) => {
        if (!next && old) this.#deletedNamespaces.gone(old.name)
        else if (next && !old) this.#deletedNamespaces.forget(next.name)
        if (!next || !old) this.#observer?.onNamespace(nameOf(next, old), next !== undefined, revision)
      }),
    ]
    this.#observer?.loaded()
  }

  /** How many bindings all checks so far have looked at: the measure of the work done. */
  get examinedBindings(): number {
    return this.#examined
  }

  authorize(attributes: AuthzAttributes): AuthzDecision {
    const { user } = attributes
    let failures: Set<string> | undefined
    const accepts = ruleTest(attributes)
    const namespace = namespaceOf(attributes)
    const grants = (binding: IndexedBinding): boolean => {
      this.#examined++
      const rules = this.#rulesOf(binding)
      if (rules) return accepts(rules)
      failures ??= new Set()
      failures.add(missingRole(binding))
      return false
    }
    const granted = this.#cluster.index.find(user, grants) ?? this.#namespaces.get(namespace)?.index.find(user, grants)
    if (granted) return new AllowedByBinding(granted, user)
    if (attributes.path === undefined && isRead(attributes.verb) && namespace !== '') {
      const own = attributes.resource === 'namespaces' && attributes.group === '' && attributes.name === namespace
      if (this.#deletedNamespaces.allows(namespace, user, own, accepts)) {
        return {
          allowed: true,
          reason: `RBAC: allowed by rights held when namespace ${quote(namespace)} was deleted`,
        }
      }
    }
    return { allowed: false, reason: failures ? `RBAC: ${aggregate([...failures])}` : '' }
  }

  rulesFor(user: UserInfo, namespace: string): RuleSet {
    const bindings = new Set<IndexedBinding>()
    const collect = (binding: IndexedBinding): boolean => {
      bindings.add(binding)
      return false
    }
    this.#cluster.index.find(user, collect)
    if (namespace !== '') this.#namespaces.get(namespace)?.index.find(user, collect)
    const resourceRules: RuleSet['resourceRules'][number][] = []
    const nonResourceRules: RuleSet['nonResourceRules'][number][] = []
    const failures = new Set<string>()
    for (const binding of bindings) {
      const rules = this.#rulesOf(binding)
      if (!rules) {
        failures.add(missingRole(binding))
        continue
      }
      append(resourceRules, rules.resourceRules)
      // Through a RoleBinding these give nothing, but who holds them may pass the whole role on inside the namespace.
      append(nonResourceRules, rules.nonResourceRules)
    }
    return {
      resourceRules,
      nonResourceRules,
      incomplete: false,
      ...(failures.size > 0 ? { evaluationError: aggregate([...failures]) } : {}),
    }
  }

  [Symbol.dispose](): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    this.#deletedNamespaces[Symbol.dispose]()
  }

  #rulesOf(binding: IndexedBinding): CompiledRules | undefined {
    if (binding.roleKind === 'ClusterRole') return this.#cluster.findRules(binding.roleName)
    if (binding.roleKind !== 'Role') return undefined
    return this.#namespaces.get(binding.namespace)?.findRules(binding.roleName)
  }

  #onClusterRole(next: RbacObject | undefined, old: RbacObject | undefined, revision: number): void {
    const name = nameOf(next, old)
    this.#cluster.setRole(name, next)
    const rules = (): CompiledRules | undefined => this.#cluster.findRules(name)
    this.#observer?.onRole({ kind: 'ClusterRole', namespace: '', name }, { keep: false, rules, revision })
  }

  #onClusterBinding(next: RbacObject | undefined, old: RbacObject | undefined, revision: number): void {
    const name = nameOf(next, old)
    const before = this.#cluster.bindings.get(name)
    const binding = next && indexedBinding('', name, next.object as Binding)
    this.#cluster.setBinding(name, binding)
    this.#tellBinding(binding, before, false, revision)
  }

  #onRole(next: RbacObject | undefined, old: RbacObject | undefined, revision: number): void {
    const address = next ?? old
    if (!address) return
    const { namespace, name } = address
    const scope = this.#scope(namespace)
    const keep = !next && this.#isTerminating(namespace)
    if (keep) {
      const rules = scope.findRules(name)
      for (const binding of scope.bindings.values()) {
        if (rules && binding.roleKind === 'Role' && binding.roleName === name) {
          this.#deletedNamespaces.retain(namespace, binding, rules)
        }
      }
    }
    scope.setRole(name, next)
    const rules = (): CompiledRules | undefined => scope.findRules(name)
    this.#observer?.onRole({ kind: 'Role', namespace, name }, { keep, rules, revision })
    this.#drop(namespace, scope)
  }

  #onRoleBinding(next: RbacObject | undefined, old: RbacObject | undefined, revision: number): void {
    const address = next ?? old
    if (!address) return
    const scope = this.#scope(address.namespace)
    const before = scope.bindings.get(address.name)
    const keep = !next && this.#isTerminating(address.namespace)
    if (keep) {
      const rules = before && this.#rulesOf(before)
      if (before && rules) this.#deletedNamespaces.retain(address.namespace, before, rules)
    }
    const binding = next && indexedBinding(next.namespace, next.name, next.object as Binding)
    scope.setBinding(address.name, binding)
    this.#tellBinding(binding, before, keep, revision)
    this.#drop(address.namespace, scope)
  }

  #tellBinding(
    next: IndexedBinding | undefined,
    old: IndexedBinding | undefined,
    keep: boolean,
    revision: number,
  ): void {
    this.#observer?.onBinding(next, old, { keep, rules: () => next && this.#rulesOf(next), revision })
  }

  #isTerminating(namespace: string): boolean {
    return this.#source.findNamespace(namespace)?.metadata.deletionTimestamp !== undefined
  }

  #scope(namespace: string): Scope {
    let scope = this.#namespaces.get(namespace)
    if (!scope) {
      scope = new Scope()
      this.#namespaces.set(namespace, scope)
    }
    return scope
  }

  #drop(namespace: string, scope: Scope): void {
    if (scope.empty) this.#namespaces.delete(namespace)
  }
}

const nameOf = (next: RbacObject | undefined, old: RbacObject | undefined): string => (next ?? old)?.name ?? ''

function missingRole(binding: IndexedBinding): string {
  if (binding.roleKind === 'ClusterRole' || binding.roleKind === 'Role') {
    return `${binding.roleKind.toLowerCase()}.rbac.authorization.k8s.io ${quote(binding.roleName)} not found`
  }
  return `unsupported role reference kind: ${quote(binding.roleKind)}`
}
