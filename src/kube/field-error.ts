/**
 * One thing wrong with one field, in upstream's words.
 * @see k8s.io/apimachinery/pkg/util/validation/field/errors.go v0.36
 */
import { marshal, quote } from './go-quote.ts'
import type { StatusCause } from './types.ts'

export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError'

export interface FieldError {
  readonly type: FieldErrorType
  /** `spec.containers[0].name`, `metadata.labels`, `spec.hard[cpu]` */
  readonly field: string
  /**
   * Everything after `<field>: `. Made when it is read: of thousands of errors few are told, and each may print a list
   * as long as all of them.
   */
  readonly body: string
}

/** Ours: of a value that is a megabyte long its client is sent the beginning. */
const maxShownLength = 10_000
/** Of what stands in annotations that only we read: as much as says which value it is. */
export const shownOfAnnotation = 128

/** Strings quoted, numbers and booleans bare, the rest as JSON (1.36 form). */
function show(value: unknown, most: number = maxShownLength): string {
  if (typeof value === 'string') return value.length > most ? `${quote(value.slice(0, most))}...` : quote(value)
  const text = marshal(value)
  return text.length > most ? `${text.slice(0, most)}...` : text
}

const withDetail = (text: string, detail: string | undefined): string => (detail ? `${text}: ${detail}` : text)

export const fieldRequired = (field: string, detail?: string): FieldError => ({
  type: 'FieldValueRequired',
  field,
  body: withDetail('Required value', detail),
})

export const fieldInvalid = (field: string, value: unknown, detail: string, most?: number): FieldError => ({
  type: 'FieldValueInvalid',
  field,
  get body() {
    return withDetail(`Invalid value: ${show(value, most)}`, detail)
  },
})

export const fieldDuplicate = (field: string, value: unknown, detail = ''): FieldError => ({
  type: 'FieldValueDuplicate',
  field,
  get body() {
    return `Duplicate value: ${show(value)}${detail === '' ? '' : `: ${detail}`}`
  },
})

/** `supported` is printed in the order given: upstream's orders differ from field to field. */
export const fieldNotSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  type: 'FieldValueNotSupported',
  field,
  get body() {
    const values =
      supported.length === 0 ? undefined : `supported values: ${supported.map((one) => show(one)).join(', ')}`
    return withDetail(`Unsupported value: ${show(value)}`, values)
  },
})

export const fieldForbidden = (field: string, detail: string): FieldError => ({
  type: 'FieldValueForbidden',
  field,
  body: withDetail('Forbidden', detail),
})

export const fieldNotFound = (field: string, value: unknown, detail?: string): FieldError => ({
  type: 'FieldValueNotFound',
  field,
  get body() {
    return withDetail(`Not found: ${show(value)}`, detail)
  },
})

export const fieldTooLong = (field: string, maxBytes: number): FieldError => ({
  type: 'FieldValueTooLong',
  field,
  body: `Too long: may not be more than ${maxBytes} ${maxBytes === 1 ? 'byte' : 'bytes'}`,
})

export const fieldTooMany = (field: string, actual: number, max: number): FieldError => ({
  type: 'FieldValueTooMany',
  field,
  body: `Too many: ${actual}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
})

export const fieldTypeInvalid = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'FieldValueTypeInvalid',
  field,
  body: withDetail(`Invalid value: ${show(value)}`, detail),
})

export const causeOf = (e: FieldError): StatusCause => ({ reason: e.type, message: e.body, field: e.field })
