/** The deletion of a namespace: what will go, in which order, what would hold it, and then the button. */
import { useSignal } from '@preact/signals'
import { explainNamespace } from '../../../apis/namespaces/explain.ts'
import { type Namespace, namespaceResource } from '../../../apis/namespaces/types.ts'
import { rbacGroup } from '../../../kube/rbac.ts'
import { useMay } from '../access-review.ts'
import { pathOfNamespace } from '../namespaces/namespace-paths.ts'
import { rowOf } from '../namespaces/namespace-row.ts'
import { useRouter } from '../router.tsx'
import { useAnswer } from '../use-answer.ts'
import { useCluster } from '../use-cluster.ts'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { useFirst } from '../widgets/first.tsx'
import { WriteRefusal } from '../widgets/refusal.tsx'
import { Words } from '../widgets/words.tsx'
import type { FoundObject } from './object-tree.ts'
import { useContent } from './use-content.ts'

/** As the namespace controller takes them: what limits and what runs first, what gives rights last. */
const steps: readonly { readonly title: string; readonly holds: (found: FoundObject) => boolean }[] = [
  { title: 'Quotas', holds: ({ kind }) => kind.group === '' && kind.resource === 'resourcequotas' },
  { title: 'Pods', holds: ({ kind }) => kind.group === '' && kind.resource === 'pods' },
  { title: 'Everything else', holds: () => true },
  {
    title: 'RoleBindings and Roles',
    holds: ({ kind }) => kind.group === rbacGroup && ['roles', 'rolebindings'].includes(kind.resource),
  },
]

/** The step of an object is the first that names it, `Everything else` last of all. */
const stepOf = (found: FoundObject): string =>
  [steps[0], steps[1], steps[3], steps[2]].find((step) => step?.holds(found))?.title ?? ''

export function Deletion({ namespace }: { readonly namespace: Namespace }) {
  const cluster = useCluster()
  const { name, phase, isProtected } = rowOf(namespace)
  const { resourceVersion } = namespace.metadata
  const { value: explained } = useAnswer(
    (signal) => explainNamespace(cluster.client, name, cluster.clock, signal),
    [cluster, name, resourceVersion],
  )
  const mayLift = useMay({ verb: 'patch', resource: 'namespaces', namespace: name, name })
  if (phase === 'Terminating') return <p class="muted">It is being deleted. The overview says what is left.</p>
  return (
    <section class="panel" aria-labelledby="deletion">
      <h2 id="deletion">What will go</h2>
      <Going namespace={name} />
      {isProtected ? (
        <p class="notice">
          It is protected from deletion.{' '}
          {mayLift
            ? 'Lift that first, in the overview.'
            : 'You may not lift that: ask an administrator, or another who may change this namespace.'}
        </p>
      ) : null}
      {/* What holds up a namespace that is not ready does not hold its deletion. */}
      {(explained?.held === false ? explained.obstacles : []).map(({ what, who }) => (
        <p class="notice bad" key={what}>
          <span>
            <Words text={what} />: <Words text={who} />
          </span>
        </p>
      ))}
      <Confirm name={name} />
    </section>
  )
}

function Going({ namespace }: { readonly namespace: string }) {
  const { ready, found, hidden } = useContent(namespace)
  const held = found.filter(({ object }) => (object.metadata.finalizers ?? []).length > 0)
  const { most, more } = useFirst(held.length)
  if (!ready) return <p class="muted">Asking for every kind…</p>
  return (
    <>
      <ol class="steps going">
        {steps.map(({ title }) => {
          const going = found.filter((f) => stepOf(f) === title)
          if (going.length === 0) return null
          return (
            <li key={title}>
              <details>
                <summary>
                  {title} <span class="count">{going.length}</span>
                </summary>
                <GoingOf step={going} />
              </details>
            </li>
          )
        })}
      </ol>
      {held.slice(0, most).map(({ kind, object }) => (
        <p class="notice" key={object.metadata.uid}>
          <span>
            {kind.kind} <Words text={object.metadata.name ?? ''} /> waits for{' '}
            <Words text={object.metadata.finalizers?.join(', ') ?? ''} />
          </span>
        </p>
      ))}
      {more}
      {hidden.length === 0 ? null : (
        <p class="muted">
          What it holds of {hidden.map(({ kind }) => kind).join(', ')} is not shown to you, and goes too.
        </p>
      )}
    </>
  )
}

function GoingOf({ step }: { readonly step: readonly FoundObject[] }) {
  const { most, more } = useFirst(step.length)
  return (
    <>
      <ul class="objects">
        {step.slice(0, most).map(({ kind, object }) => (
          <li key={object.metadata.uid}>
            <span class="kind">{kind.kind}</span> <Words text={object.metadata.name ?? ''} />
          </li>
        ))}
      </ul>
      {more}
    </>
  )
}

function Confirm({ name }: { readonly name: string }) {
  const { client } = useCluster()
  const router = useRouter()
  const typed = useSignal('')
  const refused = useSignal<unknown>(undefined)
  const isAllowed = useMay({ verb: 'delete', resource: 'namespaces', namespace: name, name })
  if (!isAllowed) return <p class="muted">You may not delete this namespace.</p>
  const remove = async (): Promise<void> => {
    refused.value = undefined
    try {
      await client.delete(namespaceResource, { name })
      router.go(pathOfNamespace(name))
    } catch (error) {
      refused.value = error
    }
  }
  return (
    <form
      class="confirm"
      onSubmit={(event) => {
        event.preventDefault()
        if (typed.value === name) void remove()
      }}
    >
      <label class="field">
        <span>Type {name} to delete it with all its content</span>
        <input
          autocomplete="off"
          spellcheck={false}
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value
          }}
        />
      </label>
      <button type="submit" class="button danger" disabled={typed.value !== name}>
        Delete {name}
      </button>
      <CopyCommand command={`kubectl delete namespace ${name}`} />
      {refused.value === undefined ? null : <WriteRefusal error={refused.value} title="It was not deleted" />}
    </form>
  )
}
