/**
 * Expressions about a request in admission: match conditions of webhooks, policies. What variables there are, how they
 * are made of a request, and what an evaluation's failure is in upstream's words.
 * @see k8s.io/apiserver/pkg/admission/plugin/cel/compile.go, condition.go, activation.go v0.36
 */
import { isJsonObject } from '../kube/json-value.ts'
import type { JsonObject, JsonValue } from '../kube/types.ts'
import type { UserInfo } from '../kube/user.ts'
import { type Allowance, Budget, BudgetError, costPerMatchConditions } from './budget.ts'
import {
  type DeclaredType,
  declaredBool,
  declaredDyn,
  declaredObject as declaredEscaped,
  declaredInt,
  declaredList,
  declaredMap,
  declaredString,
  declaredTimestamp,
} from './declared-type.ts'
import { compile, type Extension, type Program, type Variables } from './environment.ts'
import type { Bindings } from './evaluate.ts'
import { fromJson } from './json-values.ts'
import { type AskPermission, AuthorizerValue, ResourceValue } from './library/authorizer.ts'
import { type CelType, opaque, printType, sameType } from './types.ts'
import { CelError, type CelValue } from './values.ts'

/** Their names are written as they are: no user chose them. */
const declaredObject = (name: string, fields: Readonly<Record<string, DeclaredType>>): DeclaredType =>
  declaredEscaped(name, fields, 2, (field) => field)

const kindType = declaredObject('kubernetes.GroupVersionKind', {
  group: declaredString,
  version: declaredString,
  kind: declaredString,
})
const resourceType = declaredObject('kubernetes.GroupVersionResource', {
  group: declaredString,
  version: declaredString,
  resource: declaredString,
})
const texts = declaredList(declaredString)
const labels = declaredMap(declaredString)

const requestType = declaredObject('kubernetes.AdmissionRequest', {
  kind: kindType,
  resource: resourceType,
  subResource: declaredString,
  requestKind: kindType,
  requestResource: resourceType,
  requestSubResource: declaredString,
  name: declaredString,
  namespace: declaredString,
  operation: declaredString,
  userInfo: declaredObject('kubernetes.UserInfo', {
    username: declaredString,
    uid: declaredString,
    groups: texts,
    extra: declaredMap(texts),
  }),
  dryRun: declaredBool,
  options: declaredDyn,
})

const namespaceType = declaredObject('kubernetes.Namespace', {
  metadata: declaredObject('kubernetes.NamespaceMetadata', {
    name: declaredString,
    generateName: declaredString,
    namespace: declaredString,
    labels,
    annotations: labels,
    UID: declaredString,
    creationTimestamp: declaredTimestamp,
    deletionGracePeriodSeconds: declaredInt,
    deletionTimestamp: declaredTimestamp,
    generation: declaredInt,
    resourceVersion: declaredString,
    finalizers: texts,
  }),
  spec: declaredObject('kubernetes.NamespaceSpec', { finalizers: texts }),
  status: declaredObject('kubernetes.NamespaceStatus', {
    conditions: declaredList(
      declaredObject('kubernetes.NamespaceCondition', {
        status: declaredString,
        type: declaredString,
        lastTransitionTime: declaredTimestamp,
        message: declaredString,
        reason: declaredString,
      }),
    ),
    phase: declaredString,
  }),
})

const typed = (type: CelType): DeclaredType => ({ type, maxElements: -1, minSize: 0 })
const authorizerVariables: Variables = {
  authorizer: typed(opaque('kubernetes.authorization.Authorizer')),
  'authorizer.requestResource': typed(opaque('kubernetes.authorization.ResourceCheck')),
}

/** What an expression may name. `objectType` where more is known of it than that it is an object. */
export function admissionVariables(has: {
  readonly params: boolean
  readonly authorizer: boolean
  readonly objectType?: DeclaredType
  readonly paramsType?: DeclaredType
}): Variables {
  return {
    object: has.objectType ?? declaredDyn,
    oldObject: has.objectType ?? declaredDyn,
    request: requestType,
    namespaceObject: namespaceType,
    ...(has.params ? { params: has.paramsType ?? declaredDyn } : {}),
    ...(has.authorizer ? authorizerVariables : {}),
  }
}

/** A request as expressions see it. */
export interface AdmissionFacts {
  readonly object: JsonValue | undefined
  readonly oldObject: JsonValue | undefined
  /** AdmissionRequest of admission.k8s.io/v1; its objects are not looked at. */
  readonly request: JsonObject
  readonly namespaceObject?: JsonObject | undefined
  readonly params?: JsonObject | undefined
  readonly user: UserInfo
  readonly ask: AskPermission
}

export function admissionBindings(facts: AdmissionFacts): Bindings {
  const { object, oldObject, request, namespaceObject, params, user, ask } = facts
  const authorizer = new AuthorizerValue(user, ask)
  const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '')
  return {
    object: fromJson(object ?? null),
    oldObject: fromJson(oldObject ?? null),
    request: fromJson(request, requestType),
    namespaceObject: fromJson(namespaceObject ?? null, namespaceType),
    params: fromJson(params ?? null),
    authorizer,
    'authorizer.requestResource': () => {
      const resource = isJsonObject(request['requestResource']) ? request['requestResource'] : {}
      return new ResourceValue(authorizer, {
        group: text(resource['group']),
        resource: text(resource['resource']),
        subresource: text(request['requestSubResource'] ?? request['subResource']),
        namespace: text(request['namespace']),
        name: text(request['name']),
      })
    },
  }
}

export type CompiledExpression =
  | { readonly program: Program; readonly problem?: undefined }
  | { readonly program?: undefined; readonly problem: string }

/** The problem begins as upstream's: `compilation failed: …` or `must evaluate to …`. */
export function compileExpression(
  source: string,
  variables: Variables,
  returns: readonly CelType[],
  extension?: Extension,
): CompiledExpression {
  const { program, problem } = compile(source, variables, extension)
  if (!program) return { problem: `compilation failed: ${problem}` }
  if (returns.length === 0 || returns.some((type) => sameType(type, program.type))) return { program }
  const wanted = returns.map(printType)
  const reason = wanted.length === 1 ? `must evaluate to ${wanted[0]}` : `must evaluate to one of [${wanted.join(' ')}]`
  return { problem: `${reason} but got ${printType(program.type)}` }
}

/** Why an expression has no value, as upstream's metrics call it. */
export type ExpressionFault = 'compile_error' | 'invalid_error' | 'out_of_budget'

export type Outcome =
  | { readonly value: CelValue; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: string; readonly fault: ExpressionFault }

export const outOfBudget =
  'validation failed due to running out of cost budget, no further validation rules will be run'

/** One call. What it cost is taken from the budget; after `out_of_budget` nothing more may be evaluated. */
export function evaluateExpression(
  { program, problem }: CompiledExpression,
  bindings: Bindings,
  budget: Budget,
): Outcome {
  if (!program) return { error: `compilation error: ${problem}`, fault: 'compile_error' }
  let outcome: Outcome
  try {
    budget.beginCall()
    outcome = { value: program.evaluate(bindings, budget) }
  } catch (e) {
    if (!(e instanceof CelError)) throw e
    const timedOut = e instanceof BudgetError && e.exceeded === 'time'
    outcome = {
      error: `expression '${program.source}' resulted in error: ${e.message}`,
      fault: timedOut ? 'out_of_budget' : 'invalid_error',
    }
  }
  budget.left -= budget.spent
  return budget.left < 0 ? { error: outOfBudget, fault: 'out_of_budget' } : outcome
}

export interface MatchCondition {
  readonly name: string
  readonly expression: string
}

export type MatchVerdict =
  | { readonly matches: boolean; readonly errors?: undefined }
  /** None is false, and some could not be evaluated: failurePolicy decides. */
  | { readonly matches?: undefined; readonly errors: readonly string[]; readonly fault: ExpressionFault }

export interface ConditionsSource {
  readonly conditions: readonly MatchCondition[]
  readonly hasParams: boolean
}

export interface MatchConditions {
  readonly source: ConditionsSource
  /** Within a budget of its own. @throws AllowanceExceeded */
  evaluate(facts: AdmissionFacts, allowance?: Allowance): MatchVerdict
}

const boolOnly: readonly CelType[] = [{ kind: 'bool', name: 'bool', params: [] }]

/** Why an expression is none that a match condition can have; undefined if it is one. */
export function matchConditionProblem(expression: string, hasParams = false): string | undefined {
  return compileExpression(expression, admissionVariables({ params: hasParams, authorizer: true }), boolOnly).problem
}

/** What can't be compiled fails whenever it is evaluated: validation has refused it before it was stored. */
export function compileMatchConditions(conditions: readonly MatchCondition[], hasParams = false): MatchConditions {
  const variables = admissionVariables({ params: hasParams, authorizer: true })
  const compiled = conditions.map(({ expression }) => compileExpression(expression, variables, boolOnly))
  return {
    source: { conditions, hasParams },
    evaluate(facts, allowance) {
      const bindings = admissionBindings(facts)
      const budget = new Budget(costPerMatchConditions, undefined, allowance)
      const errors: string[] = []
      let fault: ExpressionFault | undefined
      for (const condition of compiled) {
        const outcome = evaluateExpression(condition, bindings, budget)
        if (outcome.error === undefined) {
          if (outcome.value === false) return { matches: false }
          continue
        }
        if (outcome.fault === 'out_of_budget') return { errors: [outcome.error], fault: outcome.fault }
        fault ??= outcome.fault
        errors.push(outcome.error)
      }
      return fault === undefined ? { matches: true } : { errors, fault }
    },
  }
}
