/**
 * Field selectors: `metadata.name=x,status.phase!=Running`. Parsed once into frozen data; the caller says how a field's
 * value is read.
 * @see k8s.io/apimachinery/pkg/fields/selector.go v0.36
 */
import { quote } from './go-quote.ts'
import { badRequest } from './status-error.ts'

export interface FieldTerm {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

/** All must hold. Empty matches everything. */
export type FieldSelector = readonly FieldTerm[]

export const everyField: FieldSelector = Object.freeze([])

/** Between commas; a backslash takes the next character as data. */
function splitTerms(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === ',') {
      terms.push(text.slice(start, at))
      start = at + 1
    }
  }
  terms.push(text.slice(start))
  return terms
}

function unescapeValue(text: string): string {
  if (!/[\\,=]/.test(text)) return text
  let out = ''
  let escaped = false
  for (const c of text) {
    if (escaped) {
      if (c !== '\\' && c !== ',' && c !== '=') {
        throw badRequest(`invalid field selector: invalid escape sequence: \\${c}`)
      }
      out += c
      escaped = false
    } else if (c === '\\') escaped = true
    else if (c === ',' || c === '=') {
      throw badRequest(`invalid field selector: unescaped character in value: ${c.charCodeAt(0)}`)
    } else out += c
  }
  if (escaped) throw badRequest('invalid field selector: invalid escape sequence: \\')
  return out
}

const escapeValue = (value: string): string => value.replace(/[\\,=]/g, '\\$&')

/** @throws StatusError BadRequest in upstream's words. */
export function parseFieldSelector(text: string): FieldSelector {
  if (text === '') return everyField
  const terms: FieldTerm[] = []
  for (const part of splitTerms(text).sort()) {
    if (part === '') continue
    const found = /!=|==|=/.exec(part)
    if (!found) throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`)
    const value = unescapeValue(part.slice(found.index + found[0].length))
    terms.push(
      Object.freeze({ field: part.slice(0, found.index), operator: found[0] === '!=' ? '!=' : '=', value } as const),
    )
  }
  return Object.freeze(terms)
}

const genericFields = ['metadata.name', 'metadata.namespace']

/**
 * Fields beyond metadata.name and metadata.namespace must be among `selectable`.
 * @throws StatusError BadRequest; kinds that name no field of their own are worded differently upstream.
 */
export function refuseUnknownFields(
  selector: FieldSelector,
  selectable: { has(field: string): boolean; readonly size: number },
  custom: boolean,
): void {
  for (const { field } of selector) {
    if (genericFields.includes(field) || selectable.has(field)) continue
    throw badRequest(
      custom || selectable.size > 0
        ? `field label not supported: ${field}`
        : `${quote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
    )
  }
}

export type FieldMatcher = (read: (field: string) => string) => boolean

/**
 * To be put to many objects: each field is read once, however many terms name it. `read` answers '' for what is not
 * set.
 */
export function fieldMatcher(selector: FieldSelector): FieldMatcher {
  const fields = [...Map.groupBy(selector, ({ field }) => field)].map(([field, terms]) => {
    const wanted = new Set(terms.filter(({ operator }) => operator === '=').map(({ value }) => value))
    const unwanted = new Set(terms.filter(({ operator }) => operator === '!=').map(({ value }) => value))
    const holds = (value: string): boolean =>
      !unwanted.has(value) && (wanted.size === 0 || (wanted.size === 1 && wanted.has(value)))
    return { field, holds }
  })
  return (read) => fields.every(({ field, holds }) => holds(read(field)))
}

/** The one value a field must have to match, if there is one. */
export const requiredField = (selector: FieldSelector, field: string): string | undefined =>
  selector.find((t) => t.field === field && t.operator === '=')?.value

export const printFieldSelector = (selector: FieldSelector): string =>
  selector.map((t) => `${t.field}${t.operator}${escapeValue(t.value)}`).join(',')
