/**
 * Policies and bindings, following the store: in force when their write is acknowledged. Which policies an operation on
 * a resource concerns is remembered. Expressions are compiled when the first such request comes.
 */
import type { Operation } from '../../admission/admission.ts'
import type { ResourceType, ResourceTypes } from '../../kube/resource-type.ts'
import type { Lister } from '../../registry/registry.ts'
import { isExempt, kindOf, type SeenAs } from '../webhooks/hook-index.ts'
import { RememberedMatches } from '../webhooks/remembered-matches.ts'
import { ResourceMatcher } from './match.ts'
import type { Policy, PolicyBinding } from './types.ts'

export interface BoundPolicy {
  readonly binding: PolicyBinding
  /** Undefined = it wants whatever the policy wants. */
  readonly matcher: ResourceMatcher | undefined
}

/** `C` is what its expressions are compiled to. */
export class PolicyInForce<P extends Policy, C> {
  readonly policy: P
  readonly matcher: ResourceMatcher
  readonly #compile: (policy: P) => C
  #compiled: { readonly of: C } | undefined

  constructor(policy: P, compile: (policy: P) => C) {
    this.policy = policy
    this.matcher = new ResourceMatcher(policy.spec?.matchConstraints ?? {})
    this.#compile = compile
  }

  get name(): string {
    return this.policy.metadata.name ?? ''
  }

  get compiled(): C {
    this.#compiled ??= { of: this.#compile(this.policy) }
    return this.#compiled.of
  }
}

export interface Concerned<P extends Policy, C> {
  readonly policy: PolicyInForce<P, C>
  readonly bindings: readonly BoundPolicy[]
  readonly seenAs: SeenAs
}

export interface PolicyIndexDeps<P extends Policy, C> {
  readonly lister: Lister
  readonly types: ResourceTypes
  readonly policyType: ResourceType<P>
  readonly bindingType: ResourceType<PolicyBinding>
  compile(policy: P): C
  /** One in the store makes no sense; the others are in force. */
  onFault(name: string, error: unknown): void
}

const none: readonly never[] = []

export class PolicyIndex<P extends Policy, C> {
  readonly #deps: PolicyIndexDeps<P, C>
  readonly #policies = new Map<string, PolicyInForce<P, C>>()
  readonly #bindings = new Map<string, BoundPolicy>()
  readonly #found = new RememberedMatches<Concerned<P, C>>((operation, type, subresource) =>
    this.#match(operation, type, subresource),
  )
  readonly #listeners: (() => void)[] = []
  #started = false

  constructor(deps: PolicyIndexDeps<P, C>) {
    this.#deps = deps
    const { lister, policyType, bindingType } = deps
    lister.subscribe(policyType, (next, old) =>
      this.#changed(this.#policies, next?.name ?? old?.name ?? '', () =>
        next ? new PolicyInForce(next.object, (policy: P) => deps.compile(policy)) : undefined,
      ),
    )
    lister.subscribe(bindingType, (next, old) =>
      this.#changed(this.#bindings, next?.name ?? old?.name ?? '', () => {
        if (!next) return undefined
        const binding = next.object
        const match = binding.spec?.matchResources
        return { binding, matcher: match ? new ResourceMatcher(match) : undefined }
      }),
    )
    deps.types.onChange(() => this.#forget())
  }

  /** From now on policies are asked. What the server must write before it serves clients does not depend on them. */
  start(): void {
    this.#started = true
    this.#forget()
  }

  /** Called when `matching` may answer something else from now on. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  matching(operation: Operation, type: ResourceType, subresource: string): readonly Concerned<P, C>[] {
    if (this.#bindings.size === 0 || this.#policies.size === 0 || !this.#started) return none
    return this.#found.of(operation, type, subresource)
  }

  #changed<T>(map: Map<string, T>, name: string, make: () => T | undefined): void {
    map.delete(name)
    try {
      const made = make()
      if (made !== undefined) map.set(name, made)
    } catch (error) {
      this.#deps.onFault(name, error)
    }
    this.#forget()
  }

  #forget(): void {
    this.#found.forget()
    for (const listener of this.#listeners) listener()
  }

  #match(operation: Operation, type: ResourceType, subresource: string): readonly Concerned<P, C>[] {
    const kind = kindOf(type, subresource)
    if (kind === undefined || isExempt(type)) return none
    // What is written through a sub-resource of another kind (a binding, an eviction) is asked about when it is sent.
    if (operation === 'UPDATE' && kind.kind !== type.kind && subresource !== 'scale') return none
    const { types } = this.#deps
    const concerned: Concerned<P, C>[] = []
    for (const name of [...this.#policies.keys()].sort()) {
      const policy = this.#policies.get(name)
      const seenAs = policy?.matcher.seenAs(operation, type, subresource, types)
      if (!policy || !seenAs) continue
      const bindings = [...this.#bindings.keys()]
        .sort()
        .flatMap((key) => this.#bindings.get(key) ?? [])
        .filter(({ binding }) => binding.spec?.policyName === name)
      if (bindings.length > 0) concerned.push({ policy, bindings, seenAs })
    }
    return concerned.length === 0 ? none : concerned
  }
}
