/**
 * What must be a text in an object of a template before anything else is asked about it. The schema of a template knows
 * no kinds, so a client may send anything in their place.
 */
import { type FieldError, fieldInvalid } from '../../kube/field-error.ts'
import { isServable, parseApiVersion } from '../../kube/gvk.ts'
import { isJsonObject } from '../../kube/json-value.ts'
import type { JsonObject } from '../../kube/types.ts'
import { hasToken } from './tokens.ts'

/** An empty one is told as missing, one with a token as that. */
function apiVersionErrors(value: unknown, field: string): FieldError[] {
  if (value === undefined || value === null || value === '') return []
  if (typeof value !== 'string') return [fieldInvalid(field, value, 'must be a string')]
  if (hasToken(value)) return []
  const named = parseApiVersion(value)
  return named !== undefined && isServable(named)
    ? []
    : [fieldInvalid(field, value, 'must be the name of a version, such as `v1` or `apps/v1`')]
}

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
  return [...apiVersionErrors(apiVersion, `${field}.apiVersion`), ...mustBeText('kind', kind), ...inMetadata]
}
