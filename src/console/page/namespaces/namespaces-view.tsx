/** My namespaces: what is mine, in what state, how near to its limits, and until when. */
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { Link, useRouter } from '../router.tsx'
import { useCluster } from '../use-cluster.ts'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { PlusIcon, SearchIcon, ShieldIcon } from '../widgets/icons.tsx'
import { Moment } from '../widgets/moment.tsx'
import { type Column, VirtualRows } from '../widgets/virtual-rows.tsx'
import { AddKnown, KnownOnly } from './known-namespaces.tsx'
import { MyNamespaces } from './my-namespaces.ts'
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

export const pathOfNamespace = (name: string): string => `/namespaces/${encodeURIComponent(name)}`

export function NamespacesView() {
  const cluster = useCluster()
  const router = useRouter()
  const mine = useMemo(() => new MyNamespaces(cluster), [cluster])
  useEffect(() => () => mine.stop(), [mine])
  const rows = mine.rows.value
  const refused = mine.refused.value
  const sought = router.place.value.query.get('q') ?? ''
  const found = useMemo(() => rows?.filter(searchTest(sought)), [rows, sought])
  const isKnownOnly = refused !== undefined

  return (
    <>
      <header class="view-head">
        <h1>
          My namespaces
          <span class="count" aria-live="polite">
            {rows === undefined || found === undefined ? '' : countText(found.length, rows.length)}
          </span>
        </h1>
        <Search sought={sought} />
        <Link class="button primary" href="/namespaces/new">
          <PlusIcon />
          Create namespace
        </Link>
      </header>
      {isKnownOnly ? <KnownOnly refused={refused} mine={mine} /> : null}
      {found === undefined ? (
        <p class="muted pad" role="status">
          Asking the cluster…
        </p>
      ) : found.length === 0 ? (
        <Empty sought={sought} isKnownOnly={isKnownOnly} mine={mine} />
      ) : (
        <VirtualRows
          label="My namespaces"
          layout="of-namespaces"
          columns={columns}
          rows={found}
          keyOf={(row) => row.name}
          cells={cellsOf}
          onOpen={(row) => router.go(pathOfNamespace(row.name))}
        />
      )}
      <footer class="view-foot">
        <CopyCommand command={commandFor(isKnownOnly, found)} />
      </footer>
    </>
  )
}

const countText = (found: number, all: number): string =>
  found === all ? all.toLocaleString('en') : `${found.toLocaleString('en')} of ${all.toLocaleString('en')}`

function commandFor(isKnownOnly: boolean, found: readonly NamespaceRow[] | undefined): string {
  return isKnownOnly && found !== undefined && found.length > 0
    ? `kubectl get namespaces ${found.map(({ name }) => name).join(' ')}`
    : 'kubectl get namespaces'
}

function cellsOf(row: NamespaceRow) {
  return [
    <>
      <Link class="name-link" tabIndex={-1} href={pathOfNamespace(row.name)}>
        {row.name}
      </Link>
      {row.isProtected ? (
        <span class="mark-protected" role="img" aria-label="protected from deletion" title="protected from deletion">
          <ShieldIcon />
        </span>
      ) : null}
    </>,
    <PhaseBadge phase={row.phase} {...(row.refused === undefined ? {} : { refused: row.refused })} />,
    <PopulationBadge population={row.population} phase={row.phase} />,
    row.phase === 'Terminating' ? <span class="muted">–</span> : <QuotaGlance namespace={row.name} />,
    row.owner === '' ? <span class="muted">–</span> : <span title={row.owner}>{row.owner}</span>,
    <Moment at={row.expires} ahead />,
    <Moment at={row.created} />,
  ]
}

function Search({ sought }: { readonly sought: string }) {
  const router = useRouter()
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLElement && event.target.closest('input, textarea, select') !== null
      if (event.key !== '/' || isTyping) return
      event.preventDefault()
      input.current?.focus()
    }
    document.addEventListener('keydown', focus)
    return () => document.removeEventListener('keydown', focus)
  }, [])
  return (
    <label class="search">
      <SearchIcon />
      <span class="hidden">Search by name, owner or label</span>
      <input
        ref={input}
        type="search"
        placeholder="Name, owner:alice, label:env=prod"
        value={sought}
        onInput={({ currentTarget: { value } }) =>
          router.become(value === '' ? '/namespaces' : `/namespaces?q=${encodeURIComponent(value)}`)
        }
      />
      <kbd aria-hidden="true">/</kbd>
    </label>
  )
}

function Empty(props: { readonly sought: string; readonly isKnownOnly: boolean; readonly mine: MyNamespaces }) {
  const { sought, isKnownOnly, mine } = props
  const router = useRouter()
  if (sought !== '') {
    return (
      <div class="empty">
        <h2>Nothing is found for “{sought}”</h2>
        <p>Words are looked for in names, owners and labels. All of them must be found.</p>
        <button type="button" class="button" onClick={() => router.become('/namespaces')}>
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
      <div class="row">
        <Link class="button primary" href="/namespaces/new">
          Create namespace
        </Link>
        {isKnownOnly ? <AddKnown mine={mine} /> : null}
      </div>
    </div>
  )
}
