/** A new namespace: described in a form, shown as it will be, made, and shown as it comes to be. */
import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { expiresAtAnnotation, ttlAnnotation } from '../../../apis/expiry/types.ts'
import {
  initializerConfigurationResource,
  type NamespaceInitializerConfiguration,
} from '../../../apis/initializers/types.ts'
import { type Namespace, namespaceResource } from '../../../apis/namespaces/types.ts'
import { isDisabled } from '../../../apis/templates/match.ts'
import { type NamespaceTemplate, ownerKey, templateResource } from '../../../apis/templates/types.ts'
import { isForbidden, isNotFound } from '../../../kube/status-error.ts'
import type { Cluster } from '../cluster.ts'
import { focusMain, type Router, useRouter } from '../router.tsx'
import { fitObject } from '../shapes.ts'
import { useAnswer } from '../use-answer.ts'
import { useCluster, useFeed } from '../use-cluster.ts'
import { namespaceInPath } from '../view-paths.ts'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { type AskedField, askedBy, askedByServer, faultsIn, selecting } from './asked-fields.ts'
import { CreateForm } from './create-form.tsx'
import { CreatePreview, type Preview } from './create-preview.tsx'
import { createCommand, type Draft, emptyDraft, keyAt, namespaceOf, pairsIn } from './draft.ts'
import { previewOf } from './draft-preview.ts'
import { keepName } from './known-names.ts'
import { pathOfBirth } from './namespace-paths.ts'

/** After the last key. */
const restMs = 250

interface Answered {
  readonly object: Namespace
  readonly warnings: readonly string[]
}

type Asked =
  | { readonly kind: 'none' }
  | { readonly kind: 'answered'; readonly answer: Answered }
  | { readonly kind: 'refused'; readonly error: unknown }

export function CreateView() {
  const cluster = useCluster()
  const router = useRouter()
  /** The create that was sent from here, and came to nothing. */
  const refused = useMemo(() => cluster.creations.takeRefused(), [cluster])
  const draft = useSignal<Draft>(refused?.draft ?? emptyDraft)
  const asked = useSignal<Asked>(refused === undefined ? { kind: 'none' } : { kind: 'refused', error: refused.error })
  /** What was answered last stays until the next answer. */
  const isAsking = useSignal(false)
  /** Places that a refusal named: their fields stay when they are filled. */
  const demanded = useSignal<readonly string[]>(Object.keys(refused?.draft.given ?? {}))
  const templates = useFeed<NamespaceTemplate>({ resource: templateResource })
  const { value: me } = useAnswer(() => cluster.me(), [cluster])
  /** Undefined where they may not be read, or are not served. */
  const { value: configurations } = useAnswer(
    (signal) =>
      cluster.client.list(initializerConfigurationResource, { signal }).then(({ items }) => items, noneReadable),
    [cluster],
  )
  const namespace = namespaceOf(draft.value)
  const { name = '' } = namespace.metadata
  const text = JSON.stringify(namespace)

  useEffect(() => {
    // A dry run may be let through what the create was refused: its words stay until something is changed.
    if (draft.value === refused?.draft) return undefined
    isAsking.value = name !== ''
    if (name === '') return void (asked.value = { kind: 'none' })
    const left = new AbortController()
    const timer = cluster.clock.after(restMs, () => {
      void askDryRun(cluster, namespace, left.signal).then((answer) => {
        if (left.signal.aborted) return
        isAsking.value = false
        asked.value = answer
        if (answer.kind === 'refused') demanded.value = [...demanded.value, ...demandsIn(answer.error, draft.value)]
      })
    })
    return () => {
      timer.cancel()
      left.abort()
    }
  }, [cluster, text])

  const isUnread = templates.refused !== undefined && isForbidden(templates.refused)
  const preview = previewFor(asked.value, templates.objects, configurations)
  return (
    <>
      <header class="view-head">
        <h1>Create a namespace</h1>
      </header>
      <div class="columns">
        <CreateForm
          draft={draft.value}
          asked={fieldsOf(templates.objects, namespace, me?.username ?? '', demanded.value)}
          choosable={templates.objects.filter(isChoosable)}
          isWithoutChoice={isUnread}
          faults={faultsIn(asked.value.kind === 'refused' ? asked.value.error : undefined)}
          onChange={(part) => {
            draft.value = { ...draft.value, ...part }
          }}
          onSubmit={() =>
            send(cluster, router, draft.value, (error) => {
              asked.value = { kind: 'refused', error }
            })
          }
        />
        <CreatePreview preview={preview} isAsking={isAsking.value} isUnread={isUnread} />
      </div>
      <footer class="view-foot">
        <CopyCommand command={createCommand(draft.value)} />
      </footer>
    </>
  )
}

/** @param stay is given the refusal of a name that no namespace can have: no address has it */
function send(cluster: Cluster, router: Router, draft: Draft, stay: (error: unknown) => void): void {
  const birth = pathOfBirth(draft.name)
  const hasPage = namespaceInPath(birth) !== undefined
  cluster.creations.begin(draft).then(
    () => keepName(cluster, draft.name),
    (error: unknown) => {
      // Else its birth leads back to the form.
      if (hasPage) return
      cluster.creations.takeRefused()
      stay(error)
    },
  )
  if (!hasPage) return
  router.become(birth)
  focusMain(document)
}

const isChoosable = (template: NamespaceTemplate): boolean =>
  !isDisabled(template) && Object.keys(template.spec?.namespaces?.labelSelector?.matchLabels ?? {}).length > 0

/** What templates ask for, and beside it what only the server asked for. */
function fieldsOf(
  templates: readonly NamespaceTemplate[],
  namespace: Namespace,
  creator: string,
  demanded: readonly string[],
): readonly AskedField[] {
  const fields = askedBy(selecting(templates, namespace, creator))
  const others = [...new Set(demanded)].filter((place) => !fields.some((field) => field.place === place))
  return [...fields, ...others.map(askedByServer)]
}

/** Labels and annotations that have no field of their own, and were not typed among the others. */
function demandsIn(error: unknown, draft: Draft): string[] {
  return [...faultsIn(error).keys()].filter((place) => {
    const at = keyAt(place)
    if (at === undefined || keysOfForm.has(at.key)) return false
    return !(at.key in pairsIn(draft[at.part]))
  })
}

const keysOfForm: ReadonlySet<string> = new Set([ownerKey, expiresAtAnnotation, ttlAnnotation])

async function askDryRun(cluster: Cluster, namespace: Namespace, signal: AbortSignal): Promise<Asked> {
  try {
    const options = { dryRun: true, signal }
    const { object, warnings } = await cluster.heeding((client) => client.create(namespaceResource, namespace, options))
    return { kind: 'answered', answer: { object: fitObject(namespaceResource, object), warnings } }
  } catch (error) {
    return { kind: 'refused', error }
  }
}

/** @throws what is another answer than that they can't be read */
function noneReadable(error: unknown): undefined {
  if (!isForbidden(error) && !isNotFound(error)) throw error
}

function previewFor(
  asked: Asked,
  templates: readonly NamespaceTemplate[],
  configurations: readonly NamespaceInitializerConfiguration[] | undefined,
): Preview {
  if (asked.kind !== 'answered') return asked
  const { object, warnings } = asked.answer
  return { kind: 'known', preview: previewOf(object, warnings, templates, configurations) }
}
