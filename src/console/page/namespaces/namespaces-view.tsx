/** My namespaces: what is mine, in what state, how near to its limits, and until when. */
import { useEffect, useMemo } from 'preact/hooks'
import { useMay, useVerdict } from '../access-review.ts'
import { loadCreateView, loadNamespaceView } from '../later-views.ts'
import { Link, useRouter } from '../router.tsx'
import { type UpdatesOf, useUpdates } from '../templates/updates.ts'
import { useCluster } from '../use-cluster.ts'
import { Asking } from '../widgets/asking.tsx'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { PlusIcon } from '../widgets/icons.tsx'
import { exactTime, Moment } from '../widgets/moment.tsx'
import { ProtectedMark } from '../widgets/protected-mark.tsx'
import { Search, useSeek, useSought } from '../widgets/search.tsx'
import { type Column, VirtualRows } from '../widgets/virtual-rows.tsx'
import { AddKnown, KnownOnly } from './known-namespaces.tsx'
import { listCommand } from './list-command.ts'
import { MyNamespaces } from './my-namespaces.ts'
import { pathOfNamespace } from './namespace-paths.ts'
import { type NamespaceRow, searchTest } from './namespace-row.ts'
import { PhaseBadge, PopulationBadge } from './phase-badge.tsx'
import { QuotaGlance } from './quota-glance.tsx'

const columns: readonly Column[] = [
  { key: 'name', title: 'Name' },
  { key: 'phase', title: 'State' },
  { key: 'population', title: 'Templates' },
  { key: 'quota', title: 'Nearest limit' },
  { key: 'owner', title: 'Owner' },
  { key: 'expires', title: 'Expires' },
  { key: 'age', title: 'Age' },
]

/** After the list was shown. */
const loadNextMs = 1000

export function NamespacesView() {
  const cluster = useCluster()
  const router = useRouter()
  const mine = useMemo(() => new MyNamespaces(cluster), [cluster])
  useEffect(() => () => mine.stop(), [mine])
  const rows = mine.rows.value
  const refused = mine.refused.value
  const sought = useSought()
  const found = useMemo(() => rows?.filter(searchTest(sought)), [rows, sought])
  const mayListQuotas = useMay({ verb: 'list', resource: 'resourcequotas' })
  const updatesOf = useUpdates()
  const cells = useMemo(() => cellsFor(updatesOf), [updatesOf])
  const isKnownOnly = refused !== undefined
  const isShown = rows !== undefined
  useEffect(() => {
    if (!isShown) return undefined
    // What is likely to be opened next, once there is time; the view itself says so if it can't be loaded.
    const timer = cluster.clock.after(loadNextMs, () => {
      for (const load of [loadNamespaceView, loadCreateView]) void load().catch(() => undefined)
    })
    return () => timer.cancel()
  }, [cluster, isShown])

  return (
    <>
      <header class="view-head">
        <h1>
          My namespaces
          <span class="count" aria-live="polite">
            {rows === undefined || found === undefined ? '' : countText(found.length, rows.length)}
          </span>
        </h1>
        <Search label="Search by name, owner or label" placeholder="Name, owner:alice, label:env=prod" />
        <Link class="button primary" href="/new/namespace">
          <PlusIcon />
          Create namespace
        </Link>
      </header>
      {isKnownOnly ? <KnownOnly refused={refused} mine={mine} /> : null}
      {found === undefined ? (
        <div class="scroll">
          <Asking />
        </div>
      ) : found.length === 0 ? (
        <Empty sought={sought} isKnownOnly={isKnownOnly} mine={mine} />
      ) : (
        <VirtualRows
          label="My namespaces"
          layout="of-namespaces"
          columns={columns}
          rows={found}
          keyOf={(row) => row.name}
          cells={cells}
          detail={timesOf}
          onOpen={(row) => router.go(pathOfNamespace(row.name))}
        />
      )}
      <footer class="view-foot">
        <CopyCommand
          command={listCommand({ rows: found ?? [], areChosen: isKnownOnly || sought !== '', mayListQuotas })}
        />
      </footer>
    </>
  )
}

const countText = (found: number, all: number): string =>
  found === all ? all.toLocaleString('en') : `${found.toLocaleString('en')} of ${all.toLocaleString('en')}`

const timesOf = ({ name, created, expires }: NamespaceRow): string =>
  [
    ...(created === undefined ? [] : [`${name} created ${exactTime(created)}`]),
    ...(expires === undefined ? [] : [`expires ${exactTime(expires)}`]),
  ].join(', ')

const cellsFor = (updatesOf: UpdatesOf | undefined) => (row: NamespaceRow) => {
  const updates = row.namespace === undefined ? undefined : updatesOf?.(row.namespace)
  return [
    <>
      <Link class="name-link" tabIndex={-1} href={pathOfNamespace(row.name)}>
        {row.name}
      </Link>
      {row.isProtected ? <ProtectedMark title="protected from deletion" /> : null}
    </>,
    <PhaseBadge {...row} />,
    <PopulationBadge population={row.population} phase={row.phase} updates={updates} />,
    row.phase === 'Terminating' ? <span class="muted">–</span> : <QuotaGlance namespace={row.name} />,
    row.owner === '' ? <span class="muted">–</span> : <span title={row.owner}>{row.owner}</span>,
    <Moment at={row.expires} ahead takesFocus={false} />,
    <Moment at={row.created} takesFocus={false} />,
  ]
}

function Empty(props: { readonly sought: string; readonly isKnownOnly: boolean; readonly mine: MyNamespaces }) {
  const { sought, isKnownOnly, mine } = props
  const mayCreate = useVerdict([{ verb: 'create', resource: 'namespaces' }])
  const seek = useSeek()
  if (sought !== '') {
    return (
      <div class="empty">
        <h2>Nothing is found for “{sought}”</h2>
        <p>Words are looked for in names, owners and labels. All of them must be found.</p>
        <button type="button" class="button" onClick={() => seek('')}>
          Show all
        </button>
      </div>
    )
  }
  return (
    <div class="empty">
      <h2>{isKnownOnly ? 'No namespace is known yet' : 'You have no namespace yet'}</h2>
      <p>
        {isKnownOnly
          ? 'Create one, or name one that you were given.'
          : 'Create one: it comes with what the templates of this cluster hold. One that you are given appears here.'}
      </p>
      {mayCreate === false ? (
        <p>
          You may not create namespaces here. Who runs this cluster can make one for you, or give you the right to
          create them.
        </p>
      ) : null}
      <div class="row">
        <Link class="button primary" href="/new/namespace">
          Create namespace
        </Link>
        {isKnownOnly ? <AddKnown mine={mine} /> : null}
      </div>
    </div>
  )
}
