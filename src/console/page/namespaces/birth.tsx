/** How a namespace comes to be, while its create is under way: what it waits for, and what is in it already. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Namespace, namespaceResource, phaseOf } from '../../../apis/namespaces/types.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { Link } from '../router.tsx'
import { useFeed } from '../use-cluster.ts'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { Moment } from '../widgets/moment.tsx'
import { Refusal } from '../widgets/refusal.tsx'
import { PhaseBadge } from './phase-badge.tsx'

interface BirthProps {
  readonly name: string
  /** The create, which a server holds until the namespace is ready. */
  readonly created: Promise<KubeObject>
}

/** What most templates hold. */
const shownKinds = [
  { group: '', version: 'v1', resource: 'serviceaccounts' },
  { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'rolebindings' },
  { group: '', version: 'v1', resource: 'resourcequotas' },
  { group: '', version: 'v1', resource: 'limitranges' },
  { group: 'networking.k8s.io', version: 'v1', resource: 'networkpolicies' },
  { group: '', version: 'v1', resource: 'configmaps' },
] as const

export function Birth({ name, created }: BirthProps) {
  const outcome = useSignal<{ readonly object?: Namespace; readonly error?: unknown } | undefined>(undefined)
  useEffect(() => {
    created.then(
      (object) => {
        outcome.value = { object: object as Namespace }
      },
      (error: unknown) => {
        outcome.value = { error }
      },
    )
  }, [created])
  const { objects } = useFeed<Namespace>({ resource: namespaceResource, fieldSelector: `metadata.name=${name}` })
  const namespace = objects[0] ?? outcome.value?.object
  const { error } = outcome.value ?? {}
  const phase = namespace === undefined ? undefined : namespace.spec?.initializers ? 'Initializing' : phaseOf(namespace)
  const [awaited] = namespace?.spec?.initializers?.pending ?? []
  return (
    <>
      <header class="view-head">
        <h1>{name}</h1>
        {phase === undefined ? null : <PhaseBadge phase={phase} />}
      </header>
      <section class="panel birth" aria-live="polite" aria-label="How it comes to be">
        {error !== undefined ? <Refusal error={error} title="It was not created" /> : null}
        <ol class="steps">
          <Step done={namespace !== undefined} text="The namespace is stored" />
          <Step
            done={phase === 'Active'}
            text={awaited === undefined ? 'Its initializers are done' : `It waits for ${awaited.name}`}
          />
          <Step done={phase === 'Active' && outcome.value !== undefined} text="It is ready" />
        </ol>
        {namespace === undefined ? null : (
          <ul class="objects">
            {shownKinds.map((resource) => (
              <Arrived key={resource.resource} namespace={name} resource={resource} />
            ))}
          </ul>
        )}
      </section>
      <div class="row pad">
        {error === undefined ? (
          <Link class="button primary" href={`/namespaces/${encodeURIComponent(name)}`}>
            Open {name}
          </Link>
        ) : null}
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
