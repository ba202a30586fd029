/**
 * What is used is the server's own: it is right in every revision, so nobody else can have better news. What stands in
 * `status.hard` is shown, and enforced by nobody (`spec.hard` is); `reconcile.ts` puts it right again.
 */

import type { Strategy } from '../../catalog/strategy.ts'
import type { Unvalidated } from '../../kube/types.ts'
import type { ResourceQuota } from './types.ts'

/** @param general the catalogue's strategy of resource quotas */
export function quotaStrategy(general: Strategy): Strategy {
  return {
    ...general,
    // The last of a namespace takes the epoch along, so each must know of those before it.
    removedAlone: true,
    prepare(next: Unvalidated<ResourceQuota>, old: ResourceQuota | undefined, context) {
      const prepared: Unvalidated<ResourceQuota> = general.prepare?.(next, old, context) ?? next
      if (old === undefined) return { ...prepared, status: {} }
      if (context.subresource !== 'status') return prepared
      const { used } = old.status ?? {}
      const { hard } = prepared.status ?? {}
      return { ...prepared, status: { ...(hard ? { hard } : {}), ...(used ? { used } : {}) } }
    },
  }
}
