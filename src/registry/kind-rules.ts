/** Answers of a strategy with their defaults filled in, and what the registry does for every kind. */

import type { Strategy } from '../catalog/strategy.ts'
import type { FieldError } from '../kube/field-error.ts'
import { validateMetadata, validateMetadataUpdate } from '../kube/metadata.ts'
import { nameIsSubdomain } from '../kube/names.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { KubeObject } from '../kube/types.ts'

export const hasStatus = (type: ResourceType): boolean => type.subresources.has('status')

/** Whether what the maker of an object says of its status is nothing. */
export const dropsNewStatus = (type: ResourceType, strategy: Strategy): boolean =>
  hasStatus(type) && strategy.keepsNewStatus !== true

export const tracksGeneration = (type: ResourceType, strategy: Strategy): boolean =>
  strategy.tracksGeneration ?? (type.custom || (type.schema.properties?.has('spec') ?? false))

/** True while something besides metadata.finalizers keeps an object that is being deleted. */
export const isHeld = (strategy: Strategy, object: KubeObject): boolean => (strategy.heldBy?.(object).length ?? 0) > 0

export function metadataErrors(
  type: ResourceType,
  strategy: Strategy,
  object: Pick<KubeObject, 'metadata'>,
): readonly FieldError[] {
  return validateMetadata(object.metadata, {
    namespaced: type.namespaced,
    validateName: strategy.validateName ?? nameIsSubdomain,
    custom: type.custom || strategy.plainFinalizers === true,
  })
}

export const metadataUpdateErrors = (
  type: ResourceType,
  strategy: Strategy,
  next: Pick<KubeObject, 'metadata'>,
  old: KubeObject,
): readonly FieldError[] =>
  validateMetadataUpdate(next.metadata, old.metadata, { custom: type.custom || strategy.plainFinalizers === true })
