/**
 * One request on its way to the policies: which of them want it, through which bindings, with which parameters. What
 * the object looks like is the caller's: a mutating policy changes it, and those after it were selected by what was
 * sent.
 * @see k8s.io/apiserver/pkg/admission/plugin/policy/generic/policy_dispatcher.go v0.36
 */
import { type Attributes, NeedsStoredScope } from '../../admission/admission.ts'
import type { Slice, Turns } from '../../base/turns.ts'
import type { ResourceType, ResourceTypes } from '../../kube/resource-type.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import type { Lister } from '../../registry/registry.ts'
import { type NamespaceLookup, namespaceOf } from '../namespaces/lookup.ts'
import type { SeenAs } from '../webhooks/hook-index.ts'
import { ConfigurationFault, collectParams, paramTypeOf } from './params.ts'
import type { BoundPolicy, Concerned, PolicyInForce } from './policy-index.ts'
import type { Policy, PolicyBinding } from './types.ts'

export interface SelectionDeps {
  readonly lister: Lister
  readonly types: ResourceTypes
  readonly namespaces: NamespaceLookup
  /** Policies, bindings and parameters may be thousands. */
  readonly turns: Turns
}

/** A policy to be evaluated once. */
export interface Invocation<P extends Policy, C> {
  readonly policy: PolicyInForce<P, C>
  readonly binding: PolicyBinding
  readonly seenAs: SeenAs
  /** Undefined = evaluate without parameters. */
  readonly param: KubeObject | undefined
}

/** A policy, or one of its bindings, asks for what can't be. failurePolicy says what that means. */
export interface ConfigurationProblem<P extends Policy, C> {
  readonly policy: PolicyInForce<P, C>
  /** Undefined = it is the policy's, whatever the binding. */
  readonly binding: PolicyBinding | undefined
  readonly message: string
}

export interface Selected<P extends Policy, C> {
  readonly invocations: readonly Invocation<P, C>[]
  readonly problems: readonly ConfigurationProblem<P, C>[]
}

const nothing = { invocations: [], problems: [] } as const

export class PolicyRequest {
  readonly #deps: SelectionDeps
  readonly #a: Attributes
  #namespace: Promise<KubeObject | undefined> | undefined
  #slice: Slice | undefined

  constructor(deps: SelectionDeps, a: Attributes) {
    this.#deps = deps
    this.#a = a
  }

  /** In the order of the bindings. @throws StatusError */
  async select<P extends Policy, C>({ policy, bindings, seenAs: usual }: Concerned<P, C>): Promise<Selected<P, C>> {
    const { types, lister } = this.#deps
    const a = this.#a
    const { matcher } = policy
    const seenAs = matcher.hasNames ? matcher.seenAs(a.operation, a.type, a.subresource, types, a.name) : usual
    if (!seenAs || !matcher.selectsObject(a) || !matcher.selectsNamespace(await this.#labels())) return nothing
    const { paramKind } = policy.policy.spec ?? {}
    let paramType: ResourceType | undefined
    try {
      paramType = paramKind && paramTypeOf(paramKind, types)
    } catch (e) {
      return {
        invocations: [],
        problems: [{ policy, binding: undefined, message: `failed to configure policy: ${messageOf(e)}` }],
      }
    }
    // Its parameters may lie in the namespace.
    if (a.pendingScope?.mayWait && paramType?.namespaced) throw new NeedsStoredScope(policy.policy.metadata.name)
    const invocations: Invocation<P, C>[] = []
    const problems: ConfigurationProblem<P, C>[] = []
    for (const bound of bindings) {
      if (!(await this.#wants(bound))) continue
      const { binding } = bound
      try {
        const ref = binding.spec?.paramRef
        const params = paramType ? await collectParams(paramType, ref, a.namespace, lister, this.slice) : [undefined]
        for (const param of params) invocations.push({ policy, binding, seenAs, param })
      } catch (e) {
        problems.push({ policy, binding, message: `failed to configure binding: ${messageOf(e)}` })
      }
    }
    return { invocations, problems }
  }

  /** Of all that is done for this request: policies, bindings and parameters. */
  get slice(): Slice {
    this.#slice ??= this.#deps.turns.slice()
    return this.#slice
  }

  /** As expressions see it; undefined for what is in no namespace, or is one. @throws StatusError NotFound */
  async namespaceObject(): Promise<JsonObject | undefined> {
    return isNamespace(this.#a) ? undefined : shownNamespace(await this.#namespaceOf())
  }

  async #wants({ matcher }: BoundPolicy): Promise<boolean> {
    if (!matcher) return true
    const a = this.#a
    if (!matcher.selectsObject(a) || !matcher.selectsNamespace(await this.#labels())) return false
    return matcher.seenAs(a.operation, a.type, a.subresource, this.#deps.types, a.name) !== undefined
  }

  #namespaceOf(): Promise<KubeObject | undefined> {
    this.#namespace ??= this.#findNamespace()
    return this.#namespace
  }

  async #findNamespace(): Promise<KubeObject | undefined> {
    const { namespaces } = this.#deps
    const { namespace } = this.#a
    if (namespace === '') return undefined
    const found = namespaceOf(namespaces, this.#a)
    if (found) return found
    await namespaces.refresh()
    const after = namespaces.find(namespace)
    if (after) return after
    const details = { name: namespace, kind: 'namespaces' }
    throw new StatusError(`namespaces "${namespace}" not found`, { reason: 'NotFound', details })
  }

  /** Of the namespace the object is in, or of itself if it is one. Undefined = it is in none. */
  async #labels(): Promise<Readonly<Record<string, string>> | undefined> {
    const { namespace, object, operation } = this.#a
    const isWritten = isNamespace(this.#a) && (operation === 'CREATE' || operation === 'UPDATE')
    // One without a name yet goes by its labels too.
    if (isWritten) return object?.metadata.labels ?? {}
    return namespace === '' ? undefined : ((await this.#namespaceOf())?.metadata.labels ?? {})
  }
}

function messageOf(e: unknown): string {
  if (e instanceof ConfigurationFault) return e.message
  throw e
}

const isNamespace = ({ type }: Attributes): boolean => type.group === '' && type.resource === 'namespaces'

const shownMetadata = [
  'name',
  'generateName',
  'namespace',
  'labels',
  'annotations',
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'generation',
  'resourceVersion',
  'finalizers',
] as const

function shownNamespace(namespace: KubeObject | undefined): JsonObject | undefined {
  if (!namespace) return undefined
  const metadata: JsonObject = {}
  const given = namespace.metadata as unknown as JsonObject
  for (const key of shownMetadata) if (given[key] !== undefined) metadata[key] = given[key]
  const { spec, status } = namespace as unknown as JsonObject
  return { metadata, ...(spec === undefined ? {} : { spec }), ...(status === undefined ? {} : { status }) }
}
