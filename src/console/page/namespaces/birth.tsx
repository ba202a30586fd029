/** How a namespace comes to be, while its create is under way: what it waits for, and what is in it already. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Namespace } from '../../../apis/namespaces/types.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { Link } from '../router.tsx'
import { useCluster, useFeed } from '../use-cluster.ts'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { Moment } from '../widgets/moment.tsx'
import { followNamespace, Unseen } from './follow-namespace.ts'
import { rowOf } from './namespace-row.ts'
import { PhaseBadge } from './phase-badge.tsx'

interface BirthProps {
  readonly name: string
  /** The create, which a server holds until the namespace is ready. */
  readonly created: Promise<KubeObject>
}

/** Its creator waits for it. */
const readAgainMs = 1000

/** What most templates hold. */
const shownKinds = [
  { group: '', version: 'v1', resource: 'serviceaccounts' },
  { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'roles' },
  { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'rolebindings' },
  { group: '', version: 'v1', resource: 'resourcequotas' },
  { group: '', version: 'v1', resource: 'limitranges' },
  { group: 'networking.k8s.io', version: 'v1', resource: 'networkpolicies' },
  { group: '', version: 'v1', resource: 'configmaps' },
] as const

export function Birth({ name, created }: BirthProps) {
  const cluster = useCluster()
  const answered = useSignal<Namespace | undefined>(undefined)
  useEffect(() => {
    created.then(
      (object) => {
        answered.value = object as Namespace
      },
      // Then the form is shown again.
      () => undefined,
    )
  }, [created])
  const seen = useSignal<Namespace | undefined>(undefined)
  useEffect(
    () =>
      followNamespace(
        cluster,
        name,
        (found) => {
          if (!(found instanceof Unseen)) seen.value = found
        },
        readAgainMs,
      ),
    [cluster, name],
  )
  const namespace = seen.value ?? answered.value
  const phase = namespace === undefined ? undefined : rowOf(namespace).phase
  const [awaited] = namespace?.spec?.initializers?.pending ?? []
  return (
    <>
      <header class="view-head">
        <h1>{name}</h1>
        {phase === undefined ? null : <PhaseBadge phase={phase} />}
      </header>
      <section class="panel birth" aria-live="polite" aria-label="How it comes to be">
        <ol class="steps">
          <Step done={namespace !== undefined} text="The namespace is stored" />
          <Step done={phase === 'Active'} text={awaitedText(phase, awaited?.name)} />
          <Step done={phase === 'Active' && answered.value !== undefined} text="It is ready" />
        </ol>
        {namespace === undefined ? null : (
          <ul class="objects">
            {shownKinds.map((resource) => (
              // Rights in it may come with what its templates hold.
              <Arrived key={`${resource.resource} ${phase}`} namespace={name} resource={resource} />
            ))}
          </ul>
        )}
      </section>
      <div class="row pad">
        <Link class="button primary" href={`/namespaces/${encodeURIComponent(name)}`}>
          Open {name}
        </Link>
        <Link class="button" href="/namespaces">
          My namespaces
        </Link>
      </div>
      <footer class="view-foot">
        <CopyCommand command={`kubectl get namespace ${name} --watch`} />
      </footer>
    </>
  )
}

function awaitedText(phase: string | undefined, initializer: string | undefined): string {
  if (initializer !== undefined) return `It waits for ${initializer}`
  return phase === 'Initializing' ? 'It waits for its templates' : 'Its initializers are done'
}

function Step({ done, text }: { readonly done: boolean; readonly text: string }) {
  return (
    <li class={done ? 'done' : 'open'}>
      {text}
      <span class="hidden">{done ? ', done' : ', not yet'}</span>
    </li>
  )
}

function Arrived(props: { readonly namespace: string; readonly resource: (typeof shownKinds)[number] }) {
  const { namespace, resource } = props
  const { objects } = useFeed<KubeObject>({ resource, namespace })
  return objects.map(({ metadata }) => (
    <li key={metadata.uid}>
      <span class="kind">{resource.resource}</span> {metadata.name}{' '}
      <Moment at={metadata.creationTimestamp ?? undefined} />
    </li>
  ))
}
