/**
 * Parts of an object that a request through one endpoint cannot set: what a body says there is dropped, so no manager
 * comes to own it.
 * @see k8s.io/apiserver/pkg/registry/rest/resetfields.go v0.36 and the GetResetFields of the strategies
 */
import type { ResourceType } from '../resource-type.ts'
import { type FieldSet, leaf } from './field-set.ts'

const status: FieldSet = { 'f:status': leaf }
const spec: FieldSet = { 'f:spec': leaf }
const specAndMetadata: FieldSet = { 'f:metadata': leaf, 'f:spec': leaf }

/** Undefined if everything can be set. `kept`: metadata that the sub-resource leaves as it was. */
export function resetFieldsOf(
  type: Pick<ResourceType, 'subresources' | 'custom'>,
  subresource: string,
  kept: readonly string[] = [],
): FieldSet | undefined {
  switch (subresource) {
    case '':
      return type.subresources.has('status') ? status : undefined
    case 'status':
      if (type.custom) return specAndMetadata
      return kept.length === 0 ? spec : { 'f:metadata': fieldsOf(kept), ...spec }
    case 'finalize':
      return status
    default:
      return undefined
  }
}

const fieldsOf = (names: readonly string[]): FieldSet =>
  Object.fromEntries(names.toSorted().map((name) => [`f:${name}`, leaf]))
