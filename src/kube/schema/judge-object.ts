/** What is wrong with a custom resource by its schema, and by the types of its lists. */
import { append } from '../../base/append.ts'
import type { FieldError } from '../field-error.ts'
import type { JsonObject } from '../types.ts'
import { validateListTypes } from './list-types.ts'
import { patternsOfOneValidation } from './pattern.ts'
import type { Schema } from './schema.ts'
import { validateMember, validateSchema } from './validate.ts'

export interface SchemaInput {
  readonly value: JsonObject
  readonly old: JsonObject | undefined
  /** Nothing but `status` is written. */
  readonly isStatus: boolean
}

/** `allow` may end it by throwing, see `patternsOfOneValidation`. List types that were wrong before stop no update. */
export function judgeBySchema(
  { value, old, isStatus }: SchemaInput,
  schema: Schema,
  allow?: (steps: number) => void,
): FieldError[] {
  const compilePattern = patternsOfOneValidation(allow)
  const errors = isStatus
    ? validateMember('status', value, schema, { compilePattern }, old)
    : validateSchema(value, schema, { compilePattern }, old)
  if (old === undefined || validateListTypes(old, schema).length === 0) {
    append(errors, validateListTypes(value, schema))
  }
  return errors
}
