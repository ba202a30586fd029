/**
 * What can be known of an object of a template before there is a namespace for it: what decoding and validation of its
 * kind say when the tokens stand for a plain name. What depends on others (admission, quotas) is known at population.
 */

import type { Resumable } from '../../base/resumable.ts'
import type { FeatureContext } from '../../feature/feature.ts'
import { type FieldError, fieldForbidden, fieldInvalid } from '../../kube/field-error.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { DecodeError, decode } from '../../kube/schema/decode.ts'
import { prune } from '../../kube/schema/prune.ts'
import type { JsonObject } from '../../kube/types.ts'
import type { FoundInObject } from './check-template.ts'
import { notedErrors, samplesFor, untriedFor } from './parameter-rules.ts'
import { templateValues } from './render.ts'
import type { TemplateParameter } from './types.ts'

/** `validateNew`: what the registry says of a create, admission aside. */
export type TemplateObjectDeps = Pick<FeatureContext, 'validateNew'>

export function* checkTemplateObject(
  deps: TemplateObjectDeps,
  type: ResourceType,
  source: JsonObject,
  parameters: readonly TemplateParameter[],
): Resumable<FoundInObject> {
  const { samples, unknown } = samplesFor(source, parameters)
  yield
  if (unknown.length > 0) return { errors: [], warnings: [untriedFor(unknown)] }
  for (const sample of samples) {
    const value = templateValues(source, 'namespace', 'creator', sample)
    yield
    const errors = yield* errorsOf(deps, type, value)
    if (errors.length > 0) return { errors: notedErrors(errors, sample), warnings: [] }
  }
  return { errors: [], warnings: [] }
}

function* errorsOf(deps: TemplateObjectDeps, type: ResourceType, value: JsonObject): Resumable<readonly FieldError[]> {
  const unknown: FieldError[] = []
  let decoded: JsonObject
  try {
    const objectMeta = type.schema.properties?.get('metadata')
    const { value: known, unknownFields } =
      type.custom && objectMeta !== undefined ? prune(value, type.schema, objectMeta) : decode(value, type.schema)
    decoded = known
    // Population applies objects, and an apply takes no field that the schema lacks.
    for (const field of unknownFields) unknown.push(fieldForbidden(field, 'unknown field'))
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return [fieldInvalid('', type.kind, error.message)]
  }
  const metadata = {
    ...(decoded['metadata'] as JsonObject | undefined),
    ...(type.namespaced ? { namespace: 'namespace' } : {}),
  }
  yield
  return [...unknown, ...(yield* deps.validateNew(type, { ...decoded, metadata }))]
}
