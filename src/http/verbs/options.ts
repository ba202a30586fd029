/** Options in the query of a write, checked as upstream checks them. */
import { append } from '../../base/append.ts'
import { type FieldError, fieldForbidden, fieldNotSupported, fieldRequired } from '../../kube/field-error.ts'
import { validateFieldManager } from '../../kube/metadata.ts'
import { invalidOptions } from '../../kube/status-error.ts'

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions'

const fieldValidations = ['', 'Ignore', 'Strict', 'Warn']

/** `apply` tells which patch this is. @throws StatusError Invalid */
export function checkWriteOptions(kind: OptionsKind, query: URLSearchParams, apply?: boolean): void {
  // Most requests have no options at all.
  if (query.size === 0 && !apply) return
  const errors: FieldError[] = []
  const manager = query.get('fieldManager') ?? ''
  if (apply === true && manager === '') errors.push(fieldRequired('fieldManager', 'is required for apply patch'))
  if (apply === false && query.has('force')) {
    errors.push(fieldForbidden('force', 'may not be specified for non-apply patch'))
  }
  append(errors, validateFieldManager(manager, 'fieldManager'))
  const dryRun = query.getAll('dryRun')
  if (dryRun.some((d) => d !== 'All')) errors.push(fieldNotSupported('dryRun', dryRun, ['All']))
  const validation = query.get('fieldValidation') ?? ''
  if (!fieldValidations.includes(validation)) {
    errors.push(fieldNotSupported('fieldValidation', validation, fieldValidations))
  }
  if (errors.length > 0) throw invalidOptions(kind, errors)
}

export type FieldValidation = 'Ignore' | 'Strict' | 'Warn'

export function fieldValidationOf(query: URLSearchParams): FieldValidation {
  return (query.get('fieldValidation') || 'Warn') as FieldValidation
}
