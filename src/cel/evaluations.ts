/**
 * What may cost more than the thread that serves clients can give: each kind of evaluation by its name, made ready from
 * its source, and put to an input of plain JSON. Done the same here and on another thread (`evaluator.ts`).
 */
import { systemClock } from '../base/clock.ts'
import type { FieldError } from '../kube/field-error.ts'
import { judgeBySchema, type SchemaInput } from '../kube/schema/judge-object.ts'
import type { Schema } from '../kube/schema/schema.ts'
import type { JsonObject } from '../kube/types.ts'
import {
  type AdmissionFacts,
  type ConditionsSource,
  compileMatchConditions,
  type MatchVerdict,
} from './admission-expressions.ts'
import { Budget } from './budget.ts'
import type { AskPermission } from './library/authorizer.ts'
import { CompiledMutations, type MutatingPolicySource, type MutationOutcome } from './mutation-expressions.ts'
import { judgeByRules, type RuleVerdict } from './object-rules.ts'
import { CompiledPolicy, type PolicyResult, type PolicySource } from './policy-expressions.ts'

/** A request as expressions see it; who answers questions about permissions is another matter. */
export type PlainFacts = Omit<AdmissionFacts, 'ask'>

export interface RuleInput {
  readonly value: JsonObject
  readonly old: JsonObject | undefined
  readonly errors: readonly FieldError[]
}

/** By name: what it stands on, what it is put to, what it answers. */
export interface Evaluations {
  schema: { source: Schema; input: SchemaInput; result: readonly FieldError[] }
  rules: { source: Schema; input: RuleInput; result: RuleVerdict }
  conditions: { source: ConditionsSource; input: PlainFacts; result: MatchVerdict }
  policy: { source: PolicySource; input: PlainFacts; result: PolicyResult }
  mutationConditions: { source: MutatingPolicySource; input: PlainFacts; result: MatchVerdict }
  mutation: { source: MutatingPolicySource; input: PlainFacts & { readonly index: number }; result: MutationOutcome }
}

export type EvaluationName = keyof Evaluations

type Prepared<N extends EvaluationName> = (
  input: Evaluations[N]['input'],
  ask: AskPermission,
) => Evaluations[N]['result']

type Prepare = { readonly [N in EvaluationName]: (source: Evaluations[N]['source']) => Prepared<N> }

/** With a thread to themselves. */
export const prepareEvaluation: Prepare = {
  schema: (schema) => (input) => judgeBySchema(input, schema),
  rules:
    (schema) =>
    ({ value, old, errors }) =>
      judgeByRules(value, schema, old, errors),
  conditions: ({ conditions, hasParams }) => {
    const compiled = compileMatchConditions(conditions, hasParams)
    return (facts, ask) => compiled.evaluate({ ...facts, ask })
  },
  policy: (source) => {
    const compiled = new CompiledPolicy(source)
    return (facts, ask) => compiled.evaluate({ ...facts, ask }, () => systemClock.monotonic())
  },
  mutationConditions: (source) => {
    const compiled = new CompiledMutations(source)
    return (facts, ask) => compiled.match({ ...facts, ask })
  },
  mutation: (source) => {
    const compiled = new CompiledMutations(source)
    return ({ index, ...facts }, ask) => compiled.evaluate(index, { ...facts, ask }, new Budget())
  },
}
