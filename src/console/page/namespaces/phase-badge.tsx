/** The state of a namespace in a word, with a shape and a colour beside it. */
import type { Update } from '../templates/updates.ts'
import { beginningOf } from '../widgets/words.tsx'
import type { NamespaceRow } from './namespace-row.ts'

const words: Readonly<Record<NamespaceRow['phase'], string>> = {
  Active: 'Active',
  Initializing: 'Initializing',
  Terminating: 'Terminating',
  Unknown: 'No access',
}

const untold = 'Nothing is missing. Whether a newer version of a template is on its way, you may not see.'

const Told = ({ title }: { readonly title?: string }) => (
  <span class="muted" title={title}>
    complete
  </span>
)

/** A template tells how many namespaces it has reached, not which: this one may be among them. */
function Updating({ updates }: { readonly updates: readonly Update[] }) {
  const text = updates.map(({ template, done, matched }) => `${template} ${done} of ${matched}`).join(', ')
  const title = updates
    .map(({ template, generation, done, matched }) => {
      return `generation ${generation} of template ${template} is in ${done} of ${matched} namespaces`
    })
    .join('; ')
  return (
    <span class="badge wait" title={title}>
      newer on its way: <bdi>{beginningOf(text, 60)}</bdi>
    </span>
  )
}

export function PhaseBadge({ phase, refused, isOpen = false }: Pick<NamespaceRow, 'phase' | 'refused' | 'isOpen'>) {
  return (
    <span class={`badge phase-${phase.toLowerCase()}`} title={refused}>
      {isOpen ? 'Open to you' : words[phase]}
    </span>
  )
}

interface PopulationBadgeProps extends Pick<NamespaceRow, 'population' | 'phase'> {
  /** Of templates that select it; undefined = the user may not read templates. */
  readonly updates: readonly Update[] | undefined
}

export function PopulationBadge({ population, phase, updates }: PopulationBadgeProps) {
  if (phase === 'Unknown' || phase === 'Terminating') return <span class="muted">–</span>
  switch (population.kind) {
    case 'populated':
      if (updates === undefined) return <Told title={untold} />
      return updates.length === 0 ? <Told /> : <Updating updates={updates} />
    case 'waiting':
      return <span class="badge wait">being populated</span>
    case 'awaiting':
      return (
        <span class="badge wait" title={population.others.join(', ')}>
          waits for <bdi>{beginningOf(population.others.join(', '), 60)}</bdi>
        </span>
      )
    case 'optedOut':
      return <span class="badge plain">opted out</span>
    case 'failed':
      return (
        <span class="badge bad" title={population.why}>
          incomplete
        </span>
      )
  }
}
