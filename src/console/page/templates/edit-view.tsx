/** An edit of a template: written, planned over all namespaces, and only then saved. The editor is loaded for it. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Link, useRouter } from '../router.tsx'
import { isUnreached } from '../unreached.ts'
import { useAnswer } from '../use-answer.ts'
import { useCluster } from '../use-cluster.ts'
import { Asking } from '../widgets/asking.tsx'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { Refusal } from '../widgets/refusal.tsx'
import { loadEdited } from './edited.ts'
import type * as editing from './editing.tsx'
import { pathOfTemplate } from './templates-view.tsx'

export function EditView({ name }: { readonly name: string | undefined }) {
  const { client } = useCluster()
  const router = useRouter()
  const generation = router.place.value.query.get('generation')
  const edited = useAnswer((signal) => loadEdited(client, name, generation, signal), [client, name, generation])
  const failure = useSignal<unknown>(undefined)
  const loaded = useSignal<typeof editing | undefined>(undefined)
  useEffect(() => {
    import('./editing.tsx').then(
      (module) => {
        loaded.value = module
      },
      (error: unknown) => {
        failure.value = error
      },
    )
  }, [])
  const Editing = loaded.value?.Editing
  const isFailed = failure.value !== undefined || (edited.error !== undefined && !isUnreached(edited.error))
  return (
    <>
      <header class="view-head">
        <nav aria-label="Back" class="back">
          <Link href={name === undefined ? '/templates' : pathOfTemplate(name)}>{name ?? 'Templates'}</Link>
        </nav>
        <h1>{name === undefined ? 'New template' : `Edit ${name}`}</h1>
      </header>
      <div class="scroll">
        {edited.error === undefined || isUnreached(edited.error) ? null : <Refusal error={edited.error} />}
        {failure.value === undefined ? null : (
          <Refusal error={failure.value} title="The editor was not loaded: reload the page" />
        )}
        {Editing === undefined || edited.value === undefined ? (
          isFailed ? null : (
            <Asking what="Loading the editor…" />
          )
        ) : (
          <Editing edited={edited.value} onSaved={(saved) => router.go(pathOfTemplate(saved))} />
        )}
      </div>
      <footer class="view-foot">
        <CopyCommand command="borough template plan -f template.yaml && kubectl apply -f template.yaml" />
      </footer>
    </>
  )
}
