/** What is wrong with an object by the schema of its kind. */
import { andThen } from '../base/eventual.ts'
import { Allowance, AllowanceExceeded } from '../cel/budget.ts'
import type { RuleInput } from '../cel/evaluations.ts'
import type { Costly, Evaluator } from '../cel/evaluator.ts'
import { judgeByRules, type RuleVerdict } from '../cel/object-rules.ts'
import type { FieldError } from '../kube/field-error.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { judgeBySchema, type SchemaInput } from '../kube/schema/judge-object.ts'
import { patternsOfOneValidation } from '../kube/schema/pattern.ts'
import type { Schema } from '../kube/schema/schema.ts'
import { validateSchema } from '../kube/schema/validate.ts'
import type { JsonObject, KubeObject } from '../kube/types.ts'
import type { SchemaUpdate, SchemaValidation } from './kind-rules.ts'

/** Schemas of built-in kinds say types and nothing else. @param declared kinds that are neither built in nor custom */
export const schemaValidations =
  (declared: readonly ResourceType[], evaluator: Evaluator) =>
  (type: ResourceType): SchemaValidation | undefined => {
    if (!type.custom) {
      return declared.includes(type) ? (object, _, update) => errorsOfDeclared(type, object, update) : undefined
    }
    return (object, user, update) => {
      const value = object as unknown as JsonObject
      const old = update?.old as unknown as JsonObject | undefined
      const input: SchemaInput = { value, old, isStatus: update?.subresource === 'status' }
      const judged =
        user === undefined ? judgeBySchema(input, type.schema) : evaluator.run(longTexts(input, type, user))
      return andThen(judged, (errors) => {
        const rules: RuleJudgement = { schema: type.schema, value, old, errors }
        const verdict = user === undefined ? judgedAtOnce(rules) : evaluator.run(costlyRules(rules, user))
        return andThen(verdict, ({ errors: broken, warnings }) => {
          for (const text of warnings) update?.warn(text)
          return broken.length === 0 ? errors : [...errors, ...broken]
        })
      })
    }
  }

/** A text of megabytes against a pattern takes long. */
const longTexts = (input: SchemaInput, { schema }: ResourceType, flow: string): Costly<'schema'> => ({
  name: 'schema',
  source: schema,
  input: () => input,
  flow,
  here: (allowance) => judgeBySchema(input, schema, (steps) => allowance.match(steps)),
})

interface RuleJudgement extends RuleInput {
  readonly schema: Schema
}

const costlyRules = ({ schema, value, old, errors }: RuleJudgement, flow: string): Costly<'rules'> => ({
  name: 'rules',
  source: schema,
  input: () => ({ value, old, errors }),
  flow,
  here: (allowance) => judgeByRules(value, schema, old, errors, allowance),
})

const passedOver: RuleVerdict = { errors: [], warnings: [] }

function judgedAtOnce({ schema, value, old, errors }: RuleJudgement): RuleVerdict {
  try {
    return judgeByRules(value, schema, old, errors, new Allowance())
  } catch (error) {
    if (error instanceof AllowanceExceeded) return passedOver
    throw error
  }
}

function errorsOfDeclared(type: ResourceType, object: KubeObject, update: SchemaUpdate | undefined): FieldError[] {
  const value = object as unknown as JsonObject
  const before = update?.old as unknown as JsonObject | undefined
  return validateSchema(value, type.schema, { compilePattern: patternsOfOneValidation() }, before)
}
