/** The part of an edit that needs the editor: loaded with it. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { planTemplates, type TemplatePlan } from '../../../apis/templates/plan.ts'
import type { NamespaceTemplate } from '../../../apis/templates/types.ts'
import type { Progress } from '../../../base/progress.ts'
import { findStatusError } from '../../../kube/status-error.ts'
import { NotStored } from '../lost-answer.ts'
import { useCluster } from '../use-cluster.ts'
import { Refusal } from '../widgets/refusal.tsx'
import { ConflictPanel } from './conflict-panel.tsx'
import type { Edited } from './edited.ts'
import { EndsPanel } from './ends-panel.tsx'
import { conflictMark, mergeTexts } from './line-diff.ts'
import { PlanPanel } from './plan-panel.tsx'
import { conflictOf, type SaveConflict, saveTemplate } from './save-template.ts'
import { faultsAt, readTemplate, textOf } from './template-text.ts'
import { openEditor, type YamlEditor } from './yaml-editor.ts'

interface EditingProps {
  readonly edited: Edited
  readonly onSaved: (name: string) => void
}

type State =
  | { readonly at: 'edited' }
  | { readonly at: 'planning'; readonly progress?: Progress }
  | {
      readonly at: 'planned'
      readonly plan: TemplatePlan
      readonly template: NamespaceTemplate
      readonly present: NamespaceTemplate | undefined
    }
  | { readonly at: 'lost' }
  | { readonly at: 'refused'; readonly error: unknown }
  | { readonly at: 'conflict'; readonly conflict: SaveConflict }
  | { readonly at: 'marked'; readonly conflicts: number }

/** Two requests for each object of each namespace. */
const patienceMs = 10 * 60_000

export function Editing({ edited, onSaved }: EditingProps) {
  const { client, clock } = useCluster()
  const state = useSignal<State>({ at: 'edited' })
  const { host, editor } = useEditor(edited, () => {
    state.value = { at: 'edited' }
  })
  /** What a save replaces: another author's, once it was seen. */
  const basis = useRef(edited.present)
  useEffect(() => {
    basis.current = edited.present
  }, [edited])

  const refuse = (error: unknown, text: string): void => {
    editor.current?.mark(faultsAt(text, findStatusError(error)?.details?.causes ?? []))
    state.value = { at: 'refused', error }
  }
  /** Counts plans: the text may be edited and planned anew while the answer to one is under way. */
  const lastPlan = useRef(0)
  const plan = async (): Promise<void> => {
    const text = editor.current?.text() ?? ''
    const number = ++lastPlan.current
    const isMeant = (): boolean => state.value.at === 'planning' && number === lastPlan.current
    state.value = { at: 'planning' }
    try {
      const template = readTemplate(text)
      const signal = AbortSignal.timeout(patienceMs)
      const report = (progress: Progress): void => {
        if (isMeant()) state.value = { at: 'planning', progress }
      }
      const [first] = await planTemplates({ client, clock, signal, report }, [template])
      // An edit meanwhile has made this plan one of another text.
      if (!isMeant() || first === undefined) return
      editor.current?.mark([])
      state.value = { at: 'planned', plan: first, template, present: basis.current }
    } catch (error) {
      if (isMeant()) refuse(error, text)
    }
  }
  const save = async (template: NamespaceTemplate): Promise<void> => {
    try {
      const onLost = (): void => {
        state.value = { at: 'lost' }
      }
      const saved = await saveTemplate(client, basis.current, template, { clock, onLost })
      onSaved(saved.metadata.name ?? '')
    } catch (error) {
      // Where it can't be told what stands there now, the refusal alone is shown.
      const conflict = await conflictOf(client, basis.current, template, error).catch(() => undefined)
      if (conflict === undefined) refuse(error, editor.current?.text() ?? '')
      else state.value = { at: 'conflict', conflict }
    }
  }
  const keepMine = ({ theirs }: SaveConflict): void => {
    basis.current = theirs
    void plan()
  }
  const bringTogether = ({ before, after, theirs }: SaveConflict): void => {
    const { text, conflicts } = mergeTexts(before, editor.current?.text() ?? '', after)
    basis.current = theirs
    editor.current?.replace(text)
    if (conflicts === 0) return void plan()
    const from = text.indexOf(conflictMark)
    editor.current?.mark([{ from, to: from + conflictMark.length, message: 'Both authors changed these lines' }])
    state.value = { at: 'marked', conflicts }
  }
  const now = state.value
  return (
    <div class="editing">
      <section class="panel" aria-label="The template as YAML">
        <div class="editor" ref={host} />
        <small class="muted">
          <kbd>Ctrl</kbd>+<kbd>Space</kbd> completes, <kbd>Ctrl</kbd>+<kbd>]</kbd> indents.
        </small>
        <Steps now={now} plan={() => void plan()} save={(template) => void save(template)} />
      </section>
      <Beside now={now} onKeep={keepMine} onRebase={bringTogether} />
    </div>
  )
}

/** An editor of what is edited, opened anew with it. */
function useEditor(edited: Edited, onEdit: () => void) {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<YamlEditor>(undefined)
  useEffect(() => {
    if (host.current === null) return undefined
    const opened = openEditor(host.current, textOf(edited.first), onEdit)
    editor.current = opened
    return () => opened.close()
  }, [edited])
  return { host, editor }
}

interface StepsProps {
  readonly now: State
  readonly plan: () => void
  readonly save: (template: NamespaceTemplate) => void
}

function Steps({ now, plan, save }: StepsProps) {
  return (
    <div class="row">
      <button
        type="button"
        class="button"
        aria-disabled={now.at === 'planning'}
        onClick={() => now.at !== 'planning' && plan()}
      >
        Plan
      </button>
      <button
        type="button"
        class="button primary"
        disabled={now.at !== 'planned'}
        onClick={() => now.at === 'planned' && save(now.template)}
      >
        Save
      </button>
      <span class="muted" role="status">
        {now.at === 'edited' ? 'It is saved after it was planned.' : ''}
        {now.at === 'marked' ? markedText(now.conflicts) : ''}
        {now.at === 'lost' ? 'The connection was lost while it was saved: asking whether it was stored…' : ''}
        {now.at === 'planning' ? 'Asking the server by dry runs, namespace by namespace…' : ''}
      </span>
      {now.at === 'planning' && now.progress !== undefined ? <HowFar progress={now.progress} /> : null}
    </div>
  )
}

/** Beside what is announced: a screen reader is not told every figure. */
function HowFar({ progress: { done, total, unit } }: { readonly progress: Progress }) {
  if (total === undefined) return null
  const text = `${done.toLocaleString('en')} of ${total.toLocaleString('en')} ${unit}`
  return (
    <span class="muted" role="progressbar" aria-label="Planned" aria-valuemax={total} aria-valuenow={done}>
      {text}
    </span>
  )
}

const markedText = (n: number): string =>
  `Both changed ${n === 1 ? 'one place' : `${n} places`}: it stands there twice, between <<<<<<< and >>>>>>>. ` +
  'Take what is meant, then plan.'

interface BesideProps {
  readonly now: State
  readonly onKeep: (conflict: SaveConflict) => void
  readonly onRebase: (conflict: SaveConflict) => void
}

/** What the plan says, or what it would. */
function Beside({ now, onKeep, onRebase }: BesideProps) {
  switch (now.at) {
    case 'conflict': {
      const { conflict } = now
      return <ConflictPanel conflict={conflict} onKeep={() => onKeep(conflict)} onRebase={() => onRebase(conflict)} />
    }
    case 'refused':
      return (
        <Refusal
          error={now.error}
          title={now.error instanceof NotStored ? 'It was not saved: plan it again' : 'It would be refused'}
        />
      )
    case 'planned':
      return (
        <div class="beside">
          <PlanPanel plan={now.plan} />
          <EndsPanel present={now.present} template={now.template} />
        </div>
      )
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
