/**
 * Policies and bindings, following the store: in force when their write is acknowledged. Which policies an operation on a
 * resource concerns is remembered. Expressions are compiled when the first such request comes.
 */
import type { Operation } from '../../admission/admission.ts'
import { CompiledPolicy } from '../../kube/cel/policy-expressions.ts'
import type { ResourceType, ResourceTypes } from '../../kube/resource-type.ts'
import type { Lister } from '../../registry/registry.ts'
import { isExempt, type SeenAs } from '../webhooks/hook-index.ts'
import { RememberedMatches } from '../webhooks/remembered-matches.ts'
import { Matcher } from './match.ts'
import type { AdmissionPolicy, PolicyBinding } from './types.ts'

export interface BoundPolicy {
  readonly binding: PolicyBinding
  /** Undefined = it wants whatever the policy wants. */
  readonly matcher: Matcher | undefined
}

export class PolicyInForce {
  readonly policy: AdmissionPolicy
  readonly matcher: Matcher
  #compiled: CompiledPolicy | undefined

  constructor(policy: AdmissionPolicy) {
    this.policy = policy
    this.matcher = new Matcher(policy.spec?.matchConstraints ?? {})
  }

  get name(): string {
    return this.policy.metadata.name ?? ''
  }

  get compiled(): CompiledPolicy {
    const { spec = {} } = this.policy
    this.#compiled ??= new CompiledPolicy({
      hasParams: spec.paramKind !== undefined,
      failurePolicy: spec.failurePolicy ?? 'Fail',
      matchConditions: spec.matchConditions ?? [],
      variables: spec.variables ?? [],
      validations: spec.validations ?? [],
      auditAnnotations: spec.auditAnnotations ?? [],
    })
    return this.#compiled
  }
}

export interface Concerned {
  readonly policy: PolicyInForce
  readonly bindings: readonly BoundPolicy[]
  readonly seenAs: SeenAs
}

export interface PolicyIndexDeps {
  readonly lister: Lister
  readonly types: ResourceTypes
  readonly policyType: ResourceType
  readonly bindingType: ResourceType
  /** One in the store makes no sense; the others are in force. */
  onFault(name: string, error: unknown): void
}

const none: readonly Concerned[] = []

export class PolicyIndex {
  readonly #deps: PolicyIndexDeps
  readonly #policies = new Map<string, PolicyInForce>()
  readonly #bindings = new Map<string, BoundPolicy>()
  readonly #found = new RememberedMatches<Concerned>((operation, type, subresource) =>
    this.#match(operation, type, subresource),
  )
  #started = false

  constructor(deps: PolicyIndexDeps) {
    this.#deps = deps
    const { lister, policyType, bindingType } = deps
    lister.subscribe(policyType, (next, old) =>
      this.#changed(this.#policies, next?.name ?? old?.name ?? '', () =>
        next ? new PolicyInForce(next.object as AdmissionPolicy) : undefined,
      ),
    )
    lister.subscribe(bindingType, (next, old) =>
      this.#changed(this.#bindings, next?.name ?? old?.name ?? '', () => {
        if (!next) return undefined
        const binding = next.object as PolicyBinding
        const match = binding.spec?.matchResources
        return { binding, matcher: match ? new Matcher(match) : undefined }
      }),
    )
    deps.types.onChange(() => this.#found.forget())
  }

  /** From now on policies are asked. What the server must write before it can serve anybody does not depend on them. */
  start(): void {
    this.#started = true
  }

  matching(operation: Operation, type: ResourceType, subresource: string): readonly Concerned[] {
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
    this.#found.forget()
  }

  #match(operation: Operation, type: ResourceType, subresource: string): readonly Concerned[] {
    if (isExempt(type)) return none
    const { types } = this.#deps
    const concerned: Concerned[] = []
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
