/**
 * What is wrong with a create as far as it depends on the object alone: what `prepare-create.ts` refuses, admission
 * aside.
 */
import type { Clock } from '../base/clock.ts'
import { isPending } from '../base/eventual.ts'
import { type Resumable, resumed } from '../base/resumable.ts'
import type { FieldError } from '../kube/field-error.ts'
import { judgeMetadata } from '../kube/metadata.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { formatTime } from '../kube/time.ts'
import type { KubeObject } from '../kube/types.ts'
import { assumeValid } from '../kube/unvalidated.ts'
import type { RegistryDeps } from './parts.ts'

type Deps = Pick<RegistryDeps, 'applyDefaults' | 'rulesOf'>

export type ValidateNew = (type: ResourceType, object: KubeObject) => Resumable<readonly FieldError[]>

export function newObjectValidation(deps: Deps, clock: Clock): ValidateNew {
  return function* (type, given) {
    const { strategy, metadata, validateSchema } = deps.rulesOf(type)
    const context = { subresource: '', now: formatTime(clock.now()) }
    const defaulted = deps.applyDefaults(type, given)
    yield
    const object = assumeValid(strategy.prepare?.(defaulted, undefined, context) ?? defaulted)
    yield
    const wrong = yield* resumed(judgeMetadata(object.metadata, metadata))
    yield
    // Rules that are too costly for this thread are judged when the object is created.
    const judged = validateSchema?.(object, undefined) ?? []
    const malformed = isPending(judged) ? [] : judged
    yield
    return [...wrong, ...malformed, ...(yield* resumed(strategy.validate?.(object, undefined, context) ?? []))]
  }
}
