/**
 * A schema written out in full: how custom resources and our own kinds appear in OpenAPI.
 *
 * Version 2 says less, and kubectl's validation of it trips over some of what it could say. As upstream does, nullable
 * and unknown-preserving nodes lose their fields there, and `oneOf` and its like are left out.
 * @see k8s.io/apiextensions-apiserver/pkg/controller/openapi/v2/conversion.go v0.36
 */
import { type Schema, valueKeywords } from '../../kube/schema/schema.ts'
import type { JsonObject, JsonValue } from '../../kube/types.ts'
import type { OpenapiStyle } from './special-definitions.ts'

export interface InlineSchemaOptions {
  readonly style: OpenapiStyle
  /** For nodes that are named types of the catalogue; undefined for other names, which are written out. */
  reference(typeName: string): JsonObject | undefined
}

const combinators = ['allOf', 'anyOf', 'oneOf'] as const

export function inlineSchema(schema: Schema, options: InlineSchemaOptions): JsonObject {
  const { style } = options
  const text: JsonObject = schema.description ? { description: schema.description } : {}
  const reference = schema.typeName === undefined ? undefined : options.reference(schema.typeName)
  if (reference !== undefined) {
    if (Object.keys(text).length === 0) return reference
    return style === 'v2' ? { ...text, ...reference } : { ...text, allOf: [reference] }
  }
  const out: JsonObject = { ...text, ...typeKeywords(schema, style), ...mergeExtensions(schema) }
  for (const keyword of valueKeywords) {
    const value = schema[keyword]
    if (value !== undefined && !(keyword === 'format' && schema.type === 'intOrString'))
      out[keyword] = value as JsonValue
  }
  if (schema.required && schema.required.length > 0) out['required'] = [...schema.required]
  if (style === 'v3') {
    if (schema.nullable) out['nullable'] = true
    for (const keyword of combinators) {
      const branches = schema[keyword]
      if (branches) out[keyword] = branches.map((branch) => inlineSchema(branch, options))
    }
    if (schema.not) out['not'] = inlineSchema(schema.not, options)
  }
  const opaque = style === 'v2' && (schema.preserveUnknownFields || schema.nullable)
  if (!opaque) Object.assign(out, contents(schema, options))
  return out
}

function typeKeywords(schema: Schema, style: OpenapiStyle): JsonObject {
  const out: JsonObject = {}
  if (schema.type === 'intOrString') out['x-kubernetes-int-or-string'] = true
  else if (schema.type === 'quantity') Object.assign(out, style === 'v2' ? { type: 'string' } : {})
  else if (schema.type !== 'any' && !(style === 'v2' && schema.nullable)) out['type'] = schema.type
  if (schema.preserveUnknownFields) out['x-kubernetes-preserve-unknown-fields'] = true
  if (schema.embeddedResource) out['x-kubernetes-embedded-resource'] = true
  return out
}

function contents(schema: Schema, options: InlineSchemaOptions): JsonObject {
  const out: JsonObject = {}
  if (schema.properties && schema.properties.size > 0) {
    const properties: JsonObject = {}
    for (const [name, value] of schema.properties) properties[name] = inlineSchema(value, options)
    out['properties'] = properties
  }
  if (schema.additionalProperties === true) {
    // Version 2 has no form for it that every client reads; an object without fields means the same.
    if (options.style === 'v3') out['additionalProperties'] = true
  } else if (schema.additionalProperties)
    out['additionalProperties'] = inlineSchema(schema.additionalProperties, options)
  if (schema.items) out['items'] = inlineSchema(schema.items, options)
  return out
}

export type MergeFact = 'listMapKeys' | 'listType' | 'mapType' | 'patchMergeKey' | 'patchStrategy'

/** How a list or map merges, where it was said. */
export function mergeExtensions(schema: Pick<Schema, MergeFact>): JsonObject {
  return {
    ...(schema.listMapKeys ? { 'x-kubernetes-list-map-keys': [...schema.listMapKeys] } : {}),
    ...(schema.listType ? { 'x-kubernetes-list-type': schema.listType } : {}),
    ...(schema.mapType ? { 'x-kubernetes-map-type': schema.mapType } : {}),
    ...(schema.patchMergeKey ? { 'x-kubernetes-patch-merge-key': schema.patchMergeKey } : {}),
    ...(schema.patchStrategy ? { 'x-kubernetes-patch-strategy': schema.patchStrategy.join(',') } : {}),
  }
}
