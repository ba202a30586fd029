/** One namespace: its head, and a view of it for each question. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { type Namespace, nameLabel } from '../../../apis/namespaces/types.ts'
import { creatorKey } from '../../../apis/templates/types.ts'
import { followNamespace, Unseen } from '../namespaces/follow-namespace.ts'
import { pathOfNamespace } from '../namespaces/namespace-paths.ts'
import { rowOf } from '../namespaces/namespace-row.ts'
import { PhaseBadge, PopulationBadge } from '../namespaces/phase-badge.tsx'
import { Link } from '../router.tsx'
import { useUpdates } from '../templates/updates.ts'
import { useCluster } from '../use-cluster.ts'
import { Asking } from '../widgets/asking.tsx'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { Moment } from '../widgets/moment.tsx'
import { Words } from '../widgets/words.tsx'
import { Access } from './access.tsx'
import { commandOf } from './commands.ts'
import { Deletion } from './deletion.tsx'
import { Events } from './events.tsx'
import { NotShown } from './not-shown.tsx'
import { Objects } from './objects.tsx'
import { Overview } from './overview.tsx'
import { type TabPath, tabs } from './tabs.ts'

export interface NamespaceViewProps {
  readonly name: string
  readonly tab: TabPath
}

export function NamespaceView({ name, tab }: NamespaceViewProps) {
  const cluster = useCluster()
  const found = useSignal<Namespace | Unseen | undefined>(undefined)
  /** It was seen on its way out, so that it is not there any more is no fault. */
  const isGone = useSignal(false)
  useEffect(() => {
    found.value = undefined
    isGone.value = false
    return followNamespace(cluster, name, (next) => {
      const before = found.peek()
      const wasGoing =
        before !== undefined && !(before instanceof Unseen) && before.metadata.deletionTimestamp !== undefined
      isGone.value = next instanceof Unseen && next.isMissing && (wasGoing || isGone.peek())
      found.value = next
    })
  }, [cluster, name])
  const namespace = found.value instanceof Unseen ? undefined : found.value
  return (
    <>
      <Head name={name} namespace={namespace} />
      <nav class="tabs" aria-label={`Views of ${name}`}>
        {tabs.map(({ path, title }) => (
          <Link
            key={path}
            href={path === '' ? pathOfNamespace(name) : `${pathOfNamespace(name)}/${path}`}
            aria-current={tab === path ? 'page' : undefined}
          >
            {title}
          </Link>
        ))}
      </nav>
      {/* Where it is all text, keys must reach it to scroll it. */}
      <div class="scroll" tabIndex={0}>
        {isGone.value ? (
          <Gone name={name} />
        ) : found.value instanceof Unseen ? (
          <NotShown name={name} why={found.value} />
        ) : null}
        {isGone.value || isClosed(found.value) ? null : found.value === undefined ? (
          <Asking />
        ) : (
          bodyOf(tab, name, namespace)
        )}
      </div>
      <footer class="view-foot">
        <CopyCommand command={commandOf(tab, name, namespace !== undefined)} />
      </footer>
    </>
  )
}

/** Neither it nor anything in it: its views would be refusals, one beside the other. */
const isClosed = (found: Namespace | Unseen | undefined): boolean => found instanceof Unseen && !found.isOpen

function Gone({ name }: { readonly name: string }) {
  return (
    <div class="notice" role="status">
      <p>
        <strong>{name} is gone,</strong> with all that was in it. <Link href="/namespaces">Back to my namespaces</Link>
      </p>
    </div>
  )
}

/** What is in a namespace may be open to a user who may not see the namespace itself. */
function bodyOf(tab: TabPath, name: string, namespace: Namespace | undefined): ComponentChildren {
  switch (tab) {
    case '':
      return <Overview name={name} namespace={namespace} />
    case 'objects':
      return <Objects namespace={name} />
    case 'access':
      return <Access namespace={name} owner={namespace === undefined ? '' : rowOf(namespace).owner} />
    case 'events':
      return <Events namespace={name} />
    case 'delete':
      return namespace === undefined ? null : <Deletion namespace={namespace} />
  }
}

function Head({ name, namespace }: { readonly name: string; readonly namespace: Namespace | undefined }) {
  const row = namespace === undefined ? undefined : rowOf(namespace)
  const updatesOf = useUpdates()
  return (
    <header class="view-head namespace-head">
      <nav aria-label="Back">
        <Link href="/namespaces">My namespaces</Link>
      </nav>
      <h1>{name}</h1>
      {row === undefined ? null : (
        <dl class="facts">
          <Fact term="State">
            <PhaseBadge phase={row.phase} />
          </Fact>
          <Fact term="Templates">
            <PopulationBadge
              phase={row.phase}
              population={row.population}
              updates={namespace === undefined ? undefined : updatesOf?.(namespace)}
            />
          </Fact>
          <Fact term="Owner">{row.owner === '' ? '–' : <Words text={row.owner} />}</Fact>
          <Fact term="Age">
            <Moment at={row.created} />
          </Fact>
          <Fact term="Expires">
            <Moment at={row.expires} ahead />
          </Fact>
          <Fact term="Labels">
            <Labels labels={ownLabels(row.labels)} />
          </Fact>
        </dl>
      )}
    </header>
  )
}

function Labels({ labels }: { readonly labels: readonly (readonly [key: string, value: string])[] }) {
  if (labels.length === 0) return '–'
  return labels.map(([key, value]) => (
    <span class="chip" key={key}>
      {key}={value}
    </span>
  ))
}

/** Without those that every namespace has, and that say what is on the page already. */
const ownLabels = (labels: Readonly<Record<string, string>>): [key: string, value: string][] =>
  Object.entries(labels).filter(([key]) => key !== nameLabel && key !== creatorKey)

function Fact({ term, children }: { readonly term: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  )
}
