/** What is up with a namespace: why it is as it is, how near to its limits, what may be set, what happened last. */
import type { ComponentType } from 'preact'
import type { Namespace } from '../../../apis/namespaces/types.ts'
import { pathOfNamespace } from '../namespaces/namespace-paths.ts'
import { type Quota, quotaResource, usagesOf } from '../namespaces/quota-glance.tsx'
import { Link } from '../router.tsx'
import { useFeed } from '../use-cluster.ts'
import { Later } from '../widgets/later.tsx'
import { Meter } from '../widgets/meter.tsx'
import { Refusal } from '../widgets/refusal.tsx'
import { EventList } from './events.tsx'
import { Limits } from './limits.tsx'
import { Settings } from './settings.tsx'
import { Why } from './why.tsx'

interface OverviewProps {
  readonly name: string
  readonly namespace: Namespace | undefined
}

const latestEvents = 6

const loadTemplateStanding = async (): Promise<ComponentType<{ readonly namespace: Namespace }>> =>
  (await import('./template-standing.tsx')).TemplateStanding

export function Overview({ name, namespace }: OverviewProps) {
  const isSettable = namespace !== undefined && namespace.metadata.deletionTimestamp === undefined
  return (
    <div class="overview">
      {namespace === undefined ? null : <Why namespace={namespace} />}
      <section class={isSettable ? 'panel' : 'panel wide'} aria-labelledby="usage">
        <h2 id="usage">Usage</h2>
        <UsageList namespace={name} />
        <Limits namespace={name} />
      </section>
      {isSettable ? <Settings namespace={namespace} /> : null}
      {namespace === undefined ? null : <Later load={loadTemplateStanding} given={{ namespace }} />}
      <section class="panel wide" aria-labelledby="latest">
        <h2 id="latest">Latest events</h2>
        <EventList namespace={name} most={latestEvents} />
        <Link href={`${pathOfNamespace(name)}/events`}>All events</Link>
      </section>
    </div>
  )
}

function UsageList({ namespace }: { readonly namespace: string }) {
  const { ready, objects, refused } = useFeed<Quota>({ resource: quotaResource, namespace })
  if (refused !== undefined) return <Refusal error={refused} />
  const usages = usagesOf(objects)
  if (usages.length === 0) return <p class="muted">{ready ? 'No ResourceQuota limits what it holds.' : 'Asking…'}</p>
  return (
    <div class="usages">
      {usages.map((usage, i) => (
        <Meter key={`${usage.resource} ${i}`} usage={usage} />
      ))}
    </div>
  )
}
