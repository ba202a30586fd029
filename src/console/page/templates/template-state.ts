/** How far a template is, from its status: the figures, and the one word that they come to. */
import type { NamespaceTemplate, TemplateCondition } from '../../../apis/templates/types.ts'
import { applyAnnotation } from '../../../apis/templates/types.ts'

export interface Progress {
  readonly matched: number
  readonly synced: number
  readonly failed: number
  readonly skipped: number
  readonly waiting: number
  /** Begun and not done. */
  readonly underWay: number
}

export function progressOf({ status = {} }: NamespaceTemplate): Progress {
  const { matched = 0, synced = 0, failed = 0, skipped = 0, waiting = 0 } = status
  const underWay = Math.max(0, matched - synced - failed - skipped - waiting)
  return { matched, synced, failed, skipped, waiting, underWay }
}

export type TemplateWord = 'complete' | 'rolling out' | 'failing' | 'stopped' | 'disabled' | 'going' | 'not yet seen'

export const conditionOf = ({ status }: NamespaceTemplate, type: string): TemplateCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type)

/** Why it stopped: `TooManyPrunes`, `Paused`, `PopulationPaused`. */
const stops: ReadonlySet<string> = new Set(['TooManyPrunes', 'Paused', 'PopulationPaused'])

export const stopOf = (template: NamespaceTemplate): TemplateCondition | undefined => {
  const progressing = conditionOf(template, 'Progressing')
  return progressing !== undefined && stops.has(progressing.reason) ? progressing : undefined
}

export function wordOf(template: NamespaceTemplate): TemplateWord {
  const { metadata, status } = template
  if (stopOf(template) !== undefined) return 'stopped'
  if (metadata.deletionTimestamp !== undefined) return 'going'
  if (isDisabled(template)) return 'disabled'
  if (status?.observedGeneration !== metadata.generation) return 'not yet seen'
  if (conditionOf(template, 'Progressing')?.status === 'True') return 'rolling out'
  return progressOf(template).failed > 0 ? 'failing' : 'complete'
}

export const isDisabled = ({ metadata }: NamespaceTemplate): boolean =>
  metadata.annotations?.[applyAnnotation] === 'disable'
