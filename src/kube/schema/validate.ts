/**
 * Structural validation of custom resources, in upstream's words. Patterns run in an engine that the caller brings:
 * they come from users and must not be able to hang us.
 *
 * With an old value, what is unchanged is not judged again (ratcheting), but for `apiVersion` and `kind`: both values
 * are converted to one version, so a change of theirs can't be seen.
 *
 * Recursive: the parser bounds the depth of values, and only `allOf`, `anyOf`, `oneOf`, `not` go deeper in the schema
 * alone.
 * @see k8s.io/kube-openapi/pkg/validation/validate, k8s.io/apiextensions-apiserver/pkg/apiserver/validation v0.36
 */
import { append } from '../../base/append.ts'
import {
  type FieldError,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  fieldTypeInvalid,
} from '../field-error.ts'
import { printGoValue, quote } from '../go-quote.ts'
import { isExactNumber, isJsonObject, jsonEqual, member } from '../json-value.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { hasFormat, isKnownFormat } from './formats.ts'
import { memberSchema, type Schema } from './schema.ts'
import { type Before, isTypeMeta, isUnchanged, itemsBefore, memberBefore } from './unchanged.ts'

/** Whether a text matches can't be found out: it would take too long. */
export class PatternTooCostly extends Error {
  override readonly name = 'PatternTooCostly'
}

export interface CompiledPattern {
  /** @throws PatternTooCostly */
  test(text: string): boolean
}

export interface ValidateOptions {
  /** Must answer in time linear in the text. Throws for a pattern it can't compile; keeps what it compiled. */
  readonly compilePattern: (pattern: string) => CompiledPattern
}

/** Errors, and how many checks held: the most fitting branch of an anyOf is the one with most. */
interface Result {
  readonly errors: FieldError[]
  held: number
}

const maxErrors = 1_000

const typeNames: Readonly<Record<Schema['type'], string>> = {
  object: 'object',
  array: 'array',
  string: 'string',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
  intOrString: 'integer,string',
  quantity: 'integer,string',
  any: '',
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (isJsonObject(value)) return 'object'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return isExactNumber(value) ? 'integer' : typeof value
}

const hasType = (value: JsonValue, type: Schema['type']): boolean => {
  const actual = typeOf(value)
  switch (type) {
    case 'any':
      return true
    case 'number':
      return actual === 'number' || actual === 'integer'
    case 'intOrString':
      return actual === 'integer' || actual === 'string'
    case 'quantity':
      return actual === 'number' || actual === 'integer' || actual === 'string'
    default:
      return actual === type
  }
}

const numberOf = (value: JsonValue): number | bigint | undefined => {
  if (typeof value === 'number') return value
  return typeof value === 'object' && isExactNumber(value) ? BigInt((value as { rawJSON: string }).rawJSON) : undefined
}

/** Characters, not UTF-16 units. */
const countCharacters = (text: string): number => {
  let count = 0
  for (const _ of text) count++
  return count
}

/** `.spec.x` and `spec.x` are one field; the root has no name. */
const fieldAt = (path: string): string => (path === '' ? '<nil>' : path.replace(/^\./, ''))

class Validator {
  readonly #compilePattern: ValidateOptions['compilePattern']
  readonly #allowed = new Map<readonly JsonValue[], ReadonlySet<JsonValue>>()
  #total = 0

  constructor(options: ValidateOptions) {
    this.#compilePattern = options.compilePattern
  }

  value(value: JsonValue, schema: Schema, path: string, before: Before | undefined): Result {
    const result: Result = { errors: [], held: 0 }
    if (this.#total > maxErrors) return result
    if (isUnchanged(value, before)) return { errors: [], held: 1 }
    if (value === null) {
      this.#type(value, schema, path, result)
      this.#enum(value, schema, path, result)
      return result
    }
    this.#type(value, schema, path, result)
    this.#alternatives(value, schema, path, before, result)
    if (typeof value === 'string') this.#string(value, schema, path, result)
    else if (Array.isArray(value)) this.#array(value, schema, path, before, result)
    else if (isJsonObject(value)) this.#object(value, schema, path, before, result)
    else if (typeof value !== 'boolean') this.#number(value, schema, path, result)
    this.#enum(value, schema, path, result)
    return result
  }

  #check(holds: boolean, result: Result, error: () => FieldError): void {
    if (holds) result.held++
    else {
      result.errors.push(error())
      this.#total++
    }
  }

  #merge(into: Result, from: Result): void {
    append(into.errors, from.errors)
    into.held += from.held
  }

  /** What upstream can't place: it stands on no field. */
  #composite(result: Result, message: string): void {
    result.errors.push(fieldInvalid('<nil>', '', message))
    this.#total++
  }

  #type(value: JsonValue, schema: Schema, path: string, result: Result): void {
    const holds = value === null ? schema.nullable === true || schema.type === 'any' : hasType(value, schema.type)
    const actual = typeOf(value)
    this.#check(holds, result, () =>
      fieldTypeInvalid(
        fieldAt(path),
        actual,
        `${path} in body must be of type ${typeNames[schema.type]}: ${quote(actual)}`,
      ),
    )
  }

  /** Thousands of values may be held against as many: of texts and numbers a set is made once. */
  #isAmong(allowed: readonly JsonValue[], value: JsonValue): boolean {
    if (typeof value === 'object' && value !== null) return allowed.some((v) => jsonEqual(v, value))
    let known = this.#allowed.get(allowed)
    if (known === undefined) this.#allowed.set(allowed, (known = new Set(allowed)))
    return known.has(value)
  }

  #enum(value: JsonValue, schema: Schema, path: string, result: Result): void {
    if (!schema.enum) return
    const allowed = schema.enum
    const texts = (): string[] => allowed.map((v) => (typeof v === 'string' ? v : JSON.stringify(v)))
    this.#check(this.#isAmong(allowed, value), result, () => fieldNotSupported(fieldAt(path), value, texts()))
  }

  #string(text: string, schema: Schema, path: string, result: Result): void {
    const { maxLength, minLength, pattern, format } = schema
    const field = fieldAt(path)
    if (maxLength !== undefined) {
      const fits = text.length <= maxLength || countCharacters(text) <= maxLength
      this.#check(fits, result, () => fieldTooLong(field, maxLength))
      if (!fits) return
    }
    if (minLength !== undefined) {
      const fits = text.length >= minLength && countCharacters(text) >= minLength
      this.#check(fits, result, () =>
        fieldInvalid(field, text, `${path} in body should be at least ${minLength} chars long`),
      )
      if (!fits) return
    }
    if (pattern) this.#pattern(text, pattern, path, result)
    if (format && isKnownFormat(format) && (schema.type === 'string' || schema.type === 'any')) {
      this.#check(hasFormat(format, text), result, () =>
        fieldTypeInvalid(field, text, `${path} in body must be of type ${format}: ${quote(text)}`),
      )
    }
  }

  #pattern(text: string, pattern: string, path: string, result: Result): void {
    let compiled: CompiledPattern
    try {
      compiled = this.#compilePattern(pattern)
    } catch (e) {
      const why = e instanceof Error ? e.message : String(e)
      const detail = `${path} in body should match '${pattern}, but pattern is invalid: ${why}'`
      return this.#check(false, result, () => fieldInvalid(fieldAt(path), text, detail))
    }
    let detail = `${path} in body should match '${pattern}'`
    let matches = false
    try {
      matches = compiled.test(text)
    } catch (e) {
      if (!(e instanceof PatternTooCostly)) throw e
      detail += `, which could not be found out: ${e.message}`
    }
    this.#check(matches, result, () => fieldInvalid(fieldAt(path), text, detail))
  }

  #number(value: JsonValue, schema: Schema, path: string, result: Result): void {
    const number = numberOf(value)
    if (number === undefined) return
    const invalid = (detail: string): FieldError =>
      fieldInvalid(fieldAt(path), value, `${path} in body should be ${detail}`)
    if (schema.type === 'integer' && schema.format === 'int32') {
      const fits = number >= -(2 ** 31) && number < 2 ** 31
      if (fits) result.held++
      else this.#composite(result, `Checked value must be of type integer with format int32 in ${path}`)
    }
    const { multipleOf, maximum, exclusiveMaximum, minimum, exclusiveMinimum } = schema
    if (multipleOf !== undefined) {
      this.#check(isMultiple(number, multipleOf), result, () => invalid(`a multiple of ${printGoValue(multipleOf)}`))
    }
    if (minimum !== undefined) {
      const word = exclusiveMinimum ? 'greater than' : 'greater than or equal to'
      this.#check(exclusiveMinimum ? number > minimum : number >= minimum, result, () =>
        invalid(`${word} ${printGoValue(minimum)}`),
      )
    }
    if (maximum !== undefined) {
      const word = exclusiveMaximum ? 'less than' : 'less than or equal to'
      this.#check(exclusiveMaximum ? number < maximum : number <= maximum, result, () =>
        invalid(`${word} ${printGoValue(maximum)}`),
      )
    }
  }

  #array(value: JsonValue[], schema: Schema, path: string, before: Before | undefined, result: Result): void {
    const { items, minItems, maxItems } = schema
    const field = fieldAt(path)
    if (items) {
      const itemBefore = itemsBefore(before)
      value.forEach((item, i) => this.#merge(result, this.value(item, items, `${path}[${i}]`, itemBefore(item))))
    }
    if (minItems !== undefined) {
      this.#check(value.length >= minItems, result, () =>
        fieldInvalid(field, value.length, `${path} in body should have at least ${minItems} items`),
      )
    }
    if (maxItems !== undefined) {
      this.#check(value.length <= maxItems, result, () => fieldTooMany(field, value.length, maxItems))
    }
  }

  #object(value: JsonObject, schema: Schema, path: string, before: Before | undefined, result: Result): void {
    const { minProperties, maxProperties } = schema
    const field = fieldAt(path)
    const size = minProperties === undefined && maxProperties === undefined ? 0 : Object.keys(value).length
    if (minProperties !== undefined) {
      this.#check(size >= minProperties, result, () =>
        fieldInvalid(field, size, `${path} in body should have at least ${minProperties} properties`),
      )
    }
    if (maxProperties !== undefined) {
      this.#check(size <= maxProperties, result, () => fieldTooMany(field, size, maxProperties))
    }
    for (const [key, child] of Object.entries(value)) {
      const childSchema = memberSchema(schema, key)
      if (!childSchema) continue
      const childPath = path === '' && schema.properties?.has(key) ? key : `${path}.${key}`
      const childBefore = path === '' && isTypeMeta(key) ? undefined : memberBefore(before, key)
      this.#merge(result, this.value(child, childSchema, childPath, childBefore))
    }
    for (const key of schema.required ?? []) {
      this.#check(Object.hasOwn(value, key), result, () => fieldRequired(fieldAt(`${path}.${key}`)))
    }
  }

  #alternatives(value: JsonValue, schema: Schema, path: string, before: Before | undefined, result: Result): void {
    if (schema.anyOf?.length) this.#anyOf(value, schema.anyOf, path, before, result)
    if (schema.oneOf?.length) this.#oneOf(value, schema.oneOf, path, before, result)
    if (schema.allOf?.length) {
      const results = schema.allOf.map((s) => this.value(value, s, path, before))
      const failed = results.filter((r) => r.errors.length > 0).length
      for (const r of results) this.#merge(result, r)
      if (failed > 0) {
        const none = failed === results.length ? '. None validated' : ''
        this.#composite(result, `${quote(path)} must validate all the schemas (allOf)${none}`)
      }
    }
    if (schema.not && this.value(value, schema.not, path, before).errors.length === 0) {
      this.#composite(result, `${quote(path)} must not validate the schema (not)`)
    }
  }

  #anyOf(value: JsonValue, schemas: readonly Schema[], path: string, before: Before | undefined, result: Result): void {
    let best: Result | undefined
    for (const schema of schemas) {
      const branch = this.value(value, schema, path, before)
      if (branch.errors.length === 0) {
        result.held += branch.held
        return
      }
      if (!best || branch.held > best.held) best = branch
    }
    this.#composite(result, `${quote(path)} must validate at least one schema (anyOf)`)
    if (best) this.#merge(result, best)
  }

  #oneOf(value: JsonValue, schemas: readonly Schema[], path: string, before: Before | undefined, result: Result): void {
    const results = schemas.map((schema) => this.value(value, schema, path, before))
    const valid = results.filter((r) => r.errors.length === 0)
    if (valid.length === 1) {
      result.held += valid[0]?.held ?? 0
      return
    }
    const found = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`
    this.#composite(result, `${quote(path)} must validate one and only one schema (oneOf). ${found}`)
    if (valid.length > 0) return
    const best = results.reduce((a, b) => (b.held > a.held ? b : a))
    this.#merge(result, best)
  }
}

function isMultiple(number: number | bigint, of: number): boolean {
  if (typeof number === 'bigint' && Number.isSafeInteger(of)) return number % BigInt(of) === 0n
  const quotient = of < 1 ? (1 / of) * Number(number) : Number(number) / of
  return Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.max(1, Math.abs(quotient))
}

/** The same text for equal values, whatever the order of members. */
export function canonicalText(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalText(value[key] ?? null)}`)
  return `{${members.join()}}`
}

/** All errors, at most some 1,000. With `old`, unchanged parts are not judged. */
export function validateSchema(
  value: JsonObject,
  schema: Schema,
  options: ValidateOptions,
  old?: JsonObject,
): FieldError[] {
  return new Validator(options).value(value, schema, '', old && { value: old, schema }).errors
}

/**
 * One member alone, as upstream judges a status: fields are those of the whole, what is said of them begins in the
 * member.
 */
export function validateMember(
  name: string,
  value: JsonObject,
  schema: Schema,
  options: ValidateOptions,
  old?: JsonObject,
): FieldError[] {
  const part = member(value, name)
  const partSchema = schema.properties?.get(name)
  if (part === undefined || partSchema === undefined) return []
  const before = memberBefore(old && { value: old, schema }, name)
  return errorsWithin(name, new Validator(options).value(part, partSchema, '', before).errors)
}

/** Errors of a part that was judged alone, as errors of the whole. @param field where the part stands */
export function errorsWithin(field: string, errors: readonly FieldError[]): FieldError[] {
  return errors.map((e) => {
    if (e.field === '<nil>' || e.field === '') return { ...e, field }
    return { ...e, field: e.field.startsWith('[') ? field + e.field : `${field}.${e.field}` }
  })
}
