/**
 * What must be a text in an object of a template before anything else is asked about it. The schema of a template knows
 * no kinds, so a client may send anything in their place.
 */
import { type FieldError, fieldInvalid } from '../../kube/field-error.ts'
import { isJsonObject } from '../../kube/json-value.ts'
import type { JsonObject } from '../../kube/types.ts'

/** @param field where the object stands in the template */
export function shapeErrors({ apiVersion, kind, metadata }: JsonObject, field: string): FieldError[] {
  const mustBeText = (at: string, value: unknown): FieldError[] =>
    value === undefined || value === null || typeof value === 'string'
      ? []
      : [fieldInvalid(`${field}.${at}`, value, 'must be a string')]
  const inMetadata = isJsonObject(metadata)
    ? [...mustBeText('metadata.name', metadata['name']), ...mustBeText('metadata.namespace', metadata['namespace'])]
    : metadata === undefined || metadata === null
      ? []
      : [fieldInvalid(`${field}.metadata`, metadata, 'must be an object')]
  return [...mustBeText('apiVersion', apiVersion), ...mustBeText('kind', kind), ...inMetadata]
}
