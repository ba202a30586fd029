/** What is wrong with an object by the schema of its kind. */
import { append } from '../base/append.ts'
import { ruleErrors } from '../cel/object-rules.ts'
import type { FieldError } from '../kube/field-error.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { validateListTypes } from '../kube/schema/list-types.ts'
import { patternsOfOneValidation } from '../kube/schema/pattern.ts'
import { validateMember, validateSchema } from '../kube/schema/validate.ts'
import type { JsonObject, KubeObject } from '../kube/types.ts'
import type { SchemaUpdate, SchemaValidation } from './kind-rules.ts'

/** Schemas of built-in kinds say types and nothing else. @param declared kinds that are neither built in nor custom */
export const schemaValidations =
  (declared: readonly ResourceType[]) =>
  (type: ResourceType): SchemaValidation | undefined =>
    type.custom || declared.includes(type) ? (object, update) => schemaErrors(type, object, update) : undefined

/** List types that were wrong before do not stop an update. */
function schemaErrors(type: ResourceType, object: KubeObject, update: SchemaUpdate | undefined): FieldError[] {
  const value = object as unknown as JsonObject
  const before = update?.old as unknown as JsonObject | undefined
  const compilePattern = patternsOfOneValidation()
  const isStatus = type.custom && update?.subresource === 'status'
  const errors = isStatus
    ? validateMember('status', value, type.schema, { compilePattern }, before)
    : validateSchema(value, type.schema, { compilePattern }, before)
  if (!type.custom) return errors
  if (before === undefined || validateListTypes(before, type.schema).length === 0) {
    append(errors, validateListTypes(value, type.schema))
  }
  const old = before && { value: before, warn: (text: string) => update?.warn(text) }
  return [...errors, ...ruleErrors(value, type.schema, old, errors)]
}
