/**
 * What a version may say besides its schema: sub-resources, printer columns, selectable fields, deprecation.
 * @see k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go v0.36
 */
import { append } from '../../base/append.ts'
import { type FieldError, fieldDuplicate, fieldInvalid, fieldRequired, fieldTooMany } from '../../kube/field-error.ts'
import type { JsonObject } from '../../kube/types.ts'
import { childrenOf } from './structural.ts'
import type { DefinitionVersion } from './types.ts'

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']
const maxSelectableFields = 8
const maxWarningLength = 256

export function deprecationErrors(version: DefinitionVersion, field: string): FieldError[] {
  const text = version.deprecationWarning
  if (text === undefined) return []
  const error = (detail: string): FieldError => fieldInvalid(field, text, detail)
  if (!version.deprecated) return [error('can only be set for deprecated versions')]
  const errors: FieldError[] = []
  if (Buffer.byteLength(text) > maxWarningLength) errors.push(error('must be <= 256 characters long'))
  if (text === '') errors.push(error('must not be an empty string'))
  const bad = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(text)
  if (bad) {
    const at = Buffer.byteLength(text.slice(0, bad.index))
    errors.push(error(`must only contain printable UTF-8 characters; non-printable character found at index ${at}`))
  }
  return errors
}

function simplePathErrors(path: string, field: string): FieldError[] {
  return path.startsWith('.') ? [] : [fieldInvalid(field, path, 'must be a simple json path starting with .')]
}

export function subresourceErrors(subresources: DefinitionVersion['subresources'], path: string): FieldError[] {
  const scale = subresources?.scale
  if (!scale) return []
  const errors: FieldError[] = []
  const judge = (key: keyof typeof scale, under: readonly string[], where: string): void => {
    const value = scale[key] ?? ''
    const field = `${path}.scale.${key}`
    if (value === '') {
      if (key !== 'labelSelectorPath') errors.push(fieldRequired(field))
      return
    }
    const faults = simplePathErrors(value, field)
    append(errors, faults)
    if (faults.length === 0 && !under.some((prefix) => value.startsWith(prefix))) {
      errors.push(fieldInvalid(field, value, `should be a json path under ${where}`))
    }
  }
  judge('specReplicasPath', ['.spec.'], '.spec')
  judge('statusReplicasPath', ['.status.'], '.status')
  judge('labelSelectorPath', ['.spec.', '.status.'], 'either .spec or .status')
  return errors
}

export function columnErrors(columns: DefinitionVersion['additionalPrinterColumns'], path: string): FieldError[] {
  const errors: FieldError[] = []
  for (const [i, { name, type, format, jsonPath }] of (columns ?? []).entries()) {
    const at = `${path}[${i}]`
    if (!name) errors.push(fieldRequired(`${at}.name`))
    const types = `must be one of ${columnTypes.join(',')}`
    if (!type) errors.push(fieldRequired(`${at}.type`, types))
    else if (!columnTypes.includes(type)) errors.push(fieldInvalid(`${at}.type`, type, types))
    if (format && !columnFormats.includes(format)) {
      errors.push(fieldInvalid(`${at}.format`, format, `must be one of ${columnFormats.join(',')}`))
    }
    if (!jsonPath) errors.push(fieldRequired(`${at}.JSONPath`))
    else append(errors, simplePathErrors(jsonPath, `${at}.JSONPath`))
  }
  return errors
}

export function selectableFieldErrors(
  fields: DefinitionVersion['selectableFields'],
  schema: JsonObject | undefined,
  path: string,
): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [i, { jsonPath }] of (fields ?? []).entries()) {
    const field = `${path}[${i}].jsonPath`
    if (!jsonPath) {
      errors.push(fieldRequired(field))
      continue
    }
    const found = nodeAt(schema, jsonPath)
    if (found === undefined) {
      errors.push(fieldInvalid(field, jsonPath, 'is an invalid path: does not refer to a valid field'))
      continue
    }
    if (jsonPath.startsWith('.metadata.')) {
      errors.push(fieldInvalid(field, jsonPath, 'must not point to fields in metadata'))
    }
    if (!['string', 'boolean', 'integer'].includes(String(found['type']))) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with ' +
        'formats are allowed.'
      errors.push(fieldInvalid(field, jsonPath, detail))
    }
    if (seen.has(jsonPath)) errors.push(fieldDuplicate(field, jsonPath))
    seen.add(jsonPath)
  }
  if (seen.size > maxSelectableFields) errors.push(fieldTooMany(path, seen.size, maxSelectableFields))
  return errors
}

function nodeAt(schema: JsonObject | undefined, path: string): JsonObject | undefined {
  if (!path.startsWith('.')) return undefined
  let node = schema
  for (const name of path.slice(1).split('.')) {
    node = new Map(childrenOf(node?.['properties'])).get(name)
    if (node === undefined) return undefined
  }
  return node
}
