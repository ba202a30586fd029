/**
 * Is a schema structural? Types are said once, outside of `allOf`, `anyOf`, `oneOf` and `not`; inside them values are
 * only restricted, and nothing is named that is not specified outside.
 * @see k8s.io/apiextensions-apiserver/pkg/apiserver/schema/{validation,complete}.go v0.36
 */
import type { Resumable } from '../../base/resumable.ts'
import { type FieldError, fieldForbidden, fieldInvalid, fieldRequired } from '../../kube/field-error.ts'
import { isJsonObject } from '../../kube/json-value.ts'
import { compilePattern } from '../../kube/schema/pattern.ts'
import { largestPatternSize, patternSize } from '../../kube/schema/pattern-size.ts'
import type { JsonObject, JsonValue } from '../../kube/types.ts'
import { isIntOrStringPattern } from './schema.ts'

type Level = 'root' | 'item' | 'field'

const untyped: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

export const childrenOf = (value: JsonValue | undefined): [string, JsonObject][] =>
  isJsonObject(value)
    ? Object.entries(value).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))
    : []

export const branchesOf = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : []

const typeOf = (s: JsonObject): string => (typeof s['type'] === 'string' ? s['type'] : '')

/** Instructions of all different patterns, some more than `largestPatternSize` at most. */
export function sizeOfPatterns(schema: JsonObject): number {
  const seen = new Set<string>()
  let size = 0
  const left: JsonValue[] = [schema]
  for (let value = left.pop(); value !== undefined && size <= largestPatternSize; value = left.pop()) {
    if (typeof value !== 'object' || value === null) continue
    const pattern = isJsonObject(value) ? value['pattern'] : undefined
    if (typeof pattern === 'string' && !seen.has(pattern)) {
      seen.add(pattern)
      size += patternSize(pattern)
    }
    for (const child of Object.values(value)) left.push(child)
  }
  return size
}

/** Sorted by their text. `path` is that of the schema itself. */
export function* structuralErrors(schema: JsonObject, path: string): Resumable<FieldError[]> {
  const errors: FieldError[] = []
  invariants(schema, 'root', path, errors)
  yield
  completeness(schema, path, errors)
  yield
  const text = (e: FieldError): string => `${e.field}: ${e.body}`
  return errors.toSorted((a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0))
}

function invariants(s: JsonObject, level: Level, path: string, errors: FieldError[]): void {
  const type = typeOf(s)
  const items = s['items']
  const additional = s['additionalProperties']
  if (type === 'array' && !isJsonObject(items)) errors.push(fieldRequired(`${path}.items`, 'must be specified'))
  if (isJsonObject(items)) invariants(items, 'item', `${path}.items`, errors)
  for (const [name, child] of childrenOf(s['properties'])) {
    invariants(child, 'field', `${path}.properties[${name}]`, errors)
  }
  if (additional !== undefined && additional !== null) {
    if (level === 'root') errors.push(fieldForbidden(`${path}.additionalProperties`, 'must not be used at the root'))
    if (isJsonObject(additional)) invariants(additional, 'field', `${path}.additionalProperties`, errors)
  }
  extensions(s, path, errors)
  restrictions(s, isIntOrStringPattern(s['anyOf']), hasIntOrStringAllOf(s), path, errors)
  ownType(s, level, path, errors)
  const isResource = level === 'root' || s['x-kubernetes-embedded-resource'] === true
  typeMeta(s, isResource, level, path, errors)
}

const hasIntOrStringAllOf = (s: JsonObject): boolean => isIntOrStringPattern(branchesOf(s['allOf'])[0]?.['anyOf'])

function extensions(s: JsonObject, path: string, errors: FieldError[]): void {
  if (s['x-kubernetes-int-or-string'] !== true) return
  for (const key of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource']) {
    if (s[key] !== true) continue
    errors.push(fieldInvalid(`${path}.${key}`, true, 'must be false if x-kubernetes-int-or-string is true'))
  }
}

function ownType(s: JsonObject, level: Level, path: string, errors: FieldError[]): void {
  const type = typeOf(s)
  const embedded = s['x-kubernetes-embedded-resource'] === true
  const preserves = s['x-kubernetes-preserve-unknown-fields'] === true
  const field = `${path}.type`
  if (embedded && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true'
    errors.push(type === '' ? fieldRequired(field, detail) : fieldInvalid(field, type, detail))
  } else if (type === '' && s['x-kubernetes-int-or-string'] !== true && !preserves) {
    errors.push(fieldRequired(field, untyped[level]))
  }
  if (embedded && s['additionalProperties'] !== undefined) {
    const detail = 'must not be used if x-kubernetes-embedded-resource is set'
    errors.push(fieldForbidden(`${path}.additionalProperties`, detail))
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    errors.push(fieldInvalid(field, type, 'must be object at the root'))
  }
  if (embedded && !preserves && childrenOf(s['properties']).length === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    errors.push(fieldRequired(`${path}.properties`, detail))
  }
}

/** What apiVersion, kind and metadata of a resource, or of one embedded in it, may say. */
function typeMeta(s: JsonObject, isResource: boolean, level: Level, path: string, errors: FieldError[]): void {
  const fields = new Map(childrenOf(s['properties']))
  for (const name of ['kind', 'apiVersion']) {
    const field = fields.get(name)
    if (!isResource || field === undefined || typeOf(field) === 'string') continue
    errors.push(fieldInvalid(`${path}.properties[${name}].type`, typeOf(field), 'must be string'))
  }
  const metadata = fields.get('metadata')
  if (metadata === undefined) return
  const at = `${path}.properties[metadata]`
  if (isResource && typeOf(metadata) !== 'object') {
    errors.push(fieldInvalid(`${at}.type`, typeOf(metadata), 'must be object'))
  }
  if (level === 'root' && restrictsMore(metadata)) {
    const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified'
    errors.push(fieldForbidden(at, detail))
  }
}

function restrictsMore(metadata: JsonObject): boolean {
  for (const [key, value] of Object.entries(metadata)) {
    if (key === 'type' || key === 'default' || isZero(value)) continue
    const onlyNames = childrenOf(value).every(([name]) => name === 'name' || name === 'generateName')
    if (key !== 'properties' || !onlyNames) return true
  }
  return false
}

const isZero = (value: JsonValue | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isJsonObject(value) && Object.keys(value).length === 0)

/** The restrictions of a node: those at hand, and in its alternatives. */
function restrictions(
  s: JsonObject,
  skipAnyOf: boolean,
  skipFirstAllOf: boolean,
  path: string,
  errors: FieldError[],
): void {
  if (!skipAnyOf)
    for (const [i, b] of branchesOf(s['anyOf']).entries()) checkNested(b, false, `${path}.anyOf[${i}]`, errors)
  for (const [i, b] of branchesOf(s['allOf']).entries()) {
    checkNested(b, skipFirstAllOf && i === 0, `${path}.allOf[${i}]`, errors)
  }
  for (const [i, b] of branchesOf(s['oneOf']).entries()) checkNested(b, false, `${path}.oneOf[${i}]`, errors)
  if (isJsonObject(s['not'])) checkNested(s['not'], false, `${path}.not`, errors)
  const pattern = s['pattern']
  if (typeof pattern !== 'string' || pattern === '') return
  try {
    compilePattern(pattern)
  } catch (e) {
    const why = e instanceof Error ? e.message : String(e)
    errors.push(fieldInvalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${why}`))
  }
}

/** What may not be said inside an alternative, and in which words. */
const outsideOnly: readonly (readonly [string, 'empty' | 'undefined' | 'false'])[] = [
  ['type', 'empty'],
  ['additionalProperties', 'undefined'],
  ['default', 'undefined'],
  ['title', 'empty'],
  ['description', 'empty'],
  ['nullable', 'false'],
  ['externalDocs', 'undefined'],
  ['x-kubernetes-preserve-unknown-fields', 'false'],
  ['x-kubernetes-embedded-resource', 'false'],
  ['x-kubernetes-int-or-string', 'false'],
  ['x-kubernetes-list-map-keys', 'empty'],
  ['x-kubernetes-list-type', 'undefined'],
  ['x-kubernetes-map-type', 'undefined'],
  ['x-kubernetes-validations', 'empty'],
]

function checkNested(s: JsonObject, skipAnyOf: boolean, path: string, errors: FieldError[]): void {
  restrictions(s, skipAnyOf, false, path, errors)
  if (isJsonObject(s['items'])) checkNested(s['items'], false, `${path}.items`, errors)
  const fields = childrenOf(s['properties'])
  for (const [name, child] of fields) checkNested(child, false, `${path}.properties[${name}]`, errors)
  for (const [key, must] of outsideOnly) {
    const value = s[key]
    const isSaid = must === 'undefined' ? value !== undefined && value !== null : !isZero(value)
    if (isSaid) errors.push(fieldForbidden(`${path}.${key}`, `must be ${must} to be structural`))
  }
  if (fields.some(([name]) => name === 'metadata')) {
    errors.push(fieldForbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'))
  }
}

/** Everything an alternative names is specified outside. */
function completeness(s: JsonObject, path: string, errors: FieldError[]): void {
  alternatives(s, s, path, path, errors)
  if (isJsonObject(s['items'])) completeness(s['items'], `${path}.items`, errors)
  for (const [name, child] of childrenOf(s['properties'])) completeness(child, `${path}.properties[${name}]`, errors)
  const additional = s['additionalProperties']
  if (isJsonObject(additional)) completeness(additional, `${path}.additionalProperties`, errors)
}

function alternatives(v: JsonObject, s: JsonObject, sPath: string, vPath: string, errors: FieldError[]): void {
  if (isJsonObject(v['not'])) complete(v['not'], s, sPath, `${vPath}.not`, errors)
  for (const key of ['allOf', 'anyOf', 'oneOf']) {
    for (const [i, branch] of branchesOf(v[key]).entries()) complete(branch, s, sPath, `${vPath}.${key}[${i}]`, errors)
  }
}

function complete(v: JsonObject, s: JsonObject | undefined, sPath: string, vPath: string, errors: FieldError[]): void {
  if (s === undefined) {
    errors.push(fieldRequired(sPath, `because it is defined in ${vPath}`))
    return
  }
  alternatives(v, s, sPath, vPath, errors)
  const items = s['items']
  if (isJsonObject(v['items'])) {
    complete(v['items'], isJsonObject(items) ? items : undefined, `${sPath}.items`, `${vPath}.items`, errors)
  }
  const known = new Map(childrenOf(s['properties']))
  for (const [name, child] of childrenOf(v['properties'])) {
    complete(child, known.get(name), `${sPath}.properties[${name}]`, `${vPath}.properties[${name}]`, errors)
  }
}
