/**
 * From the OpenAPI v3 schema in a definition (JSONSchemaProps) to the `Schema` that everything else works with. Takes
 * structural schemas, as `structural.ts` lets them through; it judges nothing.
 *
 * apiVersion, kind and metadata are there whether a definition mentions them or not. Metadata is ObjectMeta; a
 * definition can only restrict its name and generateName.
 */
import { isJsonObject } from '../../kube/json-value.ts'
import { type Schema, type ValidationRule, valueKeywords } from '../../kube/schema/schema.ts'
import type { JsonObject, JsonValue } from '../../kube/types.ts'

type Writable<T> = { -readonly [K in keyof T]: T[K] }

const typeMeta: Schema = { type: 'string' }
const anything: Schema = { type: 'object', preserveUnknownFields: true }

/** Carried over under the same name. */
const plainKeywords = [
  'description',
  'title',
  'example',
  'externalDocs',
  'nullable',
  'required',
  ...valueKeywords,
] as const

const types: ReadonlySet<string> = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean'])

/** `anyOf: [{type: integer}, {type: string}]`: what x-kubernetes-int-or-string says already. */
export function isIntOrStringPattern(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value) || value.length !== 2) return false
  return value.every(
    (branch, i) =>
      isJsonObject(branch) && Object.keys(branch).length === 1 && branch['type'] === (i === 0 ? 'integer' : 'string'),
  )
}

/** Schema of a whole resource. `props` undefined: everything is kept. */
export function toResourceSchema(props: JsonObject | undefined, objectMeta: Schema): Schema {
  const root = props === undefined ? anything : toSchema(props, objectMeta)
  const properties = new Map<string, Schema>([['apiVersion', typeMeta], ['kind', typeMeta], ...(root.properties ?? [])])
  properties.set('metadata', restrict(objectMeta, root.properties?.get('metadata')))
  return { ...root, type: 'object', properties }
}

function restrict(objectMeta: Schema, given: Schema | undefined): Schema {
  const fields = [...(given?.properties ?? [])].filter(([name]) => name === 'name' || name === 'generateName')
  if (fields.length === 0) return objectMeta
  return { ...objectMeta, properties: new Map([...(objectMeta.properties ?? []), ...fields]) }
}

function toSchema(props: JsonObject, objectMeta: Schema): Schema {
  const out: Writable<Schema> = { type: typeOf(props) }
  for (const keyword of plainKeywords) {
    const value = props[keyword]
    if (value !== undefined && value !== null) Object.assign(out, { [keyword]: value })
  }
  addContents(out, props, objectMeta)
  addAlternatives(out, props, objectMeta)
  addExtensions(out, props)
  if (out.embeddedResource) out.properties = withTypeMeta(out.properties)
  return out
}

function typeOf(props: JsonObject): Schema['type'] {
  if (props['x-kubernetes-int-or-string'] === true) return 'intOrString'
  const type = props['type']
  return typeof type === 'string' && types.has(type) ? (type as Schema['type']) : 'any'
}

function addContents(out: Writable<Schema>, props: JsonObject, objectMeta: Schema): void {
  const { properties, additionalProperties, items } = props
  if (isJsonObject(properties)) {
    out.properties = new Map(
      Object.entries(properties)
        .filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))
        .map(([name, child]) => [name, toSchema(child, objectMeta)]),
    )
  }
  if (additionalProperties === true) out.additionalProperties = true
  else if (isJsonObject(additionalProperties)) out.additionalProperties = toSchema(additionalProperties, objectMeta)
  if (isJsonObject(items)) out.items = toSchema(items, objectMeta)
}

function addAlternatives(out: Writable<Schema>, props: JsonObject, objectMeta: Schema): void {
  const branches = (value: JsonValue | undefined): Schema[] =>
    Array.isArray(value) ? value.filter(isJsonObject).map((branch) => toSchema(branch, objectMeta)) : []
  const intOrString = out.type === 'intOrString'
  const anyOf = intOrString && isIntOrStringPattern(props['anyOf']) ? [] : branches(props['anyOf'])
  const allOf = branches(props['allOf'])
  const oneOf = branches(props['oneOf'])
  if (anyOf.length > 0) out.anyOf = anyOf
  if (allOf.length > 0) out.allOf = allOf
  if (oneOf.length > 0) out.oneOf = oneOf
  if (isJsonObject(props['not'])) out.not = toSchema(props['not'], objectMeta)
}

function addExtensions(out: Writable<Schema>, props: JsonObject): void {
  if (props['x-kubernetes-preserve-unknown-fields'] === true) out.preserveUnknownFields = true
  if (props['x-kubernetes-embedded-resource'] === true) out.embeddedResource = true
  const listType = props['x-kubernetes-list-type']
  if (listType === 'atomic' || listType === 'set' || listType === 'map') out.listType = listType
  const keys = props['x-kubernetes-list-map-keys']
  if (Array.isArray(keys)) out.listMapKeys = keys.filter((k) => typeof k === 'string')
  const rules = rulesOf(props)
  if (rules.length > 0) out.validations = rules
  const mapType = props['x-kubernetes-map-type']
  if (mapType === 'atomic' || mapType === 'granular') out.mapType = mapType
}

const textRules = ['rule', 'message', 'messageExpression', 'reason', 'fieldPath'] as const

/** x-kubernetes-validations; what is of the wrong type was refused, or stands in the store from before. */
export function rulesOf(props: JsonObject): ValidationRule[] {
  const given = props['x-kubernetes-validations']
  if (!Array.isArray(given)) return []
  return given.filter(isJsonObject).map((rule) => {
    const out: { rule: string; [key: string]: string | boolean } = { rule: '' }
    for (const key of textRules) {
      const value = rule[key]
      if (typeof value === 'string' && value !== '') out[key] = value
    }
    if (typeof rule['optionalOldSelf'] === 'boolean') out['optionalOldSelf'] = rule['optionalOldSelf']
    return out
  })
}

function withTypeMeta(properties: Schema['properties']): ReadonlyMap<string, Schema> {
  return new Map<string, Schema>([['apiVersion', typeMeta], ['kind', typeMeta], ...(properties ?? [])])
}
