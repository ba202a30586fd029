/** Answers of a strategy with their defaults filled in, and what the registry does for every kind. */

import type { Eventual } from '../base/eventual.ts'
import type { Strategy } from '../catalog/strategy.ts'
import type { FieldError } from '../kube/field-error.ts'
import type { MetadataRules } from '../kube/metadata.ts'
import { nameIsSubdomain } from '../kube/names.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { JsonValue, KubeObject, Unvalidated } from '../kube/types.ts'

export const hasStatus = (type: ResourceType): boolean => type.subresources.has('status')

/** What a create asks of a type. */
export interface KindRules {
  readonly strategy: Strategy
  /** What a client says of the status of a new object is dropped. */
  readonly dropsNewStatus: boolean
  readonly tracksGeneration: boolean
  /**
   * The status of new objects, where that of the client is dropped: what defaults make of nothing. Undefined for custom
   * resources: their status is what was written.
   */
  readonly newStatus: JsonValue | undefined
  readonly metadata: MetadataRules
  readonly validateSchema: SchemaValidation | undefined
}

/**
 * Everything but metadata. On an update what was wrong before, and is let through, is told to `update.warn`. `user`
 * asks for the write; without one nothing is waited for, and rules that are too costly for that are passed over.
 */
export type SchemaValidation = (
  object: KubeObject,
  user: string | undefined,
  update?: SchemaUpdate,
) => Eventual<readonly FieldError[]>

export interface SchemaUpdate {
  readonly old: KubeObject
  readonly subresource: string
  warn(text: string): void
}

/** Worked out once for each type. A definition that changes brings other types. */
export function kindRules({
  strategyOf,
  applyDefaults,
  schemaValidationOf,
}: {
  strategyOf(type: ResourceType): Strategy
  applyDefaults(type: ResourceType, object: KubeObject): Unvalidated
  schemaValidationOf(type: ResourceType): SchemaValidation | undefined
}): (type: ResourceType) => KindRules {
  const known = new WeakMap<ResourceType, KindRules>()
  const make = (type: ResourceType): KindRules => {
    const strategy = strategyOf(type)
    const dropsNewStatus = hasStatus(type) && strategy.keepsNewStatus !== true
    const bare = dropsNewStatus && !type.custom ? applyDefaults(type, { metadata: {} }) : undefined
    const newStatus = bare?.['status'] as JsonValue | undefined
    return {
      strategy,
      dropsNewStatus,
      tracksGeneration: tracksGeneration(type, strategy),
      newStatus,
      metadata: {
        namespaced: type.namespaced,
        validateName: strategy.validateName ?? nameIsSubdomain,
        custom: type.custom || strategy.plainFinalizers === true,
      },
      validateSchema: schemaValidationOf(type),
    }
  }
  return (type) => {
    let rules = known.get(type)
    if (rules === undefined) known.set(type, (rules = make(type)))
    return rules
  }
}

export const tracksGeneration = (type: ResourceType, strategy: Strategy): boolean =>
  strategy.tracksGeneration ?? (type.custom || (type.schema.properties?.has('spec') ?? false))

/** True while something besides metadata.finalizers keeps an object that is being deleted. */
export const isHeld = (strategy: Strategy, object: KubeObject): boolean => (strategy.heldBy?.(object).length ?? 0) > 0
