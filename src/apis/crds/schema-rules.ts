/**
 * What a definition's schema may say, node by node, beyond being structural.
 * @see k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go
 *   (ValidateCustomResourceDefinitionOpenAPISchema) v0.36
 */
import { append } from '../../base/append.ts'
import {
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../kube/field-error.ts'
import { isJsonObject } from '../../kube/json-value.ts'
import type { JsonObject, JsonValue } from '../../kube/types.ts'
import { branchesOf, childrenOf } from './structural.ts'

interface Place {
  readonly path: string
  readonly isRoot: boolean
  /** Why no default may stand here; undefined: one may. */
  readonly noDefault?: string
  readonly insideMetadata: boolean
}

const knownTypes = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const typeMetaFields: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion'])

const isGiven = (value: JsonValue | undefined): boolean => value !== undefined && value !== null

export function schemaRuleErrors(schema: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (schema['nullable'] === true) {
    errors.push(fieldForbidden(`${path}.nullable`, 'nullable cannot be true at the root'))
  }
  judge(schema, { path, isRoot: true, insideMetadata: false }, errors)
  return errors
}

function judge(s: JsonObject, place: Place, errors: FieldError[]): void {
  const { path } = place
  keywords(s, place, errors)
  const below = (child: JsonObject, at: string, change: Partial<Place> = {}): void =>
    judge(child, { ...place, isRoot: false, ...change, path: `${path}.${at}` }, errors)

  const additional = s['additionalProperties']
  if (isGiven(additional)) {
    if (childrenOf(s['properties']).length > 0 && additional !== true) {
      const detail = 'additionalProperties and properties are mutual exclusive'
      errors.push(fieldForbidden(`${path}.additionalProperties`, detail))
    }
    const noDefault = 'inside additionalProperties applying to object metadata'
    if (isJsonObject(additional)) below(additional, 'additionalProperties', place.insideMetadata ? { noDefault } : {})
  }
  const isResource = place.isRoot || s['x-kubernetes-embedded-resource'] === true
  for (const [name, child] of childrenOf(s['properties'])) {
    const isMeta = isResource && typeMetaFields.has(name)
    below(child, `properties[${name}]`, {
      ...(isMeta ? { insideMetadata: true } : {}),
      ...(isMeta && place.isRoot ? { noDefault: `in top-level ${name}` } : {}),
    })
  }
  if (isJsonObject(s['not'])) below(s['not'], 'not')
  for (const key of ['allOf', 'oneOf', 'anyOf']) {
    for (const [i, branch] of branchesOf(s[key]).entries()) below(branch, `${key}[${i}]`)
  }
  if (isJsonObject(s['items'])) below(s['items'], 'items')
  if (s['x-kubernetes-preserve-unknown-fields'] === false) {
    const detail = 'must be true or undefined'
    errors.push(fieldInvalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, detail))
  }
  mapType(s, path, errors)
  listType(s, path, errors)
}

const unsupported = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref']

function keywords(s: JsonObject, { path, noDefault, insideMetadata }: Place, errors: FieldError[]): void {
  const type = s['type']
  if (type === 'null') {
    const detail = 'type cannot be set to null, use nullable as an alternative'
    errors.push(fieldForbidden(`${path}.type`, detail))
  } else if (typeof type === 'string' && type !== '' && !knownTypes.includes(type)) {
    errors.push(fieldNotSupported(`${path}.type`, type, knownTypes))
  }
  if (isGiven(s['default']) && noDefault !== undefined) {
    errors.push(fieldForbidden(`${path}.default`, `must not be set ${noDefault}`))
  }
  for (const key of unsupported) {
    if (isGiven(s[key]) && s[key] !== '') errors.push(fieldForbidden(`${path}.${key}`, `${key} is not supported`))
  }
  if (Array.isArray(s['items'])) {
    errors.push(fieldForbidden(`${path}.items`, 'items must be a schema object and not an array'))
  }
  if (insideMetadata && s['x-kubernetes-embedded-resource'] === true) {
    const detail = 'must not be used inside of resource meta'
    errors.push(fieldForbidden(`${path}.x-kubernetes-embedded-resource`, detail))
  }
  if (s['uniqueItems'] === true) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
    errors.push(fieldForbidden(`${path}.uniqueItems`, detail))
  }
}

function mustBe(type: 'array' | 'object', s: JsonObject, keyword: string, path: string): FieldError[] {
  const given = s['type'] ?? ''
  if (given === type) return []
  const detail = `must be ${type} if ${keyword} is specified`
  return [given === '' ? fieldRequired(`${path}.type`, detail) : fieldInvalid(`${path}.type`, given, detail)]
}

function mapType(s: JsonObject, path: string, errors: FieldError[]): void {
  const key = 'x-kubernetes-map-type'
  const given = s[key]
  if (!isGiven(given)) return
  append(errors, mustBe('object', s, key, path))
  if (given !== 'atomic' && given !== 'granular') {
    errors.push(fieldNotSupported(`${path}.${key}`, given, ['atomic', 'granular']))
  }
}

const listTypeKey = 'x-kubernetes-list-type'
const listMapKeysKey = 'x-kubernetes-list-map-keys'

function listType(s: JsonObject, path: string, errors: FieldError[]): void {
  const type = s[listTypeKey]
  const keys = (Array.isArray(s[listMapKeysKey]) ? s[listMapKeysKey] : []) as string[]
  const items = isJsonObject(s['items']) ? s['items'] : undefined
  if (isGiven(type)) {
    const typed = mustBe('array', s, listTypeKey, path)
    append(errors, typed)
    if (typed.length === 0 && type === 'set' && items !== undefined) atomicItems(items, path, errors)
    if (type !== 'atomic' && type !== 'set' && type !== 'map') {
      errors.push(fieldNotSupported(`${path}.${listTypeKey}`, type, ['atomic', 'set', 'map']))
    }
  }
  if (keys.length > 0 && type !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty'
    const field = `${path}.${listTypeKey}`
    errors.push(isGiven(type) ? fieldInvalid(field, type, detail) : fieldRequired(field, detail))
  }
  if (type === 'map') listOfMaps(items, keys, path, errors)
  if ((type !== 'set' && type !== 'map') || items === undefined) return
  if (items['nullable'] === true) {
    errors.push(fieldForbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${type}`))
  }
  if (type === 'map') keyFields(items, keys, path, errors)
}

function atomicItems(items: JsonObject, path: string, errors: FieldError[]): void {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  const at = (key: string): FieldError => fieldInvalid(`${path}.items.${key}`, items[key] ?? null, detail)
  if (items['type'] === 'array' && isGiven(items[listTypeKey]) && items[listTypeKey] !== 'atomic') {
    errors.push(at(listTypeKey))
  } else if (items['type'] === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    errors.push(at('x-kubernetes-map-type'))
  }
}

function listOfMaps(items: JsonObject | undefined, keys: readonly string[], path: string, errors: FieldError[]): void {
  const keysField = `${path}.${listMapKeysKey}`
  if (keys.length === 0) {
    errors.push(fieldRequired(keysField, 'must not be empty if x-kubernetes-list-type is map'))
  }
  if (items === undefined) {
    errors.push(fieldRequired(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map'))
    return
  }
  if (items['type'] !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map"
    errors.push(fieldInvalid(`${path}.items.type`, items['type'] ?? '', detail))
    return
  }
  const fields = new Map(childrenOf(items['properties']))
  const seen = new Set<string>()
  for (const key of keys) {
    const type = fields.get(key)?.['type']
    if (!fields.has(key)) errors.push(fieldInvalid(keysField, keys, 'entries must all be names of item properties'))
    else if (type === 'array' || type === 'object') {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
      errors.push(fieldInvalid(`${path}.items.properties[${key}].type`, items['type'], detail))
    }
    if (seen.has(key)) errors.push(fieldInvalid(keysField, keys, 'must not contain duplicate entries'))
    seen.add(key)
  }
}

/** Each item must have all its keys. */
function keyFields(items: JsonObject, keys: readonly string[], path: string, errors: FieldError[]): void {
  const fields = new Map(childrenOf(items['properties']))
  const required = Array.isArray(items['required']) ? items['required'] : []
  for (const key of keys) {
    const field = fields.get(key)
    if (field === undefined) continue
    const at = `${path}.items.properties[${key}]`
    const isKey = 'this property is in x-kubernetes-list-map-keys, so it'
    if (!required.includes(key) && !isGiven(field['default'])) {
      errors.push(fieldRequired(`${at}.default`, `${isKey} must have a default or be a required property`))
    }
    if (field['nullable'] === true) errors.push(fieldForbidden(`${at}.nullable`, `${isKey} cannot be nullable`))
  }
}
