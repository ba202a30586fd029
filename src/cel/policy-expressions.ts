/**
 * The expressions of an admission policy: variables that stand on one another, validations, messages, audit
 * annotations. Compiled as a whole; evaluated for one request and one parameter within one budget.
 * @see k8s.io/apiserver/pkg/admission/plugin/policy/validating/validator.go, plugin/cel/composition.go v0.36
 */
import { type Resumable, runAtOnce } from '../base/resumable.ts'
import { aggregate } from '../kube/aggregate.ts'
import {
  type AdmissionFacts,
  admissionBindings,
  admissionVariables,
  type CompiledExpression,
  compileExpression,
  compileMatchConditions,
  type ExpressionFault,
  evaluateExpression,
  type MatchCondition,
  type MatchConditions,
} from './admission-expressions.ts'
import { type Allowance, Budget } from './budget.ts'
import type { DeclaredType } from './declared-type.ts'
import { compiledAtOnce, type Variables } from './environment.ts'
import type { Bindings } from './evaluate.ts'
import { boolType, type CelType, dynType, nullType, objectType, stringType } from './types.ts'
import { CelError, CelObject, type CelValue } from './values.ts'

const maxMessageBytes = 5 * 1024
/** How many variables may be under way at once, each for the sake of the one before. Ours: the stack has an end. */
const maxVariableDepth = 250

export interface PolicyVariable {
  readonly name: string
  readonly expression: string
}

export interface PolicyValidation {
  readonly expression: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
}

export interface PolicyAnnotation {
  readonly key: string
  readonly valueExpression: string
}

/** As far as expressions are concerned. */
export interface PolicySource {
  readonly hasParams: boolean
  readonly failurePolicy: 'Fail' | 'Ignore'
  readonly matchConditions: readonly MatchCondition[]
  readonly variables: readonly PolicyVariable[]
  readonly validations: readonly PolicyValidation[]
  readonly auditAnnotations: readonly PolicyAnnotation[]
}

export interface PolicyEnvironment {
  /** Of validations and annotations. */
  readonly variables: Variables
  /** Of messages, which may not ask for permissions. */
  readonly messageVariables: Variables
  readonly compiled: ReadonlyMap<string, CompiledExpression>
}

interface KnownOfPolicy {
  readonly params: boolean
  readonly objectType?: DeclaredType
  readonly paramsType?: DeclaredType
}

/** Each variable sees those before it. */
export const policyEnvironment = (given: readonly PolicyVariable[], has: KnownOfPolicy): PolicyEnvironment =>
  runAtOnce(compileEnvironment(given, has))

export function* compileEnvironment(
  given: readonly PolicyVariable[],
  has: KnownOfPolicy,
): Resumable<PolicyEnvironment> {
  // One for all: an expression is checked before the variables behind it are known, and a copy for each would be a
  // square of their number.
  const fields = new Map<string, CelType>()
  const compiled = new Map<string, CompiledExpression>()
  const base = (authorizer: boolean): Variables => ({
    ...admissionVariables({ ...has, authorizer }),
    variables: composed(),
  })
  const composed = (): DeclaredType => ({
    type: objectType('kubernetes.variables', fields),
    maxElements: -1,
    minSize: 0,
  })
  for (const { name, expression } of given) {
    const of = compileExpression(expression, base(true), [])
    compiled.set(name, of)
    fields.set(name, of.program?.type ?? dynType)
    if (compiled.size % compiledAtOnce === 0) yield
  }
  return { variables: base(true), messageVariables: base(false), compiled }
}

export const validationTypes: readonly CelType[] = [boolType]
export const messageTypes: readonly CelType[] = [stringType]
export const annotationTypes: readonly CelType[] = [stringType, nullType]

export interface Evaluated {
  /** Why it has no value; absent if it has one. */
  readonly fault?: ExpressionFault
  readonly durationMs: number
}

/** Admitted with a fault: it could not be judged, and failurePolicy is Ignore. */
export type PolicyDecision =
  | ({ readonly action: 'Admit' } & Evaluated)
  | ({ readonly action: 'Deny'; readonly message: string; readonly reason?: string } & Evaluated)

export interface PolicyResult {
  /** One for each validation, or a single one where the policy could not be evaluated. Empty: it does not apply. */
  readonly decisions: readonly PolicyDecision[]
  readonly annotations: readonly { readonly key: string; readonly value: string }[]
  /** Annotations that could not be made, where failurePolicy is Fail. */
  readonly annotationErrors: readonly ({ readonly message: string } & Evaluated)[]
}

const nothing: PolicyResult = { decisions: [], annotations: [], annotationErrors: [] }

interface CompiledValidation {
  readonly source: PolicyValidation
  readonly condition: CompiledExpression
  readonly message: CompiledExpression | undefined
}

export class CompiledPolicy {
  readonly source: PolicySource
  readonly #ignoresFailures: boolean
  readonly #conditions: MatchConditions | undefined
  readonly #environment: PolicyEnvironment
  readonly #validations: readonly CompiledValidation[]
  readonly #annotations: readonly {
    readonly key: string
    readonly source: string
    readonly value: CompiledExpression
  }[]

  constructor(source: PolicySource) {
    this.source = source
    this.#ignoresFailures = source.failurePolicy === 'Ignore'
    this.#environment = policyEnvironment(source.variables, { params: source.hasParams })
    this.#conditions =
      source.matchConditions.length > 0 ? compileMatchConditions(source.matchConditions, source.hasParams) : undefined
    const { variables, messageVariables } = this.#environment
    this.#validations = source.validations.map((v) => ({
      source: v,
      condition: compileExpression(v.expression, variables, validationTypes),
      message: v.messageExpression ? compileExpression(v.messageExpression, messageVariables, messageTypes) : undefined,
    }))
    this.#annotations = source.auditAnnotations.map(({ key, valueExpression }) => ({
      key,
      source: valueExpression,
      value: compileExpression(valueExpression.trim(), variables, annotationTypes),
    }))
  }

  /** @param monotonicMs to tell how long each expression took. @throws AllowanceExceeded */
  evaluate(facts: AdmissionFacts, monotonicMs: () => number, allowance?: Allowance): PolicyResult {
    const verdict = this.#conditions?.evaluate(facts, allowance)
    if (verdict?.errors) {
      const { errors, fault } = verdict
      return { ...nothing, decisions: [this.#failure(aggregate(errors), { fault, durationMs: 0 })] }
    }
    if (verdict?.matches === false) return nothing
    const budget = new Budget(undefined, undefined, allowance)
    const bindings = composedBindings(this.#environment, admissionBindings(facts), budget)
    const decisions: PolicyDecision[] = []
    for (const validation of this.#validations) {
      const began = monotonicMs()
      const outcome = evaluateExpression(validation.condition, bindings, budget)
      const durationMs = monotonicMs() - began
      if (outcome.error !== undefined) {
        const { fault } = outcome
        const failure = this.#failure(outcome.error, { fault, durationMs })
        if (fault === 'out_of_budget') return { ...nothing, decisions: [failure] }
        decisions.push(failure)
      } else if (outcome.value === true) decisions.push({ action: 'Admit', durationMs })
      else decisions.push(this.#denial(validation, bindings, budget, durationMs))
    }
    return { decisions, ...this.#annotate(facts, monotonicMs, allowance) }
  }

  #failure(message: string, evaluated: Evaluated): PolicyDecision {
    return this.#ignoresFailures ? { action: 'Admit', ...evaluated } : { action: 'Deny', message, ...evaluated }
  }

  #denial(
    { source, message }: CompiledValidation,
    bindings: Bindings,
    budget: Budget,
    durationMs: number,
  ): PolicyDecision {
    let text = ''
    if (message) {
      const outcome = evaluateExpression(message, bindings, budget)
      if (outcome.error !== undefined && outcome.fault === 'out_of_budget') {
        return this.#failure(`failed messageExpression: ${outcome.error}`, { fault: outcome.fault, durationMs })
      }
      // A message that fails, or makes no line of text, is passed over for the one that is written.
      if (outcome.error === undefined && typeof outcome.value === 'string') text = outcome.value.trim()
      if (Buffer.byteLength(text) > maxMessageBytes || text.includes('\n')) text = ''
    }
    if (text === '') text = (source.message ?? '').trim()
    if (text === '') text = `failed expression: ${source.expression.trim()}`
    return { action: 'Deny', message: text, durationMs, ...(source.reason ? { reason: source.reason } : {}) }
  }

  #annotate(
    facts: AdmissionFacts,
    monotonicMs: () => number,
    allowance: Allowance | undefined,
  ): Pick<PolicyResult, 'annotations' | 'annotationErrors'> {
    const annotations: { key: string; value: string }[] = []
    const annotationErrors: PolicyResult['annotationErrors'][number][] = []
    if (this.#annotations.length === 0) return { annotations, annotationErrors }
    const budget = new Budget(undefined, undefined, allowance)
    const bindings = composedBindings(this.#environment, admissionBindings(facts), budget)
    for (const { key, value } of this.#annotations) {
      const began = monotonicMs()
      const outcome = evaluateExpression(value, bindings, budget)
      if (outcome.error !== undefined) {
        const { error: message, fault } = outcome
        if (!this.#ignoresFailures) annotationErrors.push({ message, fault, durationMs: monotonicMs() - began })
        if (fault === 'out_of_budget') break
      } else if (typeof outcome.value === 'string' && outcome.value.trim() !== '') {
        annotations.push({ key, value: outcome.value.trim() })
      }
    }
    return { annotations, annotationErrors }
  }
}

/** With `variables`, each worked out when it is first needed, at its own cost. */
export function composedBindings({ compiled }: PolicyEnvironment, bindings: Bindings, budget: Budget): Bindings {
  if (compiled.size === 0) return bindings
  const all: Bindings = { ...bindings, variables: () => variables }
  let depth = 0
  const variables = new LazyVariables(compiled, (expression) => {
    if (!expression.program) throw new CelError(`fails to compile: ${expression.problem}`)
    if (depth === maxVariableDepth) throw new CelError(`more than ${maxVariableDepth} variables stand on one another`)
    const { program } = expression
    depth++
    try {
      return budget.separately(() => program.evaluate(all, budget))
    } finally {
      depth--
    }
  })
  return all
}

class LazyVariables extends CelObject {
  override readonly typeName = 'kubernetes.variables'
  readonly #compiled: ReadonlyMap<string, CompiledExpression>
  readonly #evaluate: (expression: CompiledExpression) => CelValue
  readonly #known = new Map<string, CelValue | CelError>()

  constructor(compiled: ReadonlyMap<string, CompiledExpression>, evaluate: (e: CompiledExpression) => CelValue) {
    super()
    this.#compiled = compiled
    this.#evaluate = evaluate
  }

  get size(): number {
    return this.#compiled.size
  }

  field(name: string): CelValue | undefined {
    let found = this.#known.get(name)
    if (found === undefined) {
      const expression = this.#compiled.get(name)
      if (!expression) return undefined
      found = this.#attempt(name, expression)
      this.#known.set(name, found)
    }
    if (found instanceof CelError) throw found
    return found
  }

  #attempt(name: string, expression: CompiledExpression): CelValue | CelError {
    try {
      return this.#evaluate(expression)
    } catch (e) {
      if (!(e instanceof CelError)) throw e
      if (e.name === 'BudgetError') throw e
      return new CelError(`composited variable ${JSON.stringify(name)} fails to evaluate: ${e.message}`, { cause: e })
    }
  }

  equals(other: CelObject): boolean {
    return other === this
  }
}
