/**
 * What can be known of an object of a template before there is a namespace for it: what decoding and validation of its
 * kind say when the tokens stand for a plain name. What depends on others (admission, quotas) is known at population.
 */
import type { FoundInObject } from '../apis/templates/admission.ts'
import { templateValues } from '../apis/templates/render.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { type FieldError, fieldForbidden, fieldInvalid } from '../kube/field-error.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { DecodeError, decode } from '../kube/schema/decode.ts'
import { prune } from '../kube/schema/prune.ts'
import type { JsonObject, KubeObject } from '../kube/types.ts'
import { metadataErrors } from '../registry/kind-rules.ts'
import type { Strategy } from '../registry/strategy.ts'

export interface TemplateObjectDeps {
  readonly applyDefaults: Catalog['applyDefaults']
  strategyOf(type: ResourceType): Strategy
  validateSchema(type: ResourceType, object: KubeObject): readonly FieldError[]
  /** RFC 3339 */
  now(): string
}

export function checkTemplateObject(deps: TemplateObjectDeps, type: ResourceType, source: JsonObject): FoundInObject {
  const value = templateValues(source, 'namespace', 'creator')
  const unknown: FieldError[] = []
  let decoded: JsonObject
  try {
    const objectMeta = type.schema.properties?.get('metadata')
    const { value: known, unknownFields } =
      type.custom && objectMeta !== undefined ? prune(value, type.schema, objectMeta) : decode(value, type.schema)
    decoded = known
    // Population applies objects, and an apply takes no field that the schema lacks.
    unknown.push(...unknownFields.map((field) => fieldForbidden(field, 'unknown field')))
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return { errors: [fieldInvalid('', type.kind, error.message)], warnings: [] }
  }
  const metadata = {
    ...(decoded['metadata'] as JsonObject | undefined),
    ...(type.namespaced ? { namespace: 'namespace' } : {}),
  }
  const strategy = deps.strategyOf(type)
  const context = { subresource: '', now: deps.now() }
  const defaulted = deps.applyDefaults(type, { ...decoded, metadata } as KubeObject)
  const object = strategy.prepare?.(defaulted, undefined, context) ?? defaulted
  const errors = [
    ...unknown,
    ...metadataErrors(type, strategy, object),
    ...deps.validateSchema(type, object),
    ...(strategy.validate?.(object, undefined, context) ?? []),
  ]
  return { errors, warnings: [] }
}
