/** What is done to an object of any kind whatever becomes of it: defaults, checks, ownership of fields. */
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Turns } from '../base/turns.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Strategy } from '../catalog/strategy.ts'
import { Evaluator } from '../cel/evaluator.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { firstApplied, trackWrites } from './field-ownership.ts'
import { kindRules } from './kind-rules.ts'
import type { RegistryDeps } from './parts.ts'
import { schemaValidations } from './schema-errors.ts'
import { newObjectValidation, type ValidateNew } from './validate-new.ts'

export interface ObjectRulesOptions {
  readonly catalog: Catalog
  /** Kinds that are neither built in nor custom. */
  readonly declared: readonly ResourceType[]
  readonly clock: Clock
  readonly log: Log
  readonly turns: Turns
  strategyOf(type: ResourceType): Strategy
}

type OfRegistry = Pick<RegistryDeps, 'strategyOf' | 'applyDefaults' | 'rulesOf' | 'trackUpdate'>

export interface ObjectRules extends OfRegistry {
  readonly validateNew: ValidateNew
  /** Of expressions that clients write: rules of custom resources, and whatever else there is. To be disposed of. */
  readonly evaluator: Evaluator
  readonly applyNew: ReturnType<typeof firstApplied>
}

export function objectRules({ catalog, declared, clock, log, turns, strategyOf }: ObjectRulesOptions): ObjectRules {
  const evaluator = new Evaluator({ clock, turns })
  const applyDefaults = catalog.applyDefaults.bind(catalog)
  const schemaValidationOf = schemaValidations(declared, evaluator)
  const rulesOf = kindRules({ strategyOf, applyDefaults, schemaValidationOf })
  return {
    strategyOf,
    applyDefaults,
    rulesOf,
    evaluator,
    validateNew: newObjectValidation({ applyDefaults, rulesOf }, clock),
    applyNew: firstApplied(clock, applyDefaults),
    trackUpdate: trackWrites({ types: catalog.types, strategyOf }, log),
  }
}
