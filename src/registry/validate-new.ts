/**
 * What is wrong with a create as far as it depends on the object alone: what `prepare-create.ts` refuses, admission
 * aside.
 */
import { type Resumable, resumed } from '../base/resumable.ts'
import type { FieldError } from '../kube/field-error.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { KubeObject } from '../kube/types.ts'
import { assumeValid } from '../kube/unvalidated.ts'
import { metadataErrors } from './kind-rules.ts'
import type { RegistryDeps } from './parts.ts'

type Deps = Pick<RegistryDeps, 'applyDefaults' | 'strategyOf' | 'validateSchema'>

/** @param now RFC 3339, seconds */
export function* validateNew(
  deps: Deps,
  type: ResourceType,
  given: KubeObject,
  now: string,
): Resumable<readonly FieldError[]> {
  const strategy = deps.strategyOf(type)
  const context = { subresource: '', now }
  const defaulted = deps.applyDefaults(type, given)
  yield
  const object = assumeValid(strategy.prepare?.(defaulted, undefined, context) ?? defaulted)
  yield
  const wrong = yield* metadataErrors(type, strategy, object)
  yield
  const malformed = deps.validateSchema(type, object)
  yield
  return [...wrong, ...malformed, ...(yield* resumed(strategy.validate?.(object, undefined, context) ?? []))]
}
