/** Which template reaches which namespaces. */
import { useMemo } from 'preact/hooks'
import { type Namespace, namespaceResource } from '../../../apis/namespaces/types.ts'
import { isOptedOut, selectTemplates } from '../../../apis/templates/match.ts'
import { type NamespaceTemplate, templateResource } from '../../../apis/templates/types.ts'
import { pathOfNamespace } from '../namespaces/namespace-paths.ts'
import { rowOf, searchTest } from '../namespaces/namespace-row.ts'
import { PhaseBadge, PopulationBadge } from '../namespaces/phase-badge.tsx'
import { Link, useRouter } from '../router.tsx'
import { useFeed } from '../use-cluster.ts'
import { Asking } from '../widgets/asking.tsx'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { Refusal } from '../widgets/refusal.tsx'
import { Search, useSought } from '../widgets/search.tsx'
import { type Column, VirtualRows } from '../widgets/virtual-rows.tsx'
import { mapCommand, type Reached } from './map-command.ts'
import { matcherOf } from './matcher.ts'
import { TemplatesUnseen } from './templates-unseen.tsx'
import { useMayCreateTemplates } from './templates-view.tsx'
import { type UpdatesOf, updatesIn } from './updates.ts'

const columns: readonly Column[] = [
  { key: 'name', title: 'Namespace' },
  { key: 'phase', title: 'State' },
  { key: 'population', title: 'Templates' },
  { key: 'reached', title: 'Reached by' },
]

export function MapView() {
  const router = useRouter()
  const templates = useFeed<NamespaceTemplate>({ resource: templateResource })
  const namespaces = useFeed<Namespace>({ resource: namespaceResource })
  const chosen = router.place.value.query.get('template') ?? ''
  const rows = useMemo(() => reachOf(templates.objects, namespaces.objects), [templates.objects, namespaces.objects])
  const cells = useMemo(() => cellsFor(updatesIn(templates.objects)), [templates.objects])
  const sought = useSought()
  const shown = useMemo(() => rows.filter(testOf(chosen, sought)), [rows, chosen, sought])
  const command = useMemo(
    () => mapCommand({ rows: shown, templates: templates.objects, template: chosen, sought }),
    [shown, templates.objects, chosen, sought],
  )
  const mayCreate = useMayCreateTemplates()
  const isReady = templates.ready && namespaces.ready
  return (
    <>
      <header class="view-head">
        <nav aria-label="Back" class="back">
          <Link href="/templates">Templates</Link>
        </nav>
        <h1>
          Which template reaches which namespaces
          <span class="count">{shown.length.toLocaleString('en')}</span>
        </h1>
        <Search label="Search by name, owner or label" placeholder="Name, owner:alice, label:env=prod" />
        <Choice templates={templates.objects} chosen={chosen} />
      </header>
      {templates.refused !== undefined ? (
        <div class="scroll">
          <TemplatesUnseen refused={templates.refused} />
        </div>
      ) : namespaces.refused !== undefined ? (
        <div class="scroll">
          <Refusal error={namespaces.refused} title="The server does not list namespaces to you" />
          <p>
            Those that you know by name are at <Link href="/namespaces">My namespaces</Link>, each with what its
            templates gave it under <em>Objects</em>.
          </p>
        </div>
      ) : !isReady ? (
        <div class="scroll">
          <Asking />
        </div>
      ) : shown.length === 0 ? (
        <div class="empty">
          <h2>{emptyText(sought)}</h2>
          {templates.objects.length === 0 && mayCreate ? (
            <Link class="button primary" href="/new/template">
              New template
            </Link>
          ) : templates.objects.length === 0 ? (
            <p>There is no template yet, and you may not create one.</p>
          ) : (
            <p>A template selects namespaces by label, name and creator, as its text says.</p>
          )}
        </div>
      ) : (
        <VirtualRows
          label="Namespaces and their templates"
          layout="of-map"
          columns={columns}
          rows={shown}
          keyOf={({ namespace }) => namespace.metadata.name ?? ''}
          cells={cells}
          onOpen={({ namespace }) => router.go(pathOfNamespace(namespace.metadata.name ?? ''))}
        />
      )}
      <footer class="view-foot">
        <CopyCommand command={command} />
      </footer>
    </>
  )
}

function Choice(props: { readonly templates: readonly NamespaceTemplate[]; readonly chosen: string }) {
  const router = useRouter()
  const sought = useSought()
  return (
    <label class="row">
      Template
      <select value={props.chosen} onChange={({ currentTarget: { value } }) => router.become(addressOf(value, sought))}>
        <option value="">any</option>
        {props.templates.map(({ metadata: { name } }) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  )
}

const emptyText = (sought: string): string =>
  sought === '' ? 'No namespace is reached' : `Nothing is found for “${sought}”`

function addressOf(template: string, sought: string): string {
  const query = new URLSearchParams({ ...(template ? { template } : {}), ...(sought ? { q: sought } : {}) })
  return query.size === 0 ? '/map' : `/map?${query.toString()}`
}

/** Of any template where none is chosen. */
function testOf(template: string, sought: string): (row: Reached) => boolean {
  const isFound = searchTest(sought)
  return ({ namespace, templates }) => (template === '' || templates.includes(template)) && isFound(rowOf(namespace))
}

function reachOf(templates: readonly NamespaceTemplate[], namespaces: readonly Namespace[]): readonly Reached[] {
  const matchers = templates.map(matcherOf)
  return namespaces
    .map((namespace) => ({
      namespace,
      templates: selectTemplates(matchers, namespace).map(({ metadata }) => metadata.name ?? ''),
    }))
    .sort((a, b) => ((a.namespace.metadata.name ?? '') < (b.namespace.metadata.name ?? '') ? -1 : 1))
}

const cellsFor =
  (updatesOf: UpdatesOf) =>
  ({ namespace, templates }: Reached) => {
    const row = rowOf(namespace)
    return [
      <Link class="name-link" tabIndex={-1} href={pathOfNamespace(row.name)}>
        {row.name}
      </Link>,
      <PhaseBadge phase={row.phase} />,
      templates.length === 0 ? (
        <span class="muted">–</span>
      ) : (
        <PopulationBadge population={row.population} phase={row.phase} updates={updatesOf(namespace)} />
      ),
      templates.length > 0 ? (
        templates.map((name) => (
          <span class="chip" key={name}>
            {name}
          </span>
        ))
      ) : (
        <span class="muted">{isOptedOut(namespace) ? 'none: opted out' : 'none'}</span>
      ),
    ]
  }
