/** What happened in a namespace, the newest first. */
import type { KubeObject } from '../../../kube/types.ts'
import { useFeed } from '../use-cluster.ts'
import { Moment } from '../widgets/moment.tsx'
import { Refusal } from '../widgets/refusal.tsx'
import { Words } from '../widgets/words.tsx'

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
      <tbody onKeyDown={moveAmongTimes}>
        {latest.map((event, i) => (
          <tr key={event.metadata.uid} class={event.type === 'Warning' ? 'warning' : ''}>
            <td>
              <Moment at={timeOf(event)} isStop={i === 0} />
              {(event.count ?? 1) > 1 ? <span class="muted"> ×{event.count}</span> : null}
            </td>
            <td>
              <Words text={event.reason ?? ''} />
            </td>
            <td>
              <Words text={event.involvedObject?.kind ?? ''} />/<Words text={event.involvedObject?.name ?? ''} />
            </td>
            <td class="message">
              <Words text={event.message ?? ''} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Of five hundred times one is a stop of the tab key; arrows go from row to row. */
function moveAmongTimes(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const times = [...event.currentTarget.querySelectorAll('time')]
  const at = times.findIndex((time) => time === event.target)
  const next = step === undefined || at < 0 ? undefined : times[at + step]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
}
