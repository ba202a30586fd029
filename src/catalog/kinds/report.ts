/**
 * What is wrong with one object, collected in order, and the checks that many kinds share. Objects have passed their
 * schema and have their defaults: a field that is there has its type, and what has a default is never missing.
 * @see k8s.io/apimachinery/pkg/api/validation/generic.go, pkg/util/validation v0.36
 */

import { isDeepStrictEqual } from 'node:util'
import { append } from '../../base/append.ts'
import {
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotFound,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
} from '../../kube/field-error.ts'
import { isDns1123Label, isDns1123Subdomain } from '../../kube/names.ts'

/** Part of an object; fields are looked at one by one. */
export type Part = Readonly<Record<string, unknown>>

const nothing: Part = Object.freeze({})
const noParts: readonly Part[] = Object.freeze([])
const noTexts: readonly string[] = Object.freeze([])

export const partIn = (value: Part | undefined, field: string): Part => findPart(value, field) ?? nothing
export function findPart(value: Part | undefined, field: string): Part | undefined {
  const found = value?.[field]
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as Part) : undefined
}
export function partsIn(value: Part | undefined, field: string): readonly Part[] {
  const found = value?.[field]
  return Array.isArray(found) ? (found as Part[]) : noParts
}
export function textsIn(value: Part | undefined, field: string): readonly string[] {
  const found = value?.[field]
  return Array.isArray(found) ? (found as string[]) : noTexts
}
export function textIn(value: Part | undefined, field: string): string {
  const found = value?.[field]
  return typeof found === 'string' ? found : ''
}
export function numberIn(value: Part | undefined, field: string): number | undefined {
  const found = value?.[field]
  return typeof found === 'number' ? found : undefined
}

export const notNegative = 'must be greater than or equal to 0'
export const fieldIsImmutable = 'field is immutable'
const int32Max = 2_147_483_647
const portMax = 65_535

/** Absent, empty and zero lists and maps are equal: Go prints none of them. */
export function sameValue(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(emptyAsAbsent(a), emptyAsAbsent(b))
}
function emptyAsAbsent(value: unknown): unknown {
  if (value === null || value === '') return undefined
  if (typeof value === 'object' && Object.keys(value).length === 0) return undefined
  return value
}

export class Report {
  readonly errors: FieldError[] = []

  add(errors: readonly FieldError[]): void {
    append(this.errors, errors)
  }
  required(field: string, detail?: string): void {
    this.errors.push(fieldRequired(field, detail))
  }
  invalid(field: string, value: unknown, detail: string): void {
    this.errors.push(fieldInvalid(field, value, detail))
  }
  forbidden(field: string, detail: string): void {
    this.errors.push(fieldForbidden(field, detail))
  }
  duplicate(field: string, value: unknown, detail?: string): void {
    this.errors.push(fieldDuplicate(field, value, detail))
  }
  notFound(field: string, value: unknown, detail?: string): void {
    this.errors.push(fieldNotFound(field, value, detail))
  }
  tooLong(field: string, maxBytes: number): void {
    this.errors.push(fieldTooLong(field, maxBytes))
  }
  tooMany(field: string, actual: number, max: number): void {
    this.errors.push(fieldTooMany(field, actual, max))
  }
  notSupported(field: string, value: unknown, supported: readonly string[]): void {
    this.errors.push(fieldNotSupported(field, value, supported))
  }

  each(field: string, value: string, complaints: readonly string[]): void {
    for (const complaint of complaints) this.invalid(field, value, complaint)
  }
  label(field: string, value: string): void {
    this.each(field, value, isDns1123Label(value))
  }
  subdomain(field: string, value: string): void {
    this.each(field, value, isDns1123Subdomain(value))
  }
  /** The name of another object. */
  reference(field: string, name: string): void {
    if (name === '') this.required(field)
    else this.subdomain(field, name)
  }
  oneOf(field: string, value: string, supported: readonly string[]): void {
    if (!supported.includes(value)) this.notSupported(field, value, supported)
  }
  /** Nothing is said of an absent value. */
  oneOfIfSet(field: string, value: unknown, supported: readonly string[]): void {
    if (typeof value === 'string') this.oneOf(field, value, supported)
  }
  requiredOneOf(field: string, value: string, supported: readonly string[]): void {
    if (value === '') this.required(field)
    else this.oneOf(field, value, supported)
  }
  notNegative(part: Part, at: string, ...fields: readonly string[]): void {
    for (const field of fields) {
      const value = numberIn(part, field)
      if (value !== undefined && value < 0) this.invalid(`${at}.${field}`, value, notNegative)
    }
  }
  port(field: string, value: unknown): void {
    if (typeof value !== 'number' || value < 1 || value > portMax) {
      this.invalid(field, value ?? 0, `must be between 1 and ${portMax}, inclusive`)
    }
  }
  /** A number, or the name of a port. */
  portOrName(field: string, value: unknown): void {
    if (typeof value === 'string') this.each(field, value, isPortName(value))
    else this.port(field, value)
  }
  int32AboveZero(field: string, value: number): void {
    if (value < 1 || value > int32Max) this.invalid(field, value, `must be between 1 and ${int32Max}, inclusive`)
  }
  immutable(field: string, next: unknown, old: unknown): void {
    if (!sameValue(next, old)) this.invalid(field, next ?? null, fieldIsImmutable)
  }
  /** Reports each value that came before. */
  unique(field: string, value: string, seen: Set<string>): void {
    if (seen.has(value)) this.duplicate(field, value)
    else seen.add(value)
  }
}

export function isPortName(name: string): readonly string[] {
  const errors: string[] = []
  if (name.length > 15) errors.push('must be no more than 15 characters')
  if (!/^[-a-z0-9]+$/.test(name)) errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  if (!/[a-z]/.test(name)) errors.push('must contain at least one letter (a-z)')
  if (name.includes('--')) errors.push('must not contain consecutive hyphens')
  if (name.startsWith('-') || name.endsWith('-')) errors.push('must not begin or end with a hyphen')
  return errors
}

/** Counts or percentages, as rolling updates and disruption budgets have them. */
export function checkIntOrPercent(report: Report, field: string, value: unknown): void {
  if (typeof value === 'string') {
    if (!/^[0-9]+%$/.test(value)) {
      report.invalid(
        field,
        value,
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', " +
          "regex used for validation is '[0-9]+%')",
      )
    }
  } else if (typeof value === 'number' && value < 0) report.invalid(field, value, notNegative)
}

/** Undefined for a plain number. */
export const percentOf = (value: unknown): number | undefined =>
  typeof value === 'string' && value.endsWith('%') ? Number.parseInt(value, 10) : undefined
