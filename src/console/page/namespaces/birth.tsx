/** How a namespace comes to be: what it waits for, and what is in it already. It has an address of its own. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Namespace } from '../../../apis/namespaces/types.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { commandOf, kindsOfBirth } from '../namespace/commands.ts'
import { Link, useRouter } from '../router.tsx'
import { useCluster, useFeed } from '../use-cluster.ts'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { Moment } from '../widgets/moment.tsx'
import { Refusal } from '../widgets/refusal.tsx'
import { Words } from '../widgets/words.tsx'
import { followNamespace, Unseen } from './follow-namespace.ts'
import { pathOfNamespace } from './namespace-paths.ts'
import { rowOf } from './namespace-row.ts'
import { PhaseBadge } from './phase-badge.tsx'

/** Its creator waits for it. */
const readAgainMs = 1000

/** Its creator is answered by this tab's own create; another tab, or a person who was sent the address, by a watch. */
export function Birth({ name }: { readonly name: string }) {
  const cluster = useCluster()
  const router = useRouter()
  const isAnswered = useSignal(cluster.creations.of(name) === undefined)
  const found = useSignal<Namespace | Unseen | undefined>(undefined)
  useEffect(() => {
    let isLeft = false
    cluster.creations.of(name)?.then(
      (object) => {
        isAnswered.value = true
        if (found.peek() === undefined || found.peek() instanceof Unseen) found.value = object
      },
      // Back at the form, with what was typed and the server's words at the fields.
      () => !isLeft && router.become('/new/namespace'),
    )
    return () => {
      isLeft = true
    }
  }, [cluster, name])
  useEffect(
    () =>
      followNamespace(
        cluster,
        name,
        (next) => {
          // What its creator may not see it was answered.
          if (!(next instanceof Unseen) || found.peek() === undefined || found.peek() instanceof Unseen)
            found.value = next
        },
        readAgainMs,
      ),
    [cluster, name],
  )
  const namespace = found.value instanceof Unseen ? undefined : found.value
  const unseen = found.value instanceof Unseen && isAnswered.value ? found.value : undefined
  return (
    <>
      <header class="view-head">
        <h1>{name}</h1>
        {namespace === undefined ? null : <PhaseBadge phase={rowOf(namespace).phase} />}
      </header>
      {unseen === undefined ? (
        <Progress name={name} namespace={namespace} isAnswered={isAnswered.value} />
      ) : (
        <div class="pad">
          <Refusal error={unseen} title={unseen.isMissing ? 'It is not there' : 'It is not shown to you'} />
        </div>
      )}
      <div class="row pad">
        {unseen?.isMissing ? null : (
          <Link class="button primary" href={pathOfNamespace(name)}>
            Open {name}
          </Link>
        )}
        <Link class="button" href="/namespaces">
          My namespaces
        </Link>
      </div>
      <footer class="view-foot">
        <CopyCommand command={commandOf('birth', name, true)} />
      </footer>
    </>
  )
}

interface ProgressProps {
  readonly name: string
  readonly namespace: Namespace | undefined
  readonly isAnswered: boolean
}

function Progress({ name, namespace, isAnswered }: ProgressProps) {
  const phase = namespace === undefined ? undefined : rowOf(namespace).phase
  const [awaited] = namespace?.spec?.initializers?.pending ?? []
  return (
    <section class="panel birth" aria-live="polite" aria-label="How it comes to be">
      <ol class="steps">
        <Step done={namespace !== undefined} text="The namespace is stored" />
        <Step done={phase === 'Active'} text={awaitedText(phase, awaited?.name)} />
        <Step done={phase === 'Active' && isAnswered} text="It is ready" />
      </ol>
      {namespace === undefined ? null : (
        <ul class="objects">
          {kindsOfBirth.map((resource) => (
            // Rights in it may come with what its templates hold.
            <Arrived key={`${resource.resource} ${phase}`} namespace={name} resource={resource} />
          ))}
        </ul>
      )}
    </section>
  )
}

function awaitedText(phase: string | undefined, initializer: string | undefined): string {
  if (initializer !== undefined) return `It waits for ${initializer}`
  return phase === 'Initializing' ? 'It waits for its templates' : 'Its templates and initializers are done'
}

function Step({ done, text }: { readonly done: boolean; readonly text: string }) {
  return (
    <li class={done ? 'done' : 'open'}>
      {text}
      <span class="hidden">{done ? ', done' : ', not yet'}</span>
    </li>
  )
}

function Arrived(props: { readonly namespace: string; readonly resource: (typeof kindsOfBirth)[number] }) {
  const { namespace, resource } = props
  const { objects } = useFeed<KubeObject>({ resource, namespace, metadataOnly: true })
  return objects.map(({ metadata }) => (
    <li key={metadata.uid}>
      <span class="kind">{resource.resource}</span> <Words text={metadata.name ?? ''} />{' '}
      <Moment at={metadata.creationTimestamp ?? undefined} />
    </li>
  ))
}
