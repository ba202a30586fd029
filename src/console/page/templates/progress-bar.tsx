/** The waves of a rollout: how many namespaces are done, under way, failed, and waiting for their turn. */
import type { Progress } from './template-state.ts'

const parts = [
  { key: 'synced', title: 'done' },
  { key: 'extended', title: 'done, added to by others' },
  { key: 'underWay', title: 'under way' },
  { key: 'failed', title: 'failed' },
  { key: 'skipped', title: 'skipped' },
  { key: 'waiting', title: 'waiting' },
] as const

export function ProgressBar({ progress }: { readonly progress: Progress }) {
  const told = parts.filter(({ key }) => progress[key] > 0)
  const text = told.map(({ key, title }) => `${progress[key].toLocaleString('en')} ${title}`).join(', ')
  return (
    <div class="progress">
      <div class="waves" aria-hidden="true">
        {told.map(({ key }) => (
          <span key={key} class={key} style={{ flexGrow: progress[key] }} />
        ))}
      </div>
      <span>{progress.matched === 0 ? 'it selects no namespace' : text}</span>
    </div>
  )
}

export function WordBadge({ word }: { readonly word: string }) {
  return <span class={`badge word-${word.replaceAll(' ', '-')}`}>{word}</span>
}
