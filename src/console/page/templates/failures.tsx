/** Conflicts, drift that is only reported, fields that were taken over, objects that were refused: by namespace. */
import { useMemo } from 'preact/hooks'
import { type Namespace, namespaceResource } from '../../../apis/namespaces/types.ts'
import type { NamespaceTemplate } from '../../../apis/templates/types.ts'
import { pathOfNamespace } from '../namespaces/namespaces-view.tsx'
import { Link, useRouter } from '../router.tsx'
import { useFeed } from '../use-cluster.ts'
import { Search, useSought } from '../widgets/search.tsx'
import { type Column, VirtualRows } from '../widgets/virtual-rows.tsx'
import { type FailureRow, failuresOf, failureTest } from './template-failures.ts'
import { progressOf } from './template-state.ts'

const columns: readonly Column[] = [
  { key: 'name', title: 'Namespace' },
  { key: 'object', title: 'Object' },
  { key: 'reason', title: 'Reason' },
  { key: 'message', title: 'Message' },
]

const cellsOf = ({ namespace, object, reason, message }: FailureRow) => [
  <Link class="name-link" tabIndex={-1} href={pathOfNamespace(namespace)}>
    {namespace}
  </Link>,
  <span title={object}>{object === '' ? '–' : object}</span>,
  reason === '' ? <span class="muted">–</span> : reason,
  <span title={message}>{message}</span>,
]

export function Failures({ template }: { readonly template: NamespaceTemplate }) {
  const router = useRouter()
  const namespaces = useFeed<Namespace>({ resource: namespaceResource })
  const sought = useSought()
  const all = useMemo(() => failuresOf(template, namespaces.objects), [template, namespaces.objects])
  const found = useMemo(() => all.filter(failureTest(sought)), [all, sought])
  return (
    <section class="panel" aria-labelledby="failures">
      <div class="row">
        <h2 id="failures">
          What stands in its way{' '}
          <span class="count">{all.length === 0 ? '' : countText(found.length, all.length)}</span>
        </h2>
        {all.length === 0 ? null : (
          <Search label="Search by namespace, object, reason or message" placeholder="Namespace, object, reason" />
        )}
      </div>
      {all.length === 0 ? (
        <p class="muted">Nothing: no conflict, no drift that is left, no object that was refused.</p>
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
