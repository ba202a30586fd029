/** Roles and bindings by scope: the cluster, or one namespace. */
import { BoundedCache } from '../base/bounded-cache.ts'
import type { Binding, Role } from '../kube/rbac.ts'
import { BindingIndex, type IndexedBinding, indexedBinding } from './binding-index.ts'
import { CompiledRules } from './rbac-rules.ts'
import type { NamespacedRbac, RbacObject } from './rbac-source.ts'

/** The bindings of one scope, by name and by subject, and its roles, compiled on first use. */
export class Scope {
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

export interface NamespaceScopes {
  /** undefined = the namespace has neither roles nor bindings. */
  find(namespace: string): Scope | undefined
  /** The one to change when an object of the namespace changed; undefined = it will be read when it is asked for. */
  toChange(namespace: string): Scope | undefined
  /** After a change of it. */
  changed(namespace: string, scope: Scope): void
}

/** Of all namespaces, each told object by object. */
export class AllScopes implements NamespaceScopes {
  readonly #scopes = new Map<string, Scope>()

  find(namespace: string): Scope | undefined {
    return this.#scopes.get(namespace)
  }

  toChange(namespace: string): Scope {
    const scope = this.#scopes.get(namespace) ?? new Scope()
    this.#scopes.set(namespace, scope)
    return scope
  }

  changed(namespace: string, scope: Scope): void {
    if (scope.empty) this.#scopes.delete(namespace)
  }
}

/** Of a DNS label. */
const longestNamespace = 63

/** Of the namespaces that were asked about last; any other is read when it is asked about. */
export class RecentScopes implements NamespaceScopes {
  readonly #source: NamespacedRbac
  readonly #scopes: BoundedCache<string, Scope>

  constructor(source: NamespacedRbac, limit: number) {
    this.#source = source
    this.#scopes = new BoundedCache(limit)
  }

  find(namespace: string): Scope | undefined {
    // None of these: all namespaces, where no binding in one of them gives anything; and names that a client makes up,
    // which would be kept with what is asked of them.
    if (namespace === '' || namespace.length > longestNamespace) return undefined
    const known = this.#scopes.get(namespace)
    if (known !== undefined) return known
    const scope = new Scope()
    for (const role of this.#source.list('Role', namespace)) scope.setRole(role.name, role)
    for (const { name, object } of this.#source.list('RoleBinding', namespace)) {
      scope.setBinding(name, indexedBinding(namespace, name, object as Binding))
    }
    this.#scopes.set(namespace, scope)
    return scope
  }

  toChange(namespace: string): Scope | undefined {
    return this.#scopes.get(namespace)
  }

  changed(): void {}
}
