/** The strategy of a built-in type: what its kind says, and what holds for built-in kinds that say nothing. */
import { qualifiedResource } from '../../kube/gvk.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { Strategy } from '../strategy.ts'
import { builtInKinds } from './kinds.ts'

/** Unlike those of kinds of ours and of custom ones, whose generation counts as soon as they have a spec. */
const ofBuiltIn: Strategy = { tracksGeneration: false }

export function builtInStrategy(type: ResourceType): Strategy {
  const { strategy } = builtInKinds[qualifiedResource(type)] ?? {}
  const { conversion } = type
  const validate = strategy?.validate
  if (conversion === undefined || validate === undefined) return { ...ofBuiltIn, ...strategy }
  return {
    ...ofBuiltIn,
    ...strategy,
    // As upstream, which validates no version that is shown but the one that all of them become.
    validate: (next, old, context) => validate(conversion.toStored(next), old && conversion.toStored(old), context),
  }
}
