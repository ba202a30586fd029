/**
 * What is used is the server's own: it is right in every revision, so no client can know better. The
 * `status.hard` is shown and not enforced (`spec.hard` is); `reconcile.ts` puts it right again.
 */

import type { Strategy } from '../../catalog/strategy.ts'
import type { Unvalidated } from '../../kube/types.ts'
import type { ResourceQuota } from './types.ts'

export const quotaStrategy: Strategy = {
  // The last of a namespace takes the epoch along, so each must know of those before it.
  removedAlone: true,
  prepare(next: Unvalidated<ResourceQuota>, old: ResourceQuota | undefined, { subresource }) {
    if (old === undefined) return { ...next, status: {} }
    if (subresource !== 'status') return next
    const { used } = old.status ?? {}
    const { hard } = next.status ?? {}
    return { ...next, status: { ...(hard ? { hard } : {}), ...(used ? { used } : {}) } }
  },
}
