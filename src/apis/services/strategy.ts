/** What a Service is before it is given anything: its IP families are settled here, its addresses in the commit. */

import type { Strategy } from '../../catalog/strategy.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { invalid } from '../../kube/status-error.ts'
import type { Unvalidated } from '../../kube/types.ts'
import { withFamilies } from './families.ts'
import type { Family, Service } from './types.ts'

/**
 * @param general the catalogue's strategy of services
 * @param families of the cluster, the preferred one first
 */
export function serviceStrategy(type: ResourceType, general: Strategy, families: readonly Family[]): Strategy {
  return {
    ...general,
    prepare(next, old, context) {
      const prepared: Unvalidated<Service> = general.prepare?.(next, old, context) ?? next
      if (context.subresource !== '') return prepared
      const { spec, errors } = withFamilies(prepared.spec ?? {}, old && ((old as Service).spec ?? {}), families)
      if (errors.length > 0) throw invalid(type, prepared.metadata.name ?? '', errors)
      return { ...prepared, spec }
    },
  }
}
