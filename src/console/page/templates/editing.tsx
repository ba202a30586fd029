/** The part of an edit that needs the editor: loaded with it. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { planTemplates, type TemplatePlan } from '../../../apis/templates/plan.ts'
import type { NamespaceTemplate } from '../../../apis/templates/types.ts'
import { findStatusError } from '../../../kube/status-error.ts'
import { useCluster } from '../use-cluster.ts'
import { Refusal } from '../widgets/refusal.tsx'
import type { Edited } from './edited.ts'
import { PlanPanel } from './plan-panel.tsx'
import { saveTemplate } from './save-template.ts'
import { faultsAt, readTemplate, textOf } from './template-text.ts'
import { openEditor, type YamlEditor } from './yaml-editor.ts'

interface EditingProps {
  readonly edited: Edited
  readonly onSaved: (name: string) => void
}

type State =
  | { readonly at: 'edited' }
  | { readonly at: 'planning' }
  | { readonly at: 'planned'; readonly plan: TemplatePlan; readonly template: NamespaceTemplate }
  | { readonly at: 'refused'; readonly error: unknown }

/** Two requests for each object of each namespace. */
const patienceMs = 10 * 60_000

export function Editing({ edited, onSaved }: EditingProps) {
  const { client, clock } = useCluster()
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<YamlEditor>(undefined)
  const state = useSignal<State>({ at: 'edited' })
  useEffect(() => {
    if (host.current === null) return undefined
    const opened = openEditor(host.current, textOf(edited.first), () => {
      state.value = { at: 'edited' }
    })
    editor.current = opened
    return () => opened.close()
  }, [edited])

  const refuse = (error: unknown, text: string): void => {
    editor.current?.mark(faultsAt(text, findStatusError(error)?.details?.causes ?? []))
    state.value = { at: 'refused', error }
  }
  const plan = async (): Promise<void> => {
    const text = editor.current?.text() ?? ''
    state.value = { at: 'planning' }
    try {
      const template = readTemplate(text)
      const signal = AbortSignal.timeout(patienceMs)
      const [first] = await planTemplates({ client, clock, signal }, [template])
      // An edit meanwhile has made this plan one of another text.
      if (state.value.at !== 'planning' || first === undefined) return
      editor.current?.mark([])
      state.value = { at: 'planned', plan: first, template }
    } catch (error) {
      if (state.value.at === 'planning') refuse(error, text)
    }
  }
  const save = async (template: NamespaceTemplate): Promise<void> => {
    try {
      const saved = await saveTemplate(client, edited.present, template)
      onSaved(saved.metadata.name ?? '')
    } catch (error) {
      refuse(error, editor.current?.text() ?? '')
    }
  }
  const now = state.value
  return (
    <div class="editing">
      <section class="panel" aria-label="The template as YAML">
        <div class="editor" ref={host} />
        <small class="muted">
          <kbd>Ctrl</kbd>+<kbd>Space</kbd> completes, <kbd>Ctrl</kbd>+<kbd>]</kbd> indents.
        </small>
        <div class="row">
          <button
            type="button"
            class="button"
            aria-disabled={now.at === 'planning'}
            onClick={() => now.at !== 'planning' && void plan()}
          >
            Plan
          </button>
          <button
            type="button"
            class="button primary"
            disabled={now.at !== 'planned'}
            onClick={() => now.at === 'planned' && void save(now.template)}
          >
            Save
          </button>
          <span class="muted" role="status">
            {now.at === 'edited' ? 'It is saved after it was planned.' : ''}
            {now.at === 'planning' ? 'Asking the server by dry runs, namespace by namespace…' : ''}
          </span>
        </div>
      </section>
      <Beside now={now} />
    </div>
  )
}

/** What the plan says, or what it would. */
function Beside({ now }: { readonly now: State }) {
  switch (now.at) {
    case 'refused':
      return <Refusal error={now.error} title="It would be refused" />
    case 'planned':
      return <PlanPanel plan={now.plan} />
    default:
      return (
        <section class="panel" aria-labelledby="unplanned">
          <h2 id="unplanned">What it would do</h2>
          <p class="muted">
            A plan asks the server, without anything being changed, what would be created, changed and deleted in each
            namespace, and what would be refused.
          </p>
        </section>
      )
  }
}
