/** What happened in a namespace, the newest first. */
import type { KubeObject } from '../../../kube/types.ts'
import { useFeed } from '../use-cluster.ts'
import { Moment } from '../widgets/moment.tsx'
import { Refusal } from '../widgets/refusal.tsx'

interface KubeEvent extends KubeObject {
  type?: string
  reason?: string
  message?: string
  count?: number
  lastTimestamp?: string | null
  eventTime?: string | null
  involvedObject?: { kind?: string; name?: string }
}

const eventResource = { group: '', version: 'v1', resource: 'events' } as const
const mostShown = 500

const timeOf = ({ lastTimestamp, eventTime, metadata }: KubeEvent): string =>
  lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? ''

export function Events({ namespace }: { readonly namespace: string }) {
  return (
    <section class="panel">
      <h2>Events</h2>
      <EventList namespace={namespace} most={mostShown} />
    </section>
  )
}

export function EventList({ namespace, most }: { readonly namespace: string; readonly most: number }) {
  const { ready, objects, refused } = useFeed<KubeEvent>({ resource: eventResource, namespace })
  if (refused !== undefined) return <Refusal error={refused} />
  if (!ready) return <p class="muted">Asking…</p>
  if (objects.length === 0) return <p class="muted">Nothing was reported. Events are kept for an hour.</p>
  const latest = [...objects].sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1)).slice(0, most)
  return (
    <table class="table">
      <thead>
        <tr>
          <th scope="col">Last</th>
          <th scope="col">Reason</th>
          <th scope="col">Object</th>
          <th scope="col">Message</th>
        </tr>
      </thead>
      <tbody>
        {latest.map((event) => (
          <tr key={event.metadata.uid} class={event.type === 'Warning' ? 'warning' : ''}>
            <td>
              <Moment at={timeOf(event)} />
              {(event.count ?? 1) > 1 ? <span class="muted"> ×{event.count}</span> : null}
            </td>
            <td>{event.reason}</td>
            <td>
              {event.involvedObject?.kind}/{event.involvedObject?.name}
            </td>
            <td class="message">{event.message}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
