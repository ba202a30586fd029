/** Conflicts, drift, fields that were taken over, objects that were refused, left out or added to: by namespace. */
import { useMemo } from 'preact/hooks'
import { type Namespace, namespaceResource } from '../../../apis/namespaces/types.ts'
import type { NamespaceTemplate } from '../../../apis/templates/types.ts'
import type { FeedState } from '../feed.ts'
import { pathOfNamespace } from '../namespaces/namespace-paths.ts'
import { Link, useRouter } from '../router.tsx'
import { useFeed } from '../use-cluster.ts'
import { Search, useSought } from '../widgets/search.tsx'
import { type Column, VirtualRows } from '../widgets/virtual-rows.tsx'
import { involvedIn } from './failure-words.ts'
import { type FailureRow, failuresOf, failureTest, type PopulationEvent, toldByEvents } from './template-failures.ts'
import { progressOf } from './template-state.ts'

const columns: readonly Column[] = [
  { key: 'name', title: 'Namespace' },
  { key: 'object', title: 'Object' },
  { key: 'reason', title: 'Reason' },
  { key: 'fields', title: 'Field and manager' },
  { key: 'message', title: 'Message' },
]

const cellsOf = ({ namespace, object, reason, message }: FailureRow) => [
  <Link class="name-link" tabIndex={-1} href={pathOfNamespace(namespace)}>
    {namespace}
  </Link>,
  <span title={object}>{object === '' ? '–' : object}</span>,
  reason === '' ? <span class="muted">–</span> : reason,
  <FieldsAndManagers message={message} />,
  <span title={message}>{message}</span>,
]

/** Who wrote which fields, as far as the server's words name them. */
export function FieldsAndManagers({ message }: { readonly message: string }) {
  const { fields, by } = involvedIn(message)
  if (fields.length === 0 && by.length === 0) return <span class="muted">–</span>
  const text = [fields.join(', '), by.length === 0 ? '' : `by ${by.join(', ')}`].filter((t) => t !== '').join(' ')
  return <span title={text}>{text}</span>
}

/** Of all namespaces; a user who may not list them is shown the rest. */
function useTold(reason: (typeof toldByEvents)[number]): FeedState<PopulationEvent> {
  return useFeed<PopulationEvent>({ resource: eventResource, fieldSelector: `reason=${reason}` })
}

const eventResource = { group: '', version: 'v1', resource: 'events' } as const

export function Failures({ template }: { readonly template: NamespaceTemplate }) {
  const router = useRouter()
  const namespaces = useFeed<Namespace>({ resource: namespaceResource })
  const sought = useSought()
  const told = toldByEvents.map(useTold)
  const events = useMemo(
    () => told.flatMap(({ objects }) => objects),
    told.map(({ objects }) => objects),
  )
  const all = useMemo(() => failuresOf(template, namespaces.objects, events), [template, namespaces.objects, events])
  const found = useMemo(() => all.filter(failureTest(sought)), [all, sought])
  return (
    <section class="panel" aria-labelledby="failures">
      <div class="row">
        <h2 id="failures">
          What stands in its way{' '}
          <span class="count">{all.length === 0 ? '' : countText(found.length, all.length)}</span>
        </h2>
        {all.length === 0 ? null : (
          <Search
            label="Search by namespace, object, reason, field or manager"
            placeholder="Namespace, object, field, manager"
          />
        )}
      </div>
      {all.length === 0 ? (
        <p class="muted">Nothing: no conflict, no drift, no object that was refused, left out or added to.</p>
      ) : found.length === 0 ? (
        <p class="muted">Nothing is found for “{sought}”.</p>
      ) : (
        <VirtualRows
          label="What stands in its way"
          layout="of-failures"
          columns={columns}
          rows={found}
          keyOf={({ namespace, object }) => `${namespace} ${object}`}
          cells={cellsOf}
          onOpen={({ namespace }) => router.go(pathOfNamespace(namespace))}
        />
      )}
      <Untold failed={progressOf(template).failed} rows={all} isListed={namespaces.refused === undefined} />
      <p class="muted">
        Drift that was corrected, and what others added, is told by events, which{' '}
        {told.some(({ refused }) => refused !== undefined)
          ? 'you may not list in all namespaces: '
          : 'are kept for an hour: '}
        the page of a namespace shows its own.
      </p>
    </section>
  )
}

const countText = (found: number, all: number): string =>
  found === all ? all.toLocaleString('en') : `${found.toLocaleString('en')} of ${all.toLocaleString('en')}`

interface UntoldProps {
  readonly failed: number
  readonly rows: readonly FailureRow[]
  readonly isListed: boolean
}

function Untold({ failed, rows, isListed }: UntoldProps) {
  const told = new Set(rows.map(({ namespace }) => namespace)).size
  if (failed <= told) return null
  return (
    <p class="muted">
      {told.toLocaleString('en')} of {failed.toLocaleString('en')} namespaces are shown.{' '}
      {isListed ? 'You may not see the others.' : 'You may not list namespaces, and its status names the first alone.'}
    </p>
  )
}
