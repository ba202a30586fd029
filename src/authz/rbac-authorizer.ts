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
import type { Binding } from '../kube/rbac.ts'
import type { UserInfo } from '../kube/user.ts'
import type { Authorizer, AuthzAttributes, AuthzDecision, RuleSet } from './authz.ts'
import { AllowedByBinding, type IndexedBinding, indexedBinding } from './binding-index.ts'
import { DeletedNamespaceRights, type DeletedNamespaceRightsOptions } from './deleted-namespace-rights.ts'
import { isRead, namespaceOf, ruleTest } from './rbac-request.ts'
import type { CompiledRules } from './rbac-rules.ts'
import { AllScopes, type NamespaceScopes, RecentScopes, Scope } from './rbac-scope.ts'
import type { RbacObject, RbacSource } from './rbac-source.ts'

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
      /** Of the role that a binding refers to. */
      readonly rulesOf: (binding: IndexedBinding) => CompiledRules | undefined
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
  /** Of how many namespaces the roles and bindings are kept ready, where the source can be asked for others. */
  readonly recentNamespaces?: number
}

/** About 1 KiB each. */
const defaultRecentNamespaces = 20_000

export class RbacAuthorizer implements Authorizer, Disposable {
  readonly #source: RbacSource
  readonly #observer: RbacObserver | undefined
  readonly #cluster = new Scope()
  readonly #namespaces: NamespaceScopes
  readonly #deletedNamespaces: DeletedNamespaceRights
  readonly #unsubscribe: readonly (() => void)[]
  #examined = 0

  constructor(source: RbacSource, clock: Clock, options: RbacOptions = {}) {
    this.#source = source
    this.#observer = options.observer
    this.#deletedNamespaces = new DeletedNamespaceRights(clock, options)
    // An observer is told of everything that exists.
    const inNamespaces = options.observer === undefined ? source.inNamespaces : undefined
    const { recentNamespaces = defaultRecentNamespaces } = options
    this.#namespaces = inNamespaces === undefined ? new AllScopes() : new RecentScopes(inNamespaces, recentNamespaces)
    const follow = inNamespaces?.follow ?? source.subscribe
    this.#unsubscribe = [
      source.subscribe('ClusterRole', (next, old, revision) => this.#onClusterRole(next, old, revision)),
      source.subscribe('ClusterRoleBinding', (next, old, revision) => this.#onClusterBinding(next, old, revision)),
      follow.call(source, 'Role', (next, old, revision) => this.#onRole(next, old, revision)),
      follow.call(source, 'RoleBinding', (next, old, revision) => this.#onRoleBinding(next, old, revision)),
      follow.call(source, 'Namespace', (next, old, revision) => {
        if (!next && old) this.#deletedNamespaces.gone(old.name)
        else if (next && !old) this.#deletedNamespaces.forget(next.name)
        if (!next || !old) this.#observer?.onNamespace(((next ?? old) as RbacObject).name, next !== undefined, revision)
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
    const granted = this.#cluster.index.find(user, grants) ?? this.#namespaces.find(namespace)?.index.find(user, grants)
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
    this.#namespaces.find(namespace)?.index.find(user, collect)
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
    return this.#namespaces.find(binding.namespace)?.findRules(binding.roleName)
  }

  #onClusterRole(next: RbacObject | undefined, old: RbacObject | undefined, revision: number): void {
    const { name } = (next ?? old) as RbacObject
    this.#cluster.setRole(name, next)
    const rules = (): CompiledRules | undefined => this.#cluster.findRules(name)
    this.#observer?.onRole({ kind: 'ClusterRole', namespace: '', name }, { keep: false, rules, revision })
  }

  #onClusterBinding(next: RbacObject | undefined, old: RbacObject | undefined, revision: number): void {
    const { name } = (next ?? old) as RbacObject
    const before = this.#cluster.bindings.get(name)
    const binding = next && indexedBinding('', name, next.object as Binding)
    this.#cluster.setBinding(name, binding)
    this.#tellBinding(binding, before, false, revision)
  }

  #onRole(next: RbacObject | undefined, old: RbacObject | undefined, revision: number): void {
    const { namespace, name } = (next ?? old) as RbacObject
    const keep = !next && this.#isTerminating(namespace)
    const scope = this.#scopeBefore(namespace, keep ? (known) => known.setRole(name, old) : undefined)
    if (scope === undefined) return
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
    this.#namespaces.changed(namespace, scope)
  }

  #onRoleBinding(next: RbacObject | undefined, old: RbacObject | undefined, revision: number): void {
    const { namespace, name } = (next ?? old) as RbacObject
    const keep = !next && this.#isTerminating(namespace)
    const scope = this.#scopeBefore(namespace, keep ? (known) => known.setBinding(name, indexed(old)) : undefined)
    if (scope === undefined) return
    const before = scope.bindings.get(name)
    if (keep && before) {
      const rules = this.#rulesOf(before)
      if (rules) this.#deletedNamespaces.retain(namespace, before, rules)
    }
    const binding = indexed(next)
    scope.setBinding(name, binding)
    this.#tellBinding(binding, before, keep, revision)
    this.#namespaces.changed(namespace, scope)
  }

  #tellBinding(
    next: IndexedBinding | undefined,
    old: IndexedBinding | undefined,
    keep: boolean,
    revision: number,
  ): void {
    this.#observer?.onBinding(next, old, { keep, rulesOf: (binding) => this.#rulesOf(binding), revision })
  }

  #isTerminating(namespace: string): boolean {
    return this.#source.findNamespace(namespace)?.metadata.deletionTimestamp !== undefined
  }

  /** As it was before what is told now. `restore`: the change matters even if the scope was not read yet. */
  #scopeBefore(namespace: string, restore: ((scope: Scope) => void) | undefined): Scope | undefined {
    const known = this.#namespaces.toChange(namespace)
    if (known !== undefined || restore === undefined) return known
    // What is read now lacks what was removed.
    const scope = this.#namespaces.find(namespace)
    if (scope !== undefined) restore(scope)
    return scope
  }
}

const indexed = (object: RbacObject | undefined): IndexedBinding | undefined =>
  object && indexedBinding(object.namespace, object.name, object.object as Binding)

function missingRole(binding: IndexedBinding): string {
  if (binding.roleKind === 'ClusterRole' || binding.roleKind === 'Role') {
    return `${binding.roleKind.toLowerCase()}.rbac.authorization.k8s.io ${quote(binding.roleName)} not found`
  }
  return `unsupported role reference kind: ${quote(binding.roleKind)}`
}
