/** The state of a namespace in a word, with a shape and a colour beside it. */
import { beginningOf } from '../widgets/words.tsx'
import type { NamespaceRow } from './namespace-row.ts'

const words: Readonly<Record<NamespaceRow['phase'], string>> = {
  Active: 'Active',
  Initializing: 'Initializing',
  Terminating: 'Terminating',
  Unknown: 'No access',
}

export function PhaseBadge({ phase, refused, isOpen = false }: Pick<NamespaceRow, 'phase' | 'refused' | 'isOpen'>) {
  return (
    <span class={`badge phase-${phase.toLowerCase()}`} title={refused}>
      {isOpen ? 'Open to you' : words[phase]}
    </span>
  )
}

export function PopulationBadge({ population, phase }: Pick<NamespaceRow, 'population' | 'phase'>) {
  if (phase === 'Unknown' || phase === 'Terminating') return <span class="muted">–</span>
  switch (population.kind) {
    case 'populated':
      return <span class="muted">complete</span>
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
