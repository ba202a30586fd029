/**
 * Defaults of a schema must be what the schema asks for, and hold nothing that it would prune.
 * @see k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go v0.36
 */
import { type FieldError, fieldInvalid } from '../../kube/field-error.ts'
import { isJsonObject } from '../../kube/json-value.ts'
import { DecodeError } from '../../kube/schema/decode.ts'
import { validateListTypes } from '../../kube/schema/list-types.ts'
import { patternsOfOneValidation } from '../../kube/schema/pattern.ts'
import { prune } from '../../kube/schema/prune.ts'
import type { Schema } from '../../kube/schema/schema.ts'
import { errorsWithin, validateSchema } from '../../kube/schema/validate.ts'
import type { JsonObject, JsonValue } from '../../kube/types.ts'
import { toResourceSchema } from './schema.ts'

const looseMetadata: Schema = { type: 'object', preserveUnknownFields: true }

/** Only for schemas that are structural. */
export function defaultErrors(schema: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = []
  const root = toResourceSchema(schema, looseMetadata)
  const compilePattern = patternsOfOneValidation()
  const visit = (s: Schema, at: string, name: string): void => {
    if (s.default !== undefined) errors.push(...errorsOf(s.default, s, `${at}.default`, compilePattern))
    for (const [key, child] of s.properties ?? []) {
      if (name === '' && key === 'metadata') continue
      visit(child, `${at}.properties[${key}]`, key)
    }
    if (s.items) visit(s.items, `${at}.items`, 'items')
    if (typeof s.additionalProperties === 'object') {
      visit(s.additionalProperties, `${at}.additionalProperties`, 'additionalProperties')
    }
  }
  visit(root, path, '')
  return errors
}

function errorsOf(
  value: JsonValue,
  schema: Schema,
  field: string,
  compilePattern: ReturnType<typeof patternsOfOneValidation>,
): FieldError[] {
  const unknown = unknownFieldsOf(value, schema)
  if (unknown.length > 0) return [fieldInvalid(field, value, 'must not have unknown fields')]
  return errorsWithin(field, [
    ...validateSchema(value as JsonObject, schema, { compilePattern }),
    ...validateListTypes(value, schema),
  ])
}

function unknownFieldsOf(value: JsonValue, schema: Schema): readonly string[] {
  if (!isJsonObject(value) && !Array.isArray(value)) return []
  try {
    const holder: Schema = { type: 'object', properties: new Map([['value', schema]]) }
    return prune({ value }, holder, looseMetadata).unknownFields
  } catch (e) {
    // Metadata of an embedded resource, of the wrong types: what judges the object says so.
    if (e instanceof DecodeError) return []
    throw e
  }
}
