/**
 * Which combinations of list and watch options make sense, in upstream's words.
 * @see k8s.io/apimachinery/pkg/apis/internalversion/validation/validation.go v0.36
 */
import { type FieldError, fieldForbidden } from '../kube/field-error.ts'
import { badRequest, invalidOptions } from '../kube/status-error.ts'
import type { Revision } from '../storage/storage.ts'
import { badVersion } from './errors.ts'
import type { ListQuery, WatchQuery } from './registry.ts'

const field = 'resourceVersionMatch'

/** '' and absent are one. @throws StatusError */
export function parseVersion(text: string | undefined, verb: 'list' | 'get' | 'watch'): Revision | undefined {
  if (text === undefined || text === '') return undefined
  const revision = /^[0-9]{1,19}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(revision)) throw badVersion(text, verb)
  return revision
}

const unsupported = (value: string, supported: readonly string[]): FieldError => ({
  type: 'FieldValueNotSupported',
  field,
  body:
    `Unsupported value: ${JSON.stringify(value)}: supported values: ` +
    `${supported.map((s) => JSON.stringify(s)).join(', ')}`,
})

/** @throws StatusError */
export function checkListOptions(query: ListQuery): void {
  const { resourceVersionMatch: match = '', resourceVersion = '', continue: token = '' } = query
  if (match !== '') {
    const errors: FieldError[] = []
    if (resourceVersion === '') {
      errors.push(fieldForbidden(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided'))
    }
    if (token !== '') {
      errors.push(fieldForbidden(field, 'resourceVersionMatch is forbidden when continue is provided'))
    }
    if (match !== 'Exact' && match !== 'NotOlderThan') errors.push(unsupported(match, ['Exact', 'NotOlderThan', '']))
    if (match === 'Exact' && resourceVersion === '0') {
      errors.push(fieldForbidden(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    }
    if (errors.length > 0) throw invalidOptions('ListOptions', errors)
  }
  if (token !== '' && resourceVersion !== '' && resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue')
  }
}

/** @throws StatusError */
export function checkWatchOptions(query: WatchQuery): void {
  const { resourceVersionMatch: match = '', sendInitialEvents } = query
  const errors: FieldError[] = []
  if (sendInitialEvents === undefined) {
    if (match !== '') {
      errors.push(
        fieldForbidden(field, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'),
      )
    }
  } else if (match !== 'NotOlderThan') {
    errors.push(fieldForbidden(field, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
    if (match !== '') errors.push(unsupported(match, ['NotOlderThan']))
  }
  if (errors.length > 0) throw invalidOptions('ListOptions', errors)
}
