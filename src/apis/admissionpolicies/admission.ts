/**
 * ValidatingAdmissionPolicy: what its bindings refuse, warn of, or note in the audit log. All policies that want a request
 * are evaluated; of several refusals the client hears the first, policies and bindings by name.
 * @see k8s.io/apiserver/pkg/admission/plugin/policy/validating/dispatcher.go v0.36
 */
import type { AdmissionPlugin, Attributes } from '../../admission/admission.ts'
import type { AskPermission } from '../../kube/cel/library/authorizer.ts'
import type { PolicyResult } from '../../kube/cel/policy-expressions.ts'
import type { ResourceTypes } from '../../kube/resource-type.ts'
import { codeByReason, forbidden, StatusError, type StatusReason } from '../../kube/status-error.ts'
import type { JsonObject, JsonValue, KubeObject } from '../../kube/types.ts'
import type { Lister } from '../../registry/registry.ts'
import type { NamespaceLookup } from '../namespaces/lookup.ts'
import { admissionRequest, type Shown } from '../webhooks/review.ts'
import { type Convert, shownTo } from '../webhooks/shown-object.ts'
import { ConfigurationFault, collectParams, paramTypeOf } from './params.ts'
import type { BoundPolicy, Concerned, PolicyIndex, PolicyInForce } from './policy-index.ts'
import type { PolicyBinding } from './types.ts'

export interface PolicyDeps {
  readonly index: PolicyIndex
  readonly lister: Lister
  readonly types: ResourceTypes
  readonly namespaces: NamespaceLookup
  readonly convert: Convert
  readonly ask: AskPermission
}

interface Denial {
  readonly policy: string
  readonly binding: string | undefined
  readonly message: string
  readonly reason?: string
}

interface AuditedFailure {
  readonly message: string
  readonly policy: string
  readonly binding: string
  readonly expressionIndex: number
  readonly validationActions: readonly string[]
}

const maxAnnotationCharacters = 10 * 1024
const maxAuditedFailures = 50
const failureAnnotation = 'validation.policy.admission.k8s.io/validation_failure'

export function validatingPolicies(deps: PolicyDeps): AdmissionPlugin {
  return {
    name: 'ValidatingAdmissionPolicy',
    handles: (operation, type, subresource) => deps.index.matching(operation, type, subresource).length > 0,
    async validate(a) {
      const round = new Round(deps, a)
      for (const concerned of deps.index.matching(a.operation, a.type, a.subresource)) await round.ask(concerned)
      round.conclude()
    },
  }
}

/** One request on its way through all policies. */
class Round {
  readonly #deps: PolicyDeps
  readonly #a: Attributes
  readonly #denials: Denial[] = []
  readonly #audited: AuditedFailure[] = []
  #namespace: Promise<KubeObject | undefined> | undefined

  constructor(deps: PolicyDeps, a: Attributes) {
    this.#deps = deps
    this.#a = a
  }

  async ask({ policy, bindings, seenAs: usual }: Concerned): Promise<void> {
    const { types } = this.#deps
    const a = this.#a
    const { matcher } = policy
    const seenAs = matcher.hasNames ? matcher.seenAs(a.operation, a.type, a.subresource, types, a.name) : usual
    if (!seenAs || !matcher.selectsObject(a) || !matcher.selectsNamespace(await this.#labels())) return
    const annotations = new Map<string, string[]>()
    let shown: Shown | undefined
    for (const bound of bindings) {
      if (!(await this.#wants(bound))) continue
      await this.#configured(policy, bound.binding, async () => {
        const params = this.#params(policy, bound.binding)
        if (params.length === 0) return
        shown ??= await shownTo(seenAs, a, this.#deps.convert)
        const request = admissionRequest('', a, seenAs, shown) as JsonObject
        const namespaceObject = isNamespace(a) ? undefined : shownNamespace(await this.#namespaceOf())
        for (const param of params) {
          const result = policy.compiled.evaluate({
            object: shown.object as unknown as JsonValue | undefined,
            oldObject: shown.oldObject as unknown as JsonValue | undefined,
            request,
            namespaceObject,
            params: param as unknown as JsonObject | undefined,
            user: a.user,
            ask: this.#deps.ask,
          })
          this.#take(policy.name, bound.binding, result, annotations)
        }
      })
    }
    for (const [key, values] of annotations) a.annotate(`${policy.name}/${key}`, values.join(', '))
  }

  async #wants({ matcher }: BoundPolicy): Promise<boolean> {
    if (!matcher) return true
    const a = this.#a
    if (!matcher.selectsObject(a) || !matcher.selectsNamespace(await this.#labels())) return false
    return matcher.seenAs(a.operation, a.type, a.subresource, this.#deps.types, a.name) !== undefined
  }

  #params(policy: PolicyInForce, binding: PolicyBinding): readonly (KubeObject | undefined)[] {
    const kind = policy.policy.spec?.paramKind
    if (!kind) return [undefined]
    let type: ReturnType<typeof paramTypeOf>
    try {
      type = paramTypeOf(kind, this.#deps.types)
    } catch (e) {
      if (e instanceof ConfigurationFault) throw new PolicyFault(e.message, { cause: e })
      throw e
    }
    return collectParams(type, binding.spec?.paramRef, this.#a.namespace, this.#deps.lister)
  }

  async #configured(policy: PolicyInForce, binding: PolicyBinding, run: () => Promise<void>): Promise<void> {
    try {
      await run()
    } catch (e) {
      const ofPolicy = e instanceof PolicyFault
      if (!ofPolicy && !(e instanceof ConfigurationFault)) throw e
      if (policy.policy.spec?.failurePolicy === 'Ignore') return
      this.#denials.push({
        policy: policy.name,
        binding: ofPolicy ? undefined : binding.metadata.name,
        message: `failed to configure ${ofPolicy ? 'policy' : 'binding'}: ${e.message}`,
      })
    }
  }

  #take(
    policy: string,
    { metadata, spec }: PolicyBinding,
    result: PolicyResult,
    annotations: Map<string, string[]>,
  ): void {
    const binding = metadata.name ?? ''
    const actions = spec?.validationActions ?? []
    for (const [expressionIndex, decision] of result.decisions.entries()) {
      if (decision.action === 'Admit') continue
      const { message, reason } = decision
      for (const action of actions) {
        if (action === 'Deny') this.#denials.push({ policy, binding, message, ...(reason ? { reason } : {}) })
        else if (action === 'Audit') {
          this.#audited.push({ message, policy, binding, expressionIndex, validationActions: actions })
        } else {
          this.#a.warn(
            `Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${binding}': ${message}`,
          )
        }
      }
    }
    for (const { key, value } of result.annotations) {
      const values = annotations.get(key) ?? []
      const kept = value.slice(0, maxAnnotationCharacters)
      if (!values.includes(kept)) annotations.set(key, [...values, kept])
    }
    for (const message of result.annotationErrors) this.#denials.push({ policy, binding, message })
  }

  /** @throws StatusError if something was denied */
  conclude(): void {
    if (this.#audited.length > 0) {
      this.#a.annotate(failureAnnotation, JSON.stringify(this.#audited.slice(0, maxAuditedFailures)))
    }
    const [first] = this.#denials
    if (first) throw refusal(this.#a, first)
  }

  #namespaceOf(): Promise<KubeObject | undefined> {
    this.#namespace ??= this.#findNamespace()
    return this.#namespace
  }

  async #findNamespace(): Promise<KubeObject | undefined> {
    const { namespaces } = this.#deps
    const { namespace } = this.#a
    if (namespace === '') return undefined
    const found = namespaces.find(namespace)
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
    if (namespace === '') return undefined
    const isWritten = isNamespace(this.#a) && (operation === 'CREATE' || operation === 'UPDATE')
    const of = isWritten ? object : await this.#namespaceOf()
    return of?.metadata.labels ?? {}
  }
}

/** The policy itself asks for what can't be, whatever the binding. */
class PolicyFault extends Error {
  override readonly name = 'PolicyFault'
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

function refusal(a: Attributes, { policy, binding, message, reason = 'Invalid' }: Denial): StatusError {
  const bound = binding === undefined ? '' : ` with binding '${binding}'`
  const text = `ValidatingAdmissionPolicy '${policy}'${bound} denied request: ${message}`
  const like = forbidden(a.type, a.name, text, [{ message: text }])
  return new StatusError(like.message, {
    reason: reason as StatusReason,
    code: codeByReason[reason as StatusReason] ?? codeByReason.Invalid,
    ...(like.details ? { details: like.details } : {}),
  })
}
