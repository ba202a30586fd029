/**
 * The expressions of a mutating policy. A mutation makes an apply configuration, `Object{spec: Object.spec{…}}`, or
 * operations of a JSON Patch, `[JSONPatch{op: …, path: …, value: …}]`. Types of objects are named after their place;
 * nothing is known of their fields, so that only names are checked, and only once the value is there.
 * @see k8s.io/apiserver/pkg/cel/mutation, pkg/admission/plugin/policy/mutating/{compilation,patch} v0.36
 */
import type { JsonObject, JsonValue } from '../kube/types.ts'
import {
  type AdmissionFacts,
  admissionBindings,
  type CompiledExpression,
  compileExpression,
  compileMatchConditions,
  type ExpressionFault,
  evaluateExpression,
  type MatchCondition,
  type MatchConditions,
  type MatchVerdict,
} from './admission-expressions.ts'
import { type Allowance, type Budget, BudgetError, costPerObject } from './budget.ts'
import type { Extension } from './environment.ts'
import { BuiltObject, jsonBehind } from './json-values.ts'
import { jsonPatchLibrary } from './library/json-patch.ts'
import {
  composedBindings,
  type PolicyEnvironment,
  type PolicyVariable,
  policyEnvironment,
} from './policy-expressions.ts'
import { toJson } from './to-json.ts'
import { type CelType, dynType, listOf, objectType, openObjectType, stringType } from './types.ts'
import { ArrayList, CelError, CelList, CelMap, type CelValue } from './values.ts'

export type PatchType = 'ApplyConfiguration' | 'JSONPatch'

export interface PolicyMutation {
  readonly patchType: PatchType
  readonly expression: string
}

/** As far as expressions are concerned. */
export interface MutatingPolicySource {
  readonly hasParams: boolean
  readonly matchConditions: readonly MatchCondition[]
  readonly variables: readonly PolicyVariable[]
  readonly mutations: readonly PolicyMutation[]
}

/** What a mutation asks for; nothing has been changed yet. */
export type Mutation =
  | { readonly patchType: 'ApplyConfiguration'; readonly configuration: JsonObject }
  | { readonly patchType: 'JSONPatch'; readonly operations: JsonValue[] }

export type MutationOutcome =
  | { readonly mutation: Mutation; readonly error?: undefined }
  | { readonly mutation?: undefined; readonly error: string; readonly fault: ExpressionFault }

const rootName = 'Object'
const operationName = 'JSONPatch'
const operationType = objectType(
  operationName,
  new Map([
    ['op', stringType],
    ['path', stringType],
    ['from', stringType],
    ['value', dynType],
  ]),
)

const isObjectName = (name: string): boolean => name === rootName || name.startsWith(`${rootName}.`)

const patchTypes: Extension = {
  types: {
    get: (name) => (name === operationName ? operationType : isObjectName(name) ? openObjectType(name) : undefined),
  },
  functions: jsonPatchLibrary,
}

const resultTypes: Readonly<Record<PatchType, readonly CelType[]>> = {
  ApplyConfiguration: [openObjectType(rootName)],
  JSONPatch: [listOf(operationType)],
}

/** `environment` is that of the policy's variables, which can't make objects. */
export const compileMutation = (
  { patchType, expression }: PolicyMutation,
  environment: PolicyEnvironment,
): CompiledExpression => compileExpression(expression, environment.variables, resultTypes[patchType], patchTypes)

export class CompiledMutations {
  readonly source: MutatingPolicySource
  readonly #conditions: MatchConditions | undefined
  readonly #environment: PolicyEnvironment
  readonly #mutations: readonly { readonly patchType: PatchType; readonly compiled: CompiledExpression }[]

  constructor(source: MutatingPolicySource) {
    const { hasParams, matchConditions, variables, mutations } = source
    this.source = source
    this.#environment = policyEnvironment(variables, { params: hasParams })
    this.#conditions = matchConditions.length > 0 ? compileMatchConditions(matchConditions, hasParams) : undefined
    this.#mutations = mutations.map((mutation) => ({
      patchType: mutation.patchType,
      compiled: compileMutation(mutation, this.#environment),
    }))
  }

  get count(): number {
    return this.#mutations.length
  }

  /** @throws AllowanceExceeded */
  match(facts: AdmissionFacts, allowance?: Allowance): MatchVerdict {
    return this.#conditions?.evaluate(facts, allowance) ?? { matches: true }
  }

  /** Each may cost what a policy may cost. @throws AllowanceExceeded */
  evaluate(index: number, facts: AdmissionFacts, budget: Budget): MutationOutcome {
    const found = this.#mutations[index]
    if (found === undefined) throw new RangeError(`no mutation ${index}`)
    const { patchType, compiled } = found
    if (!compiled.program) return { error: compiled.problem, fault: 'compile_error' }
    budget.left = costPerObject
    const bindings = composedBindings(this.#environment, admissionBindings(facts), budget)
    const outcome = evaluateExpression(compiled, bindings, budget)
    if (outcome.error !== undefined) return outcome
    try {
      const { value } = outcome
      return { mutation: patchType === 'JSONPatch' ? jsonPatchOf(value, budget) : configurationOf(value, budget) }
    } catch (e) {
      if (!(e instanceof CelError)) throw e
      return { error: e.message, fault: e instanceof BudgetError ? 'out_of_budget' : 'invalid_error' }
    }
  }
}

function configurationOf(value: CelValue, budget: Budget): Mutation {
  if (!(value instanceof BuiltObject)) throw new CelError('unsupported return type from ApplyConfiguration expression')
  const configuration = toJson(value, { largeIntegers: 'exact', budget }) as JsonObject
  checkNames(value)
  return { patchType: 'ApplyConfiguration', configuration }
}

const notJson = 'JSONPath valueExpression evaluated to a type that could not marshal to JSON'

/** All operations at once: what they hold together is bounded. */
function jsonPatchOf(value: CelValue, budget: Budget): Mutation {
  if (!(value instanceof CelList)) {
    throw new CelError('type mismatch: JSONPatchType.expression should evaluate to array')
  }
  const made = Array.from(value, (item) => {
    if (item instanceof BuiltObject && item.typeName === operationName) return item
    throw new CelError('type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch')
  })
  const operations = operationsIn(value, budget)
  for (const operation of operations) if (operation['from'] === '') delete operation['from']
  for (const operation of made) {
    const of = operation.field('value')
    if (of instanceof BuiltObject) checkNames(of)
  }
  return { patchType: 'JSONPatch', operations }
}

function operationsIn(value: CelList, budget: Budget): JsonObject[] {
  try {
    return toJson(value, { largeIntegers: 'text', budget }) as JsonObject[]
  } catch (e) {
    if (e instanceof CelError && !(e instanceof BudgetError)) {
      throw new CelError(`${notJson}: ${e.message}`, { cause: e })
    }
    throw e
  }
}

/**
 * Each object must be of the type that is named after its place. Only of what has been made into JSON: that bounds it.
 * @throws CelError with all that are not
 */
function checkNames(root: BuiltObject): void {
  const problems: string[] = []
  const check = (value: CelValue, place: string): void => {
    if (value instanceof BuiltObject) {
      if (value.typeName !== place) {
        problems.push(
          `unexpected type name "${value.typeName}", expected "${place}", which matches field name path from ` +
            'root Object type',
        )
      }
      for (const [name, field] of value.values) check(field, `${place}.${name}`)
    } else if (value instanceof ArrayList) {
      for (const item of value.items) check(item, place)
    } else if (value instanceof CelMap && jsonBehind(value) === undefined) {
      for (const key of value.keys()) check(value.find(key) ?? null, place)
    }
  }
  check(root, root.typeName)
  if (problems.length > 0) throw new CelError(`type mismatch: ${problems.join('\n')}`)
}
