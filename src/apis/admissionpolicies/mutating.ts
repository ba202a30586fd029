/**
 * MutatingAdmissionPolicy: one after the other, each sees what those before it made. Policies and bindings by name, the
 * parameters of a binding in their order; the mutations of a policy in the order of the policy.
 *
 * A change asks for a second round, in which policies with `reinvocationPolicy: IfNeeded` are evaluated again if
 * something changed since: by themselves, by another policy, by a webhook, by another plugin. What a policy does wrong
 * is a refusal if its failurePolicy is Fail; the client hears the first and finds all in the details.
 * @see k8s.io/apiserver/pkg/admission/plugin/policy/mutating/{dispatcher,reinvocationcontext}.go v0.36
 */
import type { AdmissionPlugin, Attributes, MutationRound } from '../../admission/admission.ts'
import { append } from '../../base/append.ts'
import type { Clock } from '../../base/clock.ts'
import type { AdmissionFacts, ExpressionFault } from '../../cel/admission-expressions.ts'
import { Budget } from '../../cel/budget.ts'
import { type Evaluator, plainFacts } from '../../cel/evaluator.ts'
import type { AskPermission } from '../../cel/library/authorizer.ts'
import { CompiledMutations } from '../../cel/mutation-expressions.ts'
import { aggregate } from '../../kube/aggregate.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { forbidden, StatusError } from '../../kube/status-error.ts'
import type { JsonObject, JsonValue, KubeObject } from '../../kube/types.ts'
import { unvalidated } from '../../kube/unvalidated.ts'
import { admissionRequest } from '../webhooks/review.ts'
import { asTree, type Convert, shownTo, takenFrom } from '../webhooks/shown-object.ts'
import { type ApplyMutationDeps, applyMutation, MutationFault } from './apply-mutation.ts'
import type { PolicyIndex } from './policy-index.ts'
import { type Invocation, PolicyRequest, type SelectionDeps } from './selection.ts'
import type { MutatingPolicy, PolicyBinding } from './types.ts'

/** One mutation, as it ended. */
export interface ObservedMutation {
  readonly policy: string
  readonly binding: string
  readonly outcome: ExpressionFault | 'no_error'
  readonly durationMs: number
}

export interface MutatingPolicyDeps extends SelectionDeps, ApplyMutationDeps {
  readonly index: PolicyIndex<MutatingPolicy, CompiledMutations>
  readonly clock: Clock
  readonly convert: Convert
  readonly ask: AskPermission
  readonly evaluator: Evaluator
  observe(mutation: ObservedMutation): void
}

const pluginName = 'MutatingAdmissionPolicy'

export const compileMutating = ({ spec = {} }: MutatingPolicy): CompiledMutations =>
  new CompiledMutations({
    hasParams: spec.paramKind !== undefined,
    matchConditions: spec.matchConditions ?? [],
    variables: spec.variables ?? [],
    mutations: (spec.mutations ?? []).map(({ patchType, applyConfiguration, jsonPatch }) => ({
      patchType,
      expression: (patchType === 'JSONPatch' ? jsonPatch : applyConfiguration)?.expression ?? '',
    })),
  })

export function mutatingPolicies(deps: MutatingPolicyDeps): AdmissionPlugin {
  return {
    name: pluginName,
    mayAskForSecond: true,
    // Of what is deleted nothing is left to change.
    handles: (operation, type, subresource) =>
      operation !== 'DELETE' && deps.index.matching(operation, type, subresource).length > 0,
    onHandlesChange: (listener) => deps.index.onChange(listener),
    mutate: async (a, round) => {
      const object = await new Run(deps, asTree(a), round).run()
      return object && unvalidated(object)
    },
  }
}

/** What the second round must know of the first. */
interface Rounds {
  /** As the policies left it. */
  output: KubeObject | undefined
  /** Evaluated, and to be evaluated again if something changes after them. */
  readonly willing: Set<string>
  /** To be evaluated in the second round. */
  readonly again: Set<string>
}

type MutatingInvocation = Invocation<MutatingPolicy, CompiledMutations>

interface Problem {
  readonly message: string
  readonly reason?: 'Invalid'
}

class Run {
  readonly #deps: MutatingPolicyDeps
  readonly #a: Attributes
  readonly #round: MutationRound
  readonly #rounds: Rounds
  readonly #request: PolicyRequest
  readonly #problems: Problem[] = []

  constructor(deps: MutatingPolicyDeps, a: Attributes, round: MutationRound) {
    this.#deps = deps
    this.#a = a
    this.#round = round
    this.#rounds = round.memory(pluginName, (): Rounds => ({ output: undefined, willing: new Set(), again: new Set() }))
    this.#request = new PolicyRequest(deps, a)
  }

  /** @throws StatusError */
  async run(): Promise<KubeObject | undefined> {
    const rounds = this.#rounds
    const given = this.#a.object
    if (this.#round.isSecond && !jsonEqual(rounds.output, given)) this.#callAgain()
    let object = given
    for (const invocation of await this.#select()) {
      const pause = this.#request.slice.pause()
      if (pause) await pause
      object = await this.#invoke(invocation, object)
    }
    // What changed the object last is evaluated again as well.
    if (object !== given) this.#callAgain()
    this.#conclude()
    rounds.output = object
    return object
  }

  /** All that want the object as it came: what one of them makes of it does not change who is asked. */
  async #select(): Promise<readonly MutatingInvocation[]> {
    const { operation, type, subresource } = this.#a
    const selected: MutatingInvocation[] = []
    for (const concerned of this.#deps.index.matching(operation, type, subresource)) {
      const { invocations, problems } = await this.#request.select(concerned)
      append(selected, invocations)
      for (const { policy, binding, message } of problems) this.#fail(policy.policy, binding, { message })
    }
    return selected
  }

  /** The same object if it changes nothing. @throws StatusError for what no failurePolicy is asked about */
  async #invoke(invocation: MutatingInvocation, object: KubeObject | undefined): Promise<KubeObject | undefined> {
    const { policy, binding, seenAs, param } = invocation
    const { convert, ask } = this.#deps
    const a = { ...this.#a, object }
    const shown = await shownTo(seenAs, a, convert)
    const namespaceObject = await this.#request.namespaceObject()
    const request = admissionRequest('', a, seenAs, shown) as JsonObject
    const factsOf = (of: KubeObject | undefined): AdmissionFacts => ({
      object: of as unknown as JsonValue | undefined,
      oldObject: shown.oldObject as unknown as JsonValue | undefined,
      request,
      namespaceObject,
      params: param as unknown as JsonObject | undefined,
      user: a.user,
      ask,
    })
    const matched = factsOf(shown.object)
    const verdict = await this.#deps.evaluator.run({
      name: 'mutationConditions',
      ...this.#costly(invocation, matched),
      input: () => plainFacts(matched),
      here: (allowance) => policy.compiled.match(matched, allowance),
    })
    if (verdict.errors) this.#fail(policy.policy, binding, { message: aggregate(verdict.errors), reason: 'Invalid' })
    if (verdict.matches !== true) return object
    const key = keyOf(invocation)
    if (this.#round.isSecond && !this.#rounds.again.has(key)) return object

    let changed = shown.object
    for (let i = 0; i < policy.compiled.count && changed !== undefined; i++) {
      changed = await this.#mutate(invocation, i, { object: changed, facts: factsOf(changed) })
    }
    let next = object
    if (changed !== undefined && !jsonEqual(changed, shown.object)) {
      next = await takenFrom(seenAs, a, changed, convert)
      this.#callAgain()
      this.#round.askForSecond()
    }
    if (policy.policy.spec?.reinvocationPolicy === 'IfNeeded') this.#rounds.willing.add(key)
    return next
  }

  async #mutate(
    invocation: MutatingInvocation,
    index: number,
    on: { readonly object: KubeObject; readonly facts: AdmissionFacts },
  ): Promise<KubeObject> {
    const { policy, binding, seenAs } = invocation
    const { clock, evaluator } = this.#deps
    const began = clock.monotonic()
    let outcome: ObservedMutation['outcome'] = 'no_error'
    try {
      const evaluated = await evaluator.run({
        name: 'mutation',
        ...this.#costly(invocation, on.facts),
        input: () => ({ ...plainFacts(on.facts), index }),
        here: (allowance) => policy.compiled.evaluate(index, on.facts, new Budget(undefined, undefined, allowance)),
      })
      if (evaluated.mutation) return applyMutation(this.#deps, seenAs, on.object, evaluated.mutation)
      outcome = evaluated.fault
      this.#fail(policy.policy, binding, { message: evaluated.error, reason: 'Invalid' })
    } catch (e) {
      outcome = 'invalid_error'
      if (!(e instanceof MutationFault)) throw e
      this.#fail(policy.policy, binding, { message: e.message, reason: 'Invalid' })
    } finally {
      const durationMs = clock.monotonic() - began
      this.#deps.observe({ policy: policy.name, binding: binding.metadata.name ?? '', outcome, durationMs })
    }
    return on.object
  }

  #costly({ policy }: MutatingInvocation, { user, ask }: AdmissionFacts) {
    return { source: policy.compiled.source, flow: user.username, ask }
  }

  #callAgain(): void {
    const { willing, again } = this.#rounds
    for (const key of willing) again.add(key)
    willing.clear()
  }

  #fail({ metadata, spec }: MutatingPolicy, binding: PolicyBinding | undefined, { message, reason }: Problem): void {
    if (spec?.failurePolicy === 'Ignore') return
    const where = binding
      ? `policy '${metadata.name}' with binding '${binding.metadata.name}'`
      : `policy "${metadata.name}"`
    this.#problems.push({ message: `${where} denied request: ${message}`, ...(reason ? { reason } : {}) })
  }

  /** The code is that of a forbidden request whatever the reason, as upstream answers it. */
  #conclude(): void {
    const [first] = this.#problems
    if (first === undefined) return
    const causes = this.#problems.map(({ message }) => ({ message }))
    const { details, code } = forbidden(this.#a.type, this.#a.name, first.message, causes)
    throw new StatusError(first.message, {
      reason: first.reason ?? 'Forbidden',
      code,
      ...(details ? { details } : {}),
    })
  }
}

function keyOf({ policy, binding, param }: MutatingInvocation): string {
  const { namespace = '', name = '' } = param?.metadata ?? {}
  return [policy.name, binding.metadata.name, namespace, name].join('/')
}
