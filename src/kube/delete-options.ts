/** How an object is to be deleted, as clients say it: in a DELETE, and in the eviction of a pod. */
import { type FieldError, fieldInvalid, fieldNotSupported } from './field-error.ts'
import { isExactNumber } from './json-value.ts'
import { badRequest, invalidOptions } from './status-error.ts'

/** metav1.DeleteOptions as sent. */
export interface DeleteOptionsBody {
  gracePeriodSeconds?: number
  propagationPolicy?: string
  orphanDependents?: boolean
  preconditions?: { uid?: string; resourceVersion?: string }
  dryRun?: string[]
}

const policies = ['Foreground', 'Background', 'Orphan']

/** @throws StatusError Invalid, or BadRequest for a time that can't be reckoned with */
export function checkDeleteOptions(options: DeleteOptionsBody): void {
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, dryRun } = options
  const grace: unknown = gracePeriodSeconds
  if (isExactNumber(grace)) {
    const field = 'Go struct field DeleteOptions.gracePeriodSeconds of type int64'
    throw badRequest(`json: cannot unmarshal number ${grace.rawJSON} into ${field}`)
  }
  const errors: FieldError[] = []
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    const why = 'orphanDependents and deletionPropagation cannot be both set'
    errors.push(fieldInvalid('propagationPolicy', propagationPolicy, why))
  }
  if (propagationPolicy !== undefined && !policies.includes(propagationPolicy)) {
    errors.push(fieldNotSupported('propagationPolicy', propagationPolicy, [...policies, 'nil']))
  }
  if (dryRun?.some((d) => d !== 'All')) errors.push(fieldNotSupported('dryRun', dryRun, ['All']))
  if (errors.length > 0) throw invalidOptions('DeleteOptions', errors)
}
