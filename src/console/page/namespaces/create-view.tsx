/** A new namespace: its name, for whom it is, what will be in it before it is made, and how it comes to be. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type Namespace, namespaceResource } from '../../../apis/namespaces/types.ts'
import { ownerKey } from '../../../apis/templates/types.ts'
import type { KubeObject } from '../../../kube/types.ts'
import type { Cluster } from '../cluster.ts'
import { Link } from '../router.tsx'
import { useCluster } from '../use-cluster.ts'
import { CopyCommand } from '../widgets/copy-command.tsx'
import { Refusal } from '../widgets/refusal.tsx'
import { Birth } from './birth.tsx'
import { expiryAnnotation, expiryText } from './namespace-row.ts'

export interface Draft {
  readonly name: string
  readonly owner: string
  /** `env=prod`, one a line. */
  readonly labels: string
  /** As an input of a date and time has it; '' = never. */
  readonly expires: string
}

const emptyDraft: Draft = { name: '', owner: '', labels: '', expires: '' }

type Preview =
  | { readonly kind: 'none' }
  | { readonly kind: 'asking' }
  | { readonly kind: 'known'; readonly warnings: readonly string[] }
  | { readonly kind: 'refused'; readonly error: unknown }

/** After the last key. */
const restMs = 250

export function CreateView() {
  const cluster = useCluster()
  const draft = useSignal<Draft>(emptyDraft)
  const preview = useSignal<Preview>({ kind: 'none' })
  const born = useSignal<Promise<KubeObject> | undefined>(undefined)
  const { name, owner, labels, expires } = draft.value

  useEffect(() => {
    if (name === '') {
      preview.value = { kind: 'none' }
      return undefined
    }
    preview.value = { kind: 'asking' }
    const left = new AbortController()
    const timer = cluster.clock.after(restMs, () => {
      void askPreview(cluster, draft.value, left.signal).then((answer) => {
        if (!left.signal.aborted) preview.value = answer
      })
    })
    return () => {
      timer.cancel()
      left.abort()
    }
  }, [cluster, name, owner, labels, expires])

  if (born.value !== undefined) return <Birth name={name} created={born.value} />
  return (
    <>
      <header class="view-head">
        <h1>Create a namespace</h1>
      </header>
      <div class="columns">
        <DraftForm
          draft={draft.value}
          onChange={(part) => {
            draft.value = { ...draft.value, ...part }
          }}
          onSubmit={() => {
            born.value = cluster.client.create(namespaceResource, namespaceOf(draft.value))
          }}
        />
        <PreviewPanel preview={preview.value} />
      </div>
      <footer class="view-foot">
        <CopyCommand command={createCommand(draft.value)} />
      </footer>
    </>
  )
}

interface DraftFormProps {
  readonly draft: Draft
  readonly onChange: (part: Partial<Draft>) => void
  readonly onSubmit: () => void
}

function DraftForm({ draft, onChange, onSubmit }: DraftFormProps) {
  const name = useRef<HTMLInputElement>(null)
  useEffect(() => name.current?.focus(), [])
  return (
    <form
      class="panel"
      onSubmit={(event) => {
        event.preventDefault()
        if (draft.name !== '') onSubmit()
      }}
    >
      <label class="field">
        <span>Name</span>
        <input
          ref={name}
          required
          maxLength={63}
          autocomplete="off"
          spellcheck={false}
          value={draft.name}
          onInput={(e) => onChange({ name: e.currentTarget.value })}
        />
      </label>
      <label class="field">
        <span>Labels</span>
        <textarea
          rows={3}
          spellcheck={false}
          placeholder={'env=dev\none a line'}
          value={draft.labels}
          onInput={(e) => onChange({ labels: e.currentTarget.value })}
        />
        <small>They decide which templates and policies are for it.</small>
      </label>
      <label class="field">
        <span>Owner</span>
        <input
          autocomplete="off"
          spellcheck={false}
          placeholder="yourself"
          value={draft.owner}
          onInput={(e) => onChange({ owner: e.currentTarget.value })}
        />
        <small>A user or group to whom its templates give their rights. Naming another takes assign-owner.</small>
      </label>
      <label class="field">
        <span>Expires</span>
        <input
          type="datetime-local"
          value={draft.expires}
          onInput={(e) => onChange({ expires: e.currentTarget.value })}
        />
        <small>Left empty, it stays until it is deleted.</small>
      </label>
      <div class="row">
        <button type="submit" class="button primary" disabled={draft.name === ''}>
          Create
        </button>
        <Link class="button" href="/namespaces">
          Cancel
        </Link>
      </div>
    </form>
  )
}

/** The server says in warnings what a namespace would be given. */
async function askPreview(cluster: Cluster, draft: Draft, signal: AbortSignal): Promise<Preview> {
  try {
    const object = namespaceOf(draft)
    const options = { dryRun: true, signal }
    const { warnings } = await cluster.heeding((client) => client.create(namespaceResource, object, options))
    return { kind: 'known', warnings }
  } catch (error) {
    return { kind: 'refused', error }
  }
}

function PreviewPanel({ preview }: { readonly preview: Preview }) {
  return (
    <section
      class="panel preview"
      aria-label="What will be in it"
      aria-live="polite"
      aria-busy={preview.kind === 'asking'}
    >
      <h2>What will be in it</h2>
      <PreviewText preview={preview} />
    </section>
  )
}

function PreviewText({ preview }: { readonly preview: Preview }) {
  if (preview.kind === 'none')
    return <p class="muted">Type a name, and the server is asked without anything being made.</p>
  if (preview.kind === 'asking') return <p class="muted">Asking the server…</p>
  if (preview.kind === 'refused') return <Refusal error={preview.error} title="It would be refused" />
  const made = preview.warnings.flatMap((text) => /^would create (.*)$/.exec(text)?.[1] ?? [])
  const others = preview.warnings.filter((text) => !text.startsWith('would create '))
  return (
    <>
      {made.length === 0 ? (
        <p>No template selects it: it will hold its default ServiceAccount and nothing else.</p>
      ) : (
        <ul class="objects">
          {made.map((title) => {
            const [kind, ...name] = title.split('/')
            return (
              <li key={title}>
                <span class="kind">{kind}</span> {name.join('/')}
              </li>
            )
          })}
        </ul>
      )}
      {others.map((text) => (
        <p class="notice" key={text}>
          {text}
        </p>
      ))}
    </>
  )
}

export function namespaceOf({ name, owner, labels, expires }: Draft): Namespace {
  const pairs = labelsIn(labels)
  const annotations = {
    ...(owner.trim() === '' ? {} : { [ownerKey]: owner.trim() }),
    ...(expires === '' ? {} : { [expiryAnnotation]: expiryText(expires) }),
  }
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      ...(Object.keys(pairs).length === 0 ? {} : { labels: pairs }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
  }
}

const labelsIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split(/[\n,]/)
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .map((line) => {
        const [key = '', ...value] = line.split('=')
        return [key.trim(), value.join('=').trim()] as const
      }),
  )

/** `kubectl create namespace` sets neither labels nor annotations. */
function createCommand(draft: Draft): string {
  const name = draft.name === '' ? 'NAME' : draft.name
  const { labels, annotations } = namespaceOf(draft).metadata
  if (labels === undefined && annotations === undefined) return `kubectl create namespace ${name}`
  const object = JSON.stringify(namespaceOf({ ...draft, name })).replaceAll("'", "'\\''")
  return `echo '${object}' | kubectl create -f -`
}
