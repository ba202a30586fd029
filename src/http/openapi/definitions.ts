/**
 * Collects the definitions of one document: a reference to a type makes it part of the document.
 */
import type { Resumable } from '../../base/resumable.ts'
import type { GroupVersionKind } from '../../kube/gvk.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { Schema } from '../../kube/schema/schema.ts'
import type { JsonObject, JsonValue } from '../../kube/types.ts'
import { type DefinitionNames, metaType, type TypeCatalog } from './definition-names.ts'
import {
  describe,
  inlineSchema,
  listItemsText,
  listMetadataText,
  type MergeFact,
  mergeExtensions,
  metadataText,
} from './inline-schema.ts'
import {
  anyFieldType,
  intOrStringName,
  microTimeName,
  type OpenapiStyle,
  quantityName,
  specialDefinition,
  timeName,
} from './special-definitions.ts'

export type KindsOf = (definition: string) => readonly GroupVersionKind[]

/** Where apiVersion, kind and metadata are described once and for all. */
const describedKind = 'io.k8s.api.core.v1.Namespace'

export class Definitions {
  readonly #style: OpenapiStyle
  readonly #catalog: TypeCatalog
  readonly #names: DefinitionNames
  readonly #kindsOf: KindsOf
  readonly #made = new Map<string, JsonObject>()
  readonly #wanted: string[] = []

  constructor(style: OpenapiStyle, catalog: TypeCatalog, names: DefinitionNames, kindsOf: KindsOf) {
    this.#style = style
    this.#catalog = catalog
    this.#names = names
    this.#kindsOf = kindsOf
  }

  /** A reference; what it refers to will be in the document. */
  reference(name: string): JsonObject {
    if (!this.#made.has(name)) {
      this.#made.set(name, {})
      this.#wanted.push(name)
    }
    return { $ref: `${this.#style === 'v2' ? '#/definitions/' : '#/components/schemas/'}${name}` }
  }

  /** Defines the kind of a served type and its list. */
  addType(type: ResourceType): void {
    const { group, version, listKind } = type
    const name = this.#names.of(type)
    if (this.#names.isCatalogued(name)) this.reference(name)
    else this.#made.set(name, this.#uncatalogued(name, type))
    const list = this.#names.of({ group, version, kind: listKind })
    if (type.verbs.includes('list') && !this.#names.isCatalogued(list)) {
      this.#made.set(list, this.#listOf(list, name, type))
    }
  }

  /** By name, ascending. */
  *finishing(): Resumable<JsonObject> {
    for (let name = this.#wanted.pop(); name !== undefined; name = this.#wanted.pop()) {
      this.#made.set(name, specialDefinition(name, this.#style) ?? this.#catalogued(name))
      yield
    }
    return Object.fromEntries([...this.#made].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  #catalogued(name: string): JsonObject {
    const schema = this.#catalog.schemaOf(name)
    const required = this.#catalog.alwaysPrinted(name)
    const properties: JsonObject = {}
    for (const [field, fieldSchema] of schema.properties ?? []) {
      properties[field] = this.#field(name, field, fieldSchema, required.includes(field))
    }
    return {
      ...textOf(this.#catalog.describe(name)),
      ...(Object.keys(properties).length > 0 ? { properties } : {}),
      ...(required.length > 0 ? { required: [...required] } : {}),
      type: 'object',
      ...this.#kindExtension(name),
      ...(schema.mapType === 'atomic' ? { 'x-kubernetes-map-type': 'atomic' } : {}),
    }
  }

  #field(typeName: string, field: string, schema: Schema, required: boolean): JsonObject {
    const value = this.#value(schema, anyFieldType(typeName, field))
    const siblings: JsonObject = {
      ...this.#default(schema, required),
      ...textOf(this.#catalog.describe(typeName, field) || metadataTextOf(schema)),
      ...mergeExtensions(this.#ownFacts(schema)),
    }
    if (value['$ref'] === undefined || this.#style === 'v2') return { ...siblings, ...value }
    // A reference must stand alone in OpenAPI 3.0.
    return Object.keys(siblings).length === 0 ? value : { allOf: [value], ...siblings }
  }

  /** Without what the type referred to says itself. */
  #ownFacts(schema: Schema): Pick<Schema, MergeFact> {
    const { listMapKeys, listType, mapType, patchMergeKey, patchStrategy, typeName } = schema
    const inherited = typeName !== undefined && this.#catalog.schemaOf(typeName).mapType === mapType
    return {
      ...(listMapKeys ? { listMapKeys } : {}),
      ...(listType ? { listType } : {}),
      ...(mapType && !inherited ? { mapType } : {}),
      ...(patchMergeKey ? { patchMergeKey } : {}),
      ...(patchStrategy ? { patchStrategy } : {}),
    }
  }

  #value(schema: Schema, anyType: string): JsonObject {
    if (schema.typeName !== undefined) return this.reference(schema.typeName)
    switch (schema.type) {
      case 'array':
        return { items: this.#item(schema.items ?? { type: 'any' }, anyType), type: 'array' }
      case 'object': {
        const values = schema.additionalProperties
        if (typeof values !== 'object') return { type: 'object' }
        return { additionalProperties: this.#item(values, anyType), type: 'object' }
      }
      case 'any':
        return this.reference(anyType)
      case 'quantity':
        return this.reference(quantityName)
      case 'intOrString':
        return this.reference(intOrStringName)
      default:
        if (schema.format === 'date-time') return this.reference(timeName)
        if (schema.format === 'micro-time') return this.reference(microTimeName)
        return { ...(schema.format ? { format: schema.format } : {}), type: schema.type }
    }
  }

  /** What lists and maps hold. Version 3 tells Go's zero value of each. */
  #item(schema: Schema, anyType: string): JsonObject {
    const value = this.#value(schema, anyType)
    if (this.#style === 'v2') return value
    const zero = this.#default({ ...plainOf(schema), byValue: true }, true)
    return value['$ref'] !== undefined && Object.keys(zero).length > 0
      ? { allOf: [value], ...zero }
      : { ...zero, ...value }
  }

  #default(schema: Schema, required: boolean): JsonObject {
    if (this.#style === 'v2') return {}
    if (schema.default !== undefined) return { default: schema.default }
    if (schema.typeName !== undefined) return schema.byValue ? { default: {} } : {}
    const zero = required && schema.format === undefined ? zeroByType[schema.type] : undefined
    const number = required && (schema.type === 'integer' || schema.type === 'number')
    return zero !== undefined ? { default: zero } : number ? { default: 0 } : {}
  }

  #uncatalogued(name: string, type: ResourceType): JsonObject {
    // kubectl's validation of version 2 knows no object with some known fields that takes others too.
    if (type.schema.preserveUnknownFields && this.#style === 'v2') {
      return { type: 'object', ...this.#kindExtension(name) }
    }
    const { typeName: _, ...schema } = type.schema
    const inline = inlineSchema(schema, {
      style: this.#style,
      reference: (typeName) => (this.#names.isCatalogued(typeName) ? this.reference(typeName) : undefined),
    })
    return {
      ...inline,
      type: 'object',
      properties: { ...(inline['properties'] as JsonObject | undefined), ...this.#typeMeta('ObjectMeta') },
      ...this.#kindExtension(name),
      ...selectableExtension(type),
    }
  }

  #listOf(name: string, item: string, type: ResourceType): JsonObject {
    return {
      description: `${type.listKind} is a list of ${type.kind}`,
      type: 'object',
      required: ['items'],
      properties: {
        ...this.#typeMeta('ListMeta'),
        items: {
          description: listItemsText(type.resource),
          type: 'array',
          items: this.reference(item),
        },
      },
      ...this.#kindExtension(name),
      ...selectableExtension(type),
    }
  }

  #typeMeta(metadataType: 'ObjectMeta' | 'ListMeta'): JsonObject {
    const text = (field: string): JsonObject => textOf(this.#catalog.describe(describedKind, field))
    const metadata = this.reference(metaType(metadataType))
    const siblings = { description: metadataType === 'ObjectMeta' ? metadataText : listMetadataText }
    return {
      apiVersion: { ...text('apiVersion'), type: 'string' },
      kind: { ...text('kind'), type: 'string' },
      metadata: describe(metadata, siblings, this.#style),
    }
  }

  #kindExtension(name: string): JsonObject {
    const kinds = this.#kindsOf(name)
    if (kinds.length === 0) return {}
    return { 'x-kubernetes-group-version-kind': kinds.map(({ group, kind, version }) => ({ group, kind, version })) }
  }
}

const selectableExtension = ({ selectableFields = [] }: ResourceType): JsonObject =>
  selectableFields.length === 0
    ? {}
    : { 'x-kubernetes-selectable-fields': selectableFields.map((fieldPath) => ({ fieldPath })) }

/** The official client tells nothing of fields that refer to a type; these two stand in every kind. */
function metadataTextOf({ typeName }: Schema): string | undefined {
  if (typeName === metaType('ObjectMeta')) return metadataText
  return typeName === metaType('ListMeta') ? listMetadataText : undefined
}

const zeroByType: Readonly<Record<string, JsonValue>> = { string: '', boolean: false }

const textOf = (description: string | undefined): JsonObject =>
  description === undefined || description === '' ? {} : { description }

/** The parts of a schema that say what its zero value is. */
function plainOf(schema: Schema): Schema {
  return {
    type: schema.type,
    ...(schema.format ? { format: schema.format } : {}),
    ...(schema.typeName ? { typeName: schema.typeName } : {}),
  }
}
