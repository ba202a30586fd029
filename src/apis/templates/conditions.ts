/**
 * `when`: whether an object of a template is for a namespace. A CEL expression over `params` and `namespaceObject`
 * (`namespace` is a reserved word of CEL), compiled when the template is written, and evaluated whenever the objects of
 * a namespace are worked out: in its create too, so its cost is bounded by what may be spent on the main thread.
 */
import { type CompiledExpression, compileExpression } from '../../cel/admission-expressions.ts'
import { Budget } from '../../cel/budget.ts'
import { declaredMap, declaredObject, declaredString } from '../../cel/declared-type.ts'
import type { Variables } from '../../cel/environment.ts'
import { fromJson } from '../../cel/json-values.ts'
import { type CelType } from '../../cel/types.ts'
import { CelError } from '../../cel/values.ts'
import type { JsonObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { type ConditionFindings, examineParameters } from './condition-parameters.ts'
import { tellingLabels } from './gate.ts'
import { evaluateParameters } from './parameters.ts'
import type { TemplateObject } from './template-objects.ts'
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

const compiled = new WeakMap<TemplateObject, CompiledExpression>()

function programOf(object: TemplateObject, when: string): CompiledExpression {
  let program = compiled.get(object)
  if (program === undefined) {
    program = compileExpression(when, variables, boolOnly)
    compiled.set(object, program)
  }
  return program
}

/** True: it is for the namespace. A text: that can't be said, and why. */
export type ConditionVerdict = boolean | string

/** The conditions of all templates of one namespace, within one budget. */
export class Conditions {
  readonly #namespace: Pick<Namespace, 'metadata'>
  readonly #bindings = new Map<NamespaceTemplate, Bindings>()
  #budget: Budget | undefined

  constructor(namespace: Pick<Namespace, 'metadata'>) {
    this.#namespace = namespace
  }

  judge(template: NamespaceTemplate, object: TemplateObject, when: string): ConditionVerdict {
    const { program, problem } = programOf(object, when)
    if (!program) return problem
    this.#budget ??= new Budget(mostCost, undefined, undefined, mostWork)
    const budget = this.#budget
    try {
      budget.beginCall(budget.left)
      return program.evaluate(this.#bindingsOf(template), budget) === true
    } catch (error) {
      if (!(error instanceof CelError)) throw error
      return `condition ${JSON.stringify(when)} can not be judged: ${error.message}`
    } finally {
      budget.left -= budget.spent
    }
  }

  #bindingsOf(template: NamespaceTemplate): Bindings {
    let bindings = this.#bindings.get(template)
    if (bindings === undefined) {
      bindings = bindingsOf(template, this.#namespace)
      this.#bindings.set(template, bindings)
    }
    return bindings
  }
}

type Bindings = Parameters<NonNullable<CompiledExpression['program']>['evaluate']>[0]

const bindingsOf = (template: NamespaceTemplate, namespace: Pick<Namespace, 'metadata'>): Bindings => {
  const { name = '', annotations = {} } = namespace.metadata
  const metadata = { name, labels: { ...tellingLabels(namespace) }, annotations: { ...annotations } }
  return {
    params: fromJson(Object.fromEntries(evaluateParameters(template, namespace).values), texts),
    namespaceObject: fromJson({ metadata } as JsonObject, namespaceType),
  }
}
