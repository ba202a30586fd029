/**
 * ValidatingAdmissionPolicy: what its bindings refuse, warn of, or note in the audit log. All policies that want a
 * request are evaluated; of several refusals the client hears the first, policies and bindings by name.
 * @see k8s.io/apiserver/pkg/admission/plugin/policy/validating/dispatcher.go v0.36
 */
import type { AdmissionPlugin, Attributes } from '../../admission/admission.ts'
import type { Clock } from '../../base/clock.ts'
import type { ExpressionFault } from '../../cel/admission-expressions.ts'
import { type Evaluator, plainFacts } from '../../cel/evaluator.ts'
import type { AskPermission } from '../../cel/library/authorizer.ts'
import { CompiledPolicy, type Evaluated, type PolicyResult } from '../../cel/policy-expressions.ts'
import { codeByReason, forbidden, StatusError, type StatusReason } from '../../kube/status-error.ts'
import type { JsonObject, JsonValue } from '../../kube/types.ts'
import { admissionRequest, type Shown } from '../webhooks/review.ts'
import { type Convert, shownTo } from '../webhooks/shown-object.ts'
import type { Concerned, PolicyIndex } from './policy-index.ts'
import { PolicyRequest, type SelectionDeps } from './selection.ts'
import type { AdmissionPolicy, PolicyBinding } from './types.ts'

/** What became of one validation of one binding: once for each action that the binding asks for. */
export interface ObservedCheck {
  readonly policy: string
  readonly binding: string
  /** allow: it could not be judged, and failurePolicy lets it through. What is fine is not told. */
  readonly action: 'allow' | 'deny' | 'audit' | 'warn'
  /** Upstream takes what does not hold for an invalid expression, and so does this. */
  readonly outcome: ExpressionFault
  readonly durationMs: number
}

export interface PolicyDeps extends SelectionDeps {
  readonly clock: Clock
  observe(check: ObservedCheck): void
  readonly index: PolicyIndex<AdmissionPolicy, CompiledPolicy>
  readonly convert: Convert
  readonly ask: AskPermission
  readonly evaluator: Evaluator
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

export const compileValidating = ({ spec = {} }: AdmissionPolicy): CompiledPolicy =>
  new CompiledPolicy({
    hasParams: spec.paramKind !== undefined,
    failurePolicy: spec.failurePolicy ?? 'Fail',
    matchConditions: spec.matchConditions ?? [],
    variables: spec.variables ?? [],
    validations: spec.validations ?? [],
    auditAnnotations: spec.auditAnnotations ?? [],
  })

export function validatingPolicies(deps: PolicyDeps): AdmissionPlugin {
  return {
    name: 'ValidatingAdmissionPolicy',
    handles: (operation, type, subresource) => deps.index.matching(operation, type, subresource).length > 0,
    onHandlesChange: (listener) => deps.index.onChange(listener),
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
  readonly #request: PolicyRequest

  constructor(deps: PolicyDeps, a: Attributes) {
    this.#deps = deps
    this.#a = a
    this.#request = new PolicyRequest(deps, a)
  }

  async ask(concerned: Concerned<AdmissionPolicy, CompiledPolicy>): Promise<void> {
    const a = this.#a
    const { policy } = concerned
    const { invocations, problems } = await this.#request.select(concerned)
    for (const { binding, message } of problems) {
      if (policy.policy.spec?.failurePolicy === 'Ignore') continue
      this.#denials.push({ policy: policy.name, binding: binding?.metadata.name, message })
    }
    const annotations = new Map<string, string[]>()
    let shown: Shown | undefined
    let request: JsonObject | undefined
    for (const { binding, seenAs, param } of invocations) {
      const pause = this.#request.slice.pause()
      if (pause) await pause
      shown ??= await shownTo(seenAs, a, this.#deps.convert)
      request ??= admissionRequest('', a, seenAs, shown) as JsonObject
      const facts = {
        object: shown.object as unknown as JsonValue | undefined,
        oldObject: shown.oldObject as unknown as JsonValue | undefined,
        request,
        namespaceObject: await this.#request.namespaceObject(),
        params: param as unknown as JsonObject | undefined,
        user: a.user,
        ask: this.#deps.ask,
      }
      const { clock, evaluator } = this.#deps
      const result = await evaluator.run({
        name: 'policy',
        source: policy.compiled.source,
        input: () => plainFacts(facts),
        flow: a.user.username,
        ask: facts.ask,
        here: (allowance) => policy.compiled.evaluate(facts, () => clock.monotonic(), allowance),
      })
      this.#take(policy.name, binding, result, annotations)
    }
    for (const [key, values] of annotations) a.annotate(`${policy.name}/${key}`, values.join(', '))
  }

  #take(
    policy: string,
    { metadata, spec }: PolicyBinding,
    result: PolicyResult,
    annotations: Map<string, string[]>,
  ): void {
    const binding = metadata.name ?? ''
    const actions = spec?.validationActions ?? []
    const observe = (action: ObservedCheck['action'], { fault = 'invalid_error', durationMs }: Evaluated): void =>
      this.#deps.observe({ policy, binding, action, outcome: fault, durationMs })
    for (const [expressionIndex, decision] of result.decisions.entries()) {
      if (decision.action === 'Admit') {
        if (decision.fault !== undefined) observe('allow', decision)
        continue
      }
      const { message, reason } = decision
      for (const action of actions) {
        observe(action.toLowerCase() as ObservedCheck['action'], decision)
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
    for (const fault of result.annotationErrors) {
      observe('deny', fault)
      this.#denials.push({ policy, binding, message: fault.message })
    }
  }

  /** @throws StatusError if something was denied */
  conclude(): void {
    if (this.#audited.length > 0) {
      this.#a.annotate(failureAnnotation, JSON.stringify(this.#audited.slice(0, maxAuditedFailures)))
    }
    const [first] = this.#denials
    if (first) throw refusal(this.#a, first)
  }
}

function refusal(a: Attributes, { policy, binding, message, reason = 'Invalid' }: Denial): StatusError {
  const bound = binding === undefined ? '' : ` with binding '${binding}'`
  const text = `ValidatingAdmissionPolicy '${policy}'${bound} denied request: ${message}`
  // A deletion of a collection names no object, and upstream then says so in this word.
  const like = forbidden(a.type, a.ofCollection === true ? 'Unknown' : a.name, text, [{ message: text }])
  return new StatusError(like.message, {
    reason: reason as StatusReason,
    code: codeByReason[reason as StatusReason] ?? codeByReason.Invalid,
    ...(like.details ? { details: like.details } : {}),
  })
}
