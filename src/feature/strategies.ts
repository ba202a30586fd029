import { extendStrategy, type Strategy } from '../catalog/strategy.ts'
import { qualifiedResource } from '../kube/gvk.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { FeatureParts } from './feature.ts'

/**
 * The catalogue's strategies, each extended by the feature that has something to add. Looked up at the first use:
 * features may still be added to `parts`.
 */
export function strategiesOf(
  parts: readonly FeatureParts[],
  catalog: { strategyOf(type: ResourceType): Strategy },
): (type: ResourceType) => Strategy {
  const known = new WeakMap<ResourceType, Strategy>()
  const find = (type: ResourceType): Strategy => {
    const key = qualifiedResource(type)
    const kind = catalog.strategyOf(type)
    for (const { strategies } of parts)
      if (strategies?.[key] !== undefined) return extendStrategy(kind, strategies[key])
    return kind
  }
  return (type) => {
    if (type.custom) return parts.find(({ customStrategy }) => customStrategy)?.customStrategy?.(type) ?? {}
    let strategy = known.get(type)
    if (strategy === undefined) known.set(type, (strategy = find(type)))
    return strategy
  }
}
