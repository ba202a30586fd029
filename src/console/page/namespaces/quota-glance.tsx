/** The resource of a namespace that is nearest to its limit. */
import type { KubeObject } from '../../../kube/types.ts'
import { useFeed } from '../use-cluster.ts'
import { Meter, type Usage, usageOf } from '../widgets/meter.tsx'

export interface Quota extends KubeObject {
  status?: { hard?: Record<string, string>; used?: Record<string, string> }
}

export const quotaResource = { group: '', version: 'v1', resource: 'resourcequotas' } as const
/** Rows that fly by are not asked about. */
const restMs = 150

export const usagesOf = (quotas: readonly Quota[]): readonly Usage[] =>
  quotas
    .flatMap(({ status: { hard = {}, used = {} } = {} }) =>
      Object.entries(hard).map(([resource, limit]) => usageOf(resource, used[resource] ?? '0', limit)),
    )
    .sort((a, b) => b.ratio - a.ratio || (a.resource < b.resource ? -1 : 1))

export function QuotaGlance({ namespace }: { readonly namespace: string }) {
  const { ready, objects, refused } = useFeed<Quota>({ resource: quotaResource, namespace }, restMs)
  if (!ready) return <span class="muted" aria-hidden="true" />
  if (refused !== undefined)
    return (
      <span class="muted" title={refused.message}>
        not shown
      </span>
    )
  const [nearest] = usagesOf(objects)
  return nearest === undefined ? <span class="muted">no quota</span> : <Meter usage={nearest} small />
}
