/**
 * What `x-kubernetes-list-type` promises: items of a set differ, items of a map differ in their keys. And what
 * `x-kubernetes-embedded-resource` promises: the value is a resource.
 * @see k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype, schema/objectmeta v0.36
 */
import { append } from '../../base/append.ts'
import { setMember } from '../../base/json-text.ts'
import { type FieldError, fieldDuplicate, fieldInvalid, fieldRequired } from '../field-error.ts'
import { parseApiVersion } from '../gvk.ts'
import { isJsonObject, member } from '../json-value.ts'
import { validateMetadata } from '../metadata.ts'
import { isDns1035Label, nameIsPathSegment } from '../names.ts'
import type { JsonObject, JsonValue, ObjectMeta } from '../types.ts'
import type { Schema } from './schema.ts'
import { canonicalText } from './validate.ts'

/** Places of the second occurrence of each repeated text. */
function findRepeated(texts: readonly string[]): number[] {
  const seen = new Map<string, number>()
  const places: number[] = []
  texts.forEach((text, i) => {
    const times = seen.get(text) ?? 0
    seen.set(text, times + 1)
    if (times === 1) places.push(i)
  })
  return places
}

function keysOf(item: JsonValue, keys: readonly string[]): JsonObject {
  const out: JsonObject = {}
  if (!isJsonObject(item)) return out
  for (const key of keys) {
    const value = member(item, key)
    if (value !== undefined) setMember(out, key, value)
  }
  return out
}

function validateItems(list: readonly JsonValue[], schema: Schema, field: string): FieldError[] {
  if (schema.listType === 'set') {
    return findRepeated(list.map(canonicalText)).map((i) => fieldDuplicate(`${field}[${i}]`, list[i]))
  }
  if (schema.listType !== 'map') return []
  const bad = list.findIndex((item) => item !== null && !isJsonObject(item))
  if (bad >= 0) return [fieldInvalid(`${field}[${bad}]`, list[bad], 'must be an object for an array of list-type map')]
  const keys = list.map((item) => keysOf(item, schema.listMapKeys ?? []))
  return findRepeated(keys.map(canonicalText)).map((i) => fieldDuplicate(`${field}[${i}]`, keys[i]))
}

/** Of a value that is a resource. Its metadata has the right types already. */
export function embeddedErrors(value: JsonObject, field: string): FieldError[] {
  const at = (key: string): string => (field === '' ? key : `${field}.${key}`)
  const errors: FieldError[] = []
  const apiVersion = member(value, 'apiVersion')
  if (apiVersion === undefined) errors.push(fieldRequired(at('apiVersion')))
  else if (typeof apiVersion !== 'string') errors.push(fieldInvalid(at('apiVersion'), apiVersion, 'must be a string'))
  else if (apiVersion === '') errors.push(fieldInvalid(at('apiVersion'), apiVersion, 'must not be empty'))
  else if (!parseApiVersion(apiVersion)) {
    errors.push(fieldInvalid(at('apiVersion'), apiVersion, `unexpected GroupVersion string: ${apiVersion}`))
  }
  const kind = member(value, 'kind')
  if (kind === undefined) errors.push(fieldRequired(at('kind')))
  else if (typeof kind !== 'string') errors.push(fieldInvalid(at('kind'), kind, 'must be a string'))
  else if (kind === '') errors.push(fieldInvalid(at('kind'), kind, 'must not be empty'))
  else {
    const faults = isDns1035Label(kind.toLowerCase())
    if (faults.length > 0) {
      const detail = `may have mixed case, but should otherwise match: ${faults.join(',')}`
      errors.push(fieldInvalid(at('kind'), kind, detail))
    }
  }
  const metadata = member(value, 'metadata')
  if (isJsonObject(metadata)) {
    // It may have no name; pruning has checked its types.
    const meta = { ...metadata, name: metadata['name'] || 'fakename' } as ObjectMeta
    const rules = { namespaced: Boolean(meta.namespace), validateName: nameIsPathSegment, custom: true }
    append(errors, validateMetadata(meta, rules, at('metadata')))
  }
  return errors
}

/** What is wrong with the lists of a whole resource, and with resources embedded in it. */
export const validateListTypes = (value: JsonValue, schema: Schema): FieldError[] =>
  errorsBelow(value, schema, '', validateItems)

/** Of resources embedded in a value alone. */
export const validateEmbedded = (value: JsonValue, schema: Schema): FieldError[] =>
  errorsBelow(value, schema, '', () => [])

/** Recursive along the value. The root is not taken for an embedded resource: its metadata has its own checks. */
function errorsBelow(value: JsonValue, schema: Schema, field: string, itemsOf: typeof validateItems): FieldError[] {
  if (Array.isArray(value)) {
    const { items } = schema
    const errors = itemsOf(value, schema, field)
    if (items) value.forEach((item, i) => append(errors, errorsBelow(item, items, `${field}[${i}]`, itemsOf)))
    return errors
  }
  if (!isJsonObject(value)) return []
  const errors = schema.embeddedResource && field !== '' ? embeddedErrors(value, field) : []
  const { additionalProperties } = schema
  // Of unknown content nothing is said, and it may have many members.
  if (schema.properties === undefined && typeof additionalProperties !== 'object') return errors
  for (const [key, child] of Object.entries(value)) {
    const known = schema.properties?.get(key)
    if (known) append(errors, errorsBelow(child, known, field === '' ? key : `${field}.${key}`, itemsOf))
    else if (typeof additionalProperties === 'object') {
      append(errors, errorsBelow(child, additionalProperties, `${field}[${key}]`, itemsOf))
    }
  }
  return errors
}
