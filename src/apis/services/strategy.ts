/** What a Service is before it is given anything: its IP families are settled here, its addresses in the commit. */

import type { Strategy } from '../../catalog/strategy.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { invalid } from '../../kube/status-error.ts'
import type { Unvalidated } from '../../kube/types.ts'
import { withFamilies } from './families.ts'
import type { Family, Service } from './types.ts'

/** @param families of the cluster, the preferred one first */
export const serviceStrategy = (type: ResourceType, families: readonly Family[]): Strategy => ({
  prepare(next: Unvalidated<Service>, old: Service | undefined, { subresource }) {
    if (subresource !== '') return next
    const { spec, errors } = withFamilies(next.spec ?? {}, old && (old.spec ?? {}), families)
    if (errors.length > 0) throw invalid(type, next.metadata.name ?? '', errors)
    return { ...next, spec }
  },
})
