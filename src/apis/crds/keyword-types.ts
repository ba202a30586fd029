/**
 * Is each keyword of a schema of the type it must have? Decoding checks this only at the top: below `items` and
 * `additionalProperties`, which may be several things, a schema is plain JSON to it. Everything else here relies on it.
 */
import { type FieldError, fieldInvalid } from '../../kube/field-error.ts'
import { isJsonObject } from '../../kube/json-value.ts'
import type { JsonObject, JsonValue } from '../../kube/types.ts'

const types: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  'a string': (value) => typeof value === 'string',
  'a boolean': (value) => typeof value === 'boolean',
  'a number': (value) => typeof value === 'number',
  'an integer': (value) => Number.isSafeInteger(value),
  'a list': (value) => Array.isArray(value),
  'a list of strings': (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  'an object': isJsonObject,
  'a list of objects': (value) => Array.isArray(value) && value.every((item) => item === null || isJsonObject(item)),
  'a map of objects': (value) => isJsonObject(value) && Object.values(value).every(isJsonObject),
}

const keywords: Readonly<Record<keyof typeof types, string>> = {
  'a string': 'type format description title pattern id $ref $schema x-kubernetes-list-type x-kubernetes-map-type',
  'a boolean':
    'nullable exclusiveMinimum exclusiveMaximum uniqueItems x-kubernetes-int-or-string ' +
    'x-kubernetes-embedded-resource x-kubernetes-preserve-unknown-fields',
  'a number': 'minimum maximum multipleOf',
  'an integer': 'minLength maxLength minItems maxItems minProperties maxProperties',
  'a list': 'enum',
  'a list of strings': 'required x-kubernetes-list-map-keys',
  'an object': 'not',
  'a list of objects': 'allOf anyOf oneOf x-kubernetes-validations',
  'a map of objects': 'properties',
}

const typeOfKeyword: ReadonlyMap<string, string> = new Map(
  Object.entries(keywords).flatMap(([type, names]) => names.split(' ').map((name) => [name, type] as const)),
)

/** Null stands for absent. */
export function keywordTypeErrors(schema: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = []
  visit(schema, path, errors)
  return errors
}

function visit(s: JsonObject, path: string, errors: FieldError[]): void {
  for (const [key, value] of Object.entries(s)) {
    const type = typeOfKeyword.get(key)
    if (value === null || type === undefined || types[type]?.(value)) continue
    errors.push(fieldInvalid(`${path}.${key}`, value, `must be ${type}`))
  }
  const { properties, items, additionalProperties, not } = s
  if (isJsonObject(properties)) {
    for (const [name, child] of Object.entries(properties)) {
      if (isJsonObject(child)) visit(child, `${path}.properties[${name}]`, errors)
    }
  }
  if (isJsonObject(items)) visit(items, `${path}.items`, errors)
  if (isJsonObject(not)) visit(not, `${path}.not`, errors)
  if (isJsonObject(additionalProperties)) visit(additionalProperties, `${path}.additionalProperties`, errors)
  for (const key of ['allOf', 'anyOf', 'oneOf']) {
    const branches = s[key]
    if (!Array.isArray(branches)) continue
    for (const [i, branch] of branches.entries()) {
      if (isJsonObject(branch)) visit(branch, `${path}.${key}[${i}]`, errors)
    }
  }
}
