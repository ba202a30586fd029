/**
 * `when`: whether an object of a template is for a namespace. A CEL expression over `params` and `namespaceObject`
 * (`namespace` is a reserved word of CEL), compiled when the template is written, and evaluated whenever the objects of
 * a namespace are worked out: in its create too, so its cost is bounded by what may be spent on the main thread.
 */
import type { Resumable } from '../../base/resumable.ts'
import { type CompiledExpression, compileExpression } from '../../cel/admission-expressions.ts'
import { Budget, BudgetError } from '../../cel/budget.ts'
import { declaredMap, declaredObject, declaredString } from '../../cel/declared-type.ts'
import type { Variables } from '../../cel/environment.ts'
import { fromJson } from '../../cel/json-values.ts'
import { type CelType } from '../../cel/types.ts'
import { CelError, type CelValue } from '../../cel/values.ts'
import type { JsonObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { type ConditionFindings, examineParameters } from './condition-parameters.ts'
import { tellingLabels } from './gate.ts'
import {
  type ConditionVerdict,
  digestOfInput,
  type Effort,
  isCostly,
  JudgedConditions,
  type Judgement,
} from './judged-conditions.ts'
import { evaluateParameters, isLongToEvaluate } from './parameters.ts'
import { objectsOf, type TemplateObject } from './template-objects.ts'
import type { NamespaceTemplate, TemplateParameter } from './types.ts'

const texts = declaredMap(declaredString)
const namespaceType = declaredObject('kubernetes.Namespace', {
  metadata: declaredObject('kubernetes.NamespaceMetadata', { name: declaredString, labels: texts, annotations: texts }),
})
const variables: Variables = { params: texts, namespaceObject: namespaceType }
const boolOnly: readonly CelType[] = [{ kind: 'bool', name: 'bool', params: [] }]

/** Longer ones can't be read, and each is parsed on the main thread. */
export const longestExpression = 4096
/** For all conditions of one namespace, in CEL's units: beyond it expressions would need a thread of their own. */
const mostCost = 500_000
/** What costs little may be much work: to find all matches in a long text. Some 50 ms at worst. */
const mostWork = 600_000
/** Of all conditions of a template, which are compiled in one piece: some 40 ms. */
export const longestTogether = 32_768

/** Why an expression can't be a condition; undefined = it can. */
export function conditionProblem(expression: string): string | undefined {
  if (expression.length > longestExpression) return `must have at most ${longestExpression} characters`
  return compileExpression(expression, variables, boolOnly).problem
}

/** What a condition that compiles says of the parameters of its template. */
export function findInCondition(expression: string, parameters: readonly TemplateParameter[]): ConditionFindings {
  const { program } = compileExpression(expression, variables, boolOnly)
  return program === undefined ? nothingFound : examineParameters(program.checked, parameters)
}

const nothingFound: ConditionFindings = { problems: [], doubts: [] }

type Prepared = CompiledExpression & {
  /** It was, for one namespace at least. */
  isCostly: boolean
}

const prepared = new WeakMap<TemplateObject, Prepared>()

function prepare(object: TemplateObject, when: string): Prepared {
  let known = prepared.get(object)
  if (known === undefined) {
    known = { ...compileExpression(when, variables, boolOnly), isCostly: false }
    prepared.set(object, known)
  }
  return known
}

type Program = NonNullable<CompiledExpression['program']>
type Bindings = Parameters<Program['evaluate']>[0]

/** What conditions of one template see; those of all templates without parameters see the same. */
interface Scope {
  readonly bindings: Bindings
  readonly params: readonly (readonly [name: string, value: string])[]
  /** By their conditions. */
  readonly verdicts: Map<string, ConditionVerdict>
}

/** Of this process. */
const judgedBefore = new JudgedConditions()

/**
 * The conditions of all templates of one namespace, within one budget, each judged once: share it in all that one pass
 * or one request asks of the namespace as it is.
 */
export class Conditions {
  readonly namespace: Pick<Namespace, 'metadata'>
  readonly #memory: JudgedConditions
  readonly #scopes = new Map<NamespaceTemplate | undefined, Scope>()
  #seen: JsonObject | undefined
  #namespaceObject: CelValue | undefined
  #digest: string | undefined
  /** Costly conditions that were judged here, and not found. */
  #judgedLong = 0
  #left: Effort = { cost: mostCost, work: mostWork }

  constructor(namespace: Pick<Namespace, 'metadata'>, memory: JudgedConditions = judgedBefore) {
    this.namespace = namespace
    this.#memory = memory
  }

  judge(template: NamespaceTemplate, object: TemplateObject, when: string): ConditionVerdict {
    const condition = prepare(object, when)
    if (condition.program === undefined) return condition.problem
    const scope = this.#scopeOf(template)
    let verdict = scope.verdicts.get(when)
    if (verdict === undefined) {
      verdict = this.#charge(this.#judge(condition, condition.program, when, scope))
      scope.verdicts.set(when, verdict)
    }
    return verdict
  }

  /**
   * Judges what the templates hold here, in the order in which `render` asks, which finds the verdicts afterwards. It
   * may be interrupted before and after what takes long: where it never is, there was nothing of the kind.
   */
  *ahead(templates: readonly NamespaceTemplate[]): Resumable<void> {
    for (const template of templates) {
      if (isLongToEvaluate(template, this.namespace)) yield
      // Nothing of it is rendered.
      if (evaluateParameters(template, this.namespace).faults.length > 0) continue
      for (const object of objectsOf(template)) {
        if (object.when === undefined) continue
        if (this.#isLongToJudge(template, object, object.when)) yield
        const before = this.#judgedLong
        this.judge(template, object, object.when)
        // That it is costly shows only now.
        if (this.#judgedLong !== before) yield
      }
    }
  }

  #isLongToJudge(template: NamespaceTemplate, object: TemplateObject, when: string): boolean {
    const condition = prepare(object, when)
    // With nothing left it is ended at once.
    if (!condition.isCostly || this.#left.cost <= 0 || this.#left.work <= 0) return false
    const scope = this.#scopeOf(template)
    return !scope.verdicts.has(when) && this.#memory.find(this.#keyOf(when, scope), this.#left) === undefined
  }

  #keyOf(when: string, { params }: Scope): string {
    return digestOfInput(when, params, (this.#digest ??= digestOfInput((this.#seen ??= seenOf(this.namespace)))))
  }

  #judge(condition: Prepared, program: Program, when: string, scope: Scope): Judgement {
    const left = this.#left
    const before = condition.isCostly ? this.#memory.find(this.#keyOf(when, scope), left) : undefined
    if (before !== undefined) return before
    const judged = evaluate(program, scope.bindings, when, left)
    if (isCostly(judged)) {
      condition.isCostly = true
      this.#judgedLong++
    }
    // What little was left may have ended it before it was costly.
    if (condition.isCostly && (judged.isEnded || isCostly(judged))) {
      this.#memory.keep(this.#keyOf(when, scope), left, judged)
    }
    return judged
  }

  #charge({ verdict, spent }: Judgement): ConditionVerdict {
    this.#left = { cost: this.#left.cost - spent.cost, work: this.#left.work - spent.work }
    return verdict
  }

  #scopeOf(template: NamespaceTemplate): Scope {
    const key = template.spec?.parameters?.length ? template : undefined
    let scope = this.#scopes.get(key)
    if (scope === undefined) {
      const params = key === undefined ? [] : [...evaluateParameters(template, this.namespace).values]
      const namespaceObject = (this.#namespaceObject ??= fromJson(
        (this.#seen ??= seenOf(this.namespace)),
        namespaceType,
      ))
      const bindings = { params: fromJson(Object.fromEntries(params), texts), namespaceObject }
      scope = { bindings, params, verdicts: new Map() }
      this.#scopes.set(key, scope)
    }
    return scope
  }
}

function evaluate(program: Program, bindings: Bindings, when: string, { cost, work }: Effort): Judgement {
  const budget = new Budget(cost, undefined, undefined, work)
  const judged = (verdict: ConditionVerdict, isEnded: boolean): Judgement => {
    return { verdict, isEnded, spent: { cost: budget.spent, work: work - budget.workLeft } }
  }
  try {
    budget.beginCall(cost)
    return judged(program.evaluate(bindings, budget) === true, false)
  } catch (error) {
    if (!(error instanceof CelError)) throw error
    const why = `condition ${JSON.stringify(when)} can not be judged: ${error.message}`
    return judged(why, error instanceof BudgetError)
  }
}

/** All that a condition can see of a namespace. */
function seenOf(namespace: Pick<Namespace, 'metadata'>): JsonObject {
  const { name = '', annotations = {} } = namespace.metadata
  return { metadata: { name, labels: { ...tellingLabels(namespace) }, annotations: { ...annotations } } }
}
