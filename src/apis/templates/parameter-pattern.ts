/** Whether the pattern of a parameter is an expression at all. */
import { type FieldError, fieldInvalid } from '../../kube/field-error.ts'
import { compilePattern } from '../../kube/schema/pattern.ts'

/** `field`: of the parameter. */
export function findNoExpression(pattern: string, field: string): FieldError | undefined {
  try {
    compilePattern(pattern)
    return undefined
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return fieldInvalid(`${field}.pattern`, pattern, `is no expression of RE2: ${why}`)
  }
}
