/** What is done to an object of any kind whatever becomes of it: defaults, checks, ownership of fields. */
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Resumable } from '../base/resumable.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Strategy } from '../catalog/strategy.ts'
import type { FieldError } from '../kube/field-error.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { KubeObject } from '../kube/types.ts'
import { firstApplied, trackWrites } from './field-ownership.ts'
import type { RegistryDeps } from './parts.ts'
import { schemaValidations } from './schema-errors.ts'
import { newObjectValidation } from './validate-new.ts'

export interface ObjectRulesOptions {
  readonly catalog: Catalog
  /** Kinds that are neither built in nor custom. */
  readonly declared: readonly ResourceType[]
  readonly clock: Clock
  readonly log: Log
  strategyOf(type: ResourceType): Strategy
}

type OfRegistry = Pick<RegistryDeps, 'strategyOf' | 'applyDefaults' | 'schemaValidationOf' | 'trackUpdate'>

export interface ObjectRules extends OfRegistry {
  validateNew(type: ResourceType, object: KubeObject): Resumable<readonly FieldError[]>
  readonly applyNew: ReturnType<typeof firstApplied>
}

export function objectRules({ catalog, declared, clock, log, strategyOf }: ObjectRulesOptions): ObjectRules {
  const applyDefaults = catalog.applyDefaults.bind(catalog)
  const kinds = { strategyOf, applyDefaults, schemaValidationOf: schemaValidations(declared) }
  return {
    ...kinds,
    validateNew: newObjectValidation(kinds, clock),
    applyNew: firstApplied(clock, applyDefaults),
    trackUpdate: trackWrites({ types: catalog.types, strategyOf }, log),
  }
}
