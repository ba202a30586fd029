/** The status of a quota is the server's own: it is right in every revision, so nobody else can have better news. */
import type { Strategy } from '../../registry/strategy.ts'
import type { ResourceQuota } from './types.ts'

/** @param general the catalogue's strategy of resource quotas */
export function quotaStrategy(general: Strategy): Strategy {
  return {
    ...general,
    prepare(next: ResourceQuota, old: ResourceQuota | undefined, context) {
      const prepared = general.prepare?.(next, old, context) ?? next
      if (old === undefined) return { ...prepared, status: {} }
      if (context.subresource !== 'status') return prepared
      const { status: _, ...rest } = prepared
      return old.status === undefined ? rest : { ...rest, status: old.status }
    },
  }
}
