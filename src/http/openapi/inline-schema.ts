/**
 * A schema written out in full: how custom resources and our own kinds appear in OpenAPI.
 *
 * Version 2 says less, and kubectl's validation of it trips over some of what it could say. As upstream does, nullable
 * and unknown-preserving nodes lose their fields there, and `oneOf` and its like are left out.
 * @see k8s.io/apiextensions-apiserver/pkg/controller/openapi/v2/conversion.go v0.36
 */
import { type Schema, valueKeywords } from '../../kube/schema/schema.ts'
import type { JsonObject, JsonValue } from '../../kube/types.ts'
import { metaType } from './definition-names.ts'
import type { OpenapiStyle } from './special-definitions.ts'

export interface InlineSchemaOptions {
  readonly style: OpenapiStyle
  /** For nodes that are named types of the catalogue; undefined for other names, which are written out. */
  reference(typeName: string): JsonObject | undefined
}

const combinators = ['allOf', 'anyOf', 'oneOf'] as const

export function inlineSchema(schema: Schema, options: InlineSchemaOptions): JsonObject {
  const { style } = options
  const text = texts(schema)
  const reference = schema.typeName === undefined ? undefined : options.reference(schema.typeName)
  if (reference !== undefined) return describe(reference, text, style)
  const out: JsonObject = { ...text, ...typeKeywords(schema, style), ...mergeExtensions(schema) }
  for (const keyword of valueKeywords) {
    const value = schema[keyword]
    if (value !== undefined && !(keyword === 'format' && schema.type === 'intOrString'))
      out[keyword] = value as JsonValue
  }
  const required = requiredOf(schema, style)
  if (required.length > 0) out['required'] = required
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
  if (schema.validations) out['x-kubernetes-validations'] = schema.validations.map((rule) => ({ ...rule }))
  return out
}

function texts({ description, title, example, externalDocs }: Schema): JsonObject {
  return {
    ...(description ? { description } : {}),
    ...(title ? { title } : {}),
    ...(example === undefined ? {} : { example }),
    ...(externalDocs === undefined ? {} : { externalDocs }),
  }
}

/** A reference with what is said of this use of it. In OpenAPI 3.0 it must stand alone. */
export function describe(reference: JsonObject, text: JsonObject, style: OpenapiStyle): JsonObject {
  if (Object.keys(text).length === 0) return reference
  return style === 'v2' ? { ...text, ...reference } : { ...text, allOf: [reference] }
}

/** Version 2 can't say null, so what may be null can't be required in it. */
function requiredOf(schema: Schema, style: OpenapiStyle): string[] {
  const given = schema.required ?? []
  const isNullable = (name: string): boolean => schema.properties?.get(name)?.nullable === true
  const required = style === 'v2' ? given.filter((name) => !isNullable(name)) : [...given]
  if (!isShownEmbedded(schema, style)) return required
  return [...required, ...['kind', 'apiVersion'].filter((name) => !required.includes(name))]
}

/** kubectl's validation would refuse unknown fields beside known ones. */
const isShownEmbedded = (schema: Schema, style: OpenapiStyle): boolean =>
  schema.embeddedResource === true && !(style === 'v2' && schema.preserveUnknownFields)

function typeKeywords(schema: Schema, style: OpenapiStyle): JsonObject {
  const out: JsonObject = {}
  if (schema.type === 'intOrString') out['x-kubernetes-int-or-string'] = true
  else if (schema.type === 'quantity') Object.assign(out, style === 'v2' ? { type: 'string' } : {})
  else if (schema.type !== 'any' && !(style === 'v2' && isUntyped(schema))) out['type'] = schema.type
  if (schema.preserveUnknownFields) out['x-kubernetes-preserve-unknown-fields'] = true
  if (schema.embeddedResource) out['x-kubernetes-embedded-resource'] = true
  return out
}

/** In version 2: where the type would make kubectl look for fields or items that are not told. */
function isUntyped({ type, nullable, preserveUnknownFields, items }: Schema): boolean {
  if (nullable) return true
  return preserveUnknownFields ? type === 'object' || type === 'array' : type === 'array' && items === undefined
}

const apiConventions = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md'

/** What upstream says of these three wherever they stand. */
export const metadataText: string = `Standard object's metadata. More info: ${apiConventions}#metadata`
export const listMetadataText: string = `Standard list metadata. More info: ${apiConventions}#types-kinds`
export const listItemsText = (resource: string): string => `List of ${resource}. More info: ${apiConventions}`

function embeddedFields({ style, reference }: InlineSchemaOptions): JsonObject {
  const metadata = reference(metaType('ObjectMeta'))
  return {
    apiVersion: {
      description:
        'apiVersion defines the versioned schema of this representation of an object. More info: ' +
        `${apiConventions}#resources`,
      type: 'string',
    },
    kind: {
      description:
        'kind is a string value representing the type of this object. In CamelCase. More info: ' +
        `${apiConventions}#types-kinds`,
      type: 'string',
    },
    ...(metadata ? { metadata: describe(metadata, { description: metadataText }, style) } : {}),
  }
}

function contents(schema: Schema, options: InlineSchemaOptions): JsonObject {
  const out: JsonObject = {}
  const embedded = isShownEmbedded(schema, options.style)
  if ((schema.properties && schema.properties.size > 0) || embedded) {
    const properties: JsonObject = {}
    for (const [name, value] of schema.properties ?? []) properties[name] = inlineSchema(value, options)
    out['properties'] = embedded ? { ...properties, ...embeddedFields(options) } : properties
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
