/** The resource of a namespace that is nearest to its limit. */
import type { KubeObject } from '../../../kube/types.ts'
import { useFeed } from '../use-cluster.ts'
import { Meter, type Usage, usageOf } from '../widgets/meter.tsx'
import { useHasRested } from '../widgets/rows-in-sight.ts'

export interface Quota extends KubeObject {
  status?: { hard?: Record<string, string>; used?: Record<string, string> }
}

export const quotaResource = { group: '', version: 'v1', resource: 'resourcequotas' } as const

/** The nearest to its limit first. What more than one quota limits is told apart by their names. */
export function usagesOf(quotas: readonly Quota[]): readonly Usage[] {
  const limited = quotas.flatMap(({ status }) => Object.keys(status?.hard ?? {}))
  const isTwice = (resource: string): boolean => limited.indexOf(resource) !== limited.lastIndexOf(resource)
  return quotas
    .flatMap(({ metadata, status: { hard = {}, used = {} } = {} }) =>
      Object.entries(hard).map(([resource, limit]) => {
        const title = isTwice(resource) ? `${resource} (${metadata.name})` : resource
        return usageOf(title, used[resource] ?? '0', limit)
      }),
    )
    .sort((a, b) => b.ratio - a.ratio || (a.resource < b.resource ? -1 : 1))
}

interface QuotaGlanceProps {
  readonly namespace: string
}

export function QuotaGlance({ namespace }: QuotaGlanceProps) {
  return useHasRested() ? <NearestLimit namespace={namespace} /> : null
}

function NearestLimit({ namespace }: QuotaGlanceProps) {
  const { ready, objects, refused } = useFeed<Quota>({ resource: quotaResource, namespace })
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
