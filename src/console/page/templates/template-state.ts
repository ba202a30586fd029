/** How far a template is, from its status: the figures, and the one word that they come to. */

import { isRolloutPaused } from '../../../apis/templates/match.ts'
import { limitOf } from '../../../apis/templates/rollout-limits.ts'
import type { NamespaceTemplate, TemplateCondition } from '../../../apis/templates/types.ts'
import { applyAnnotation } from '../../../apis/templates/types.ts'

export interface Progress {
  readonly matched: number
  readonly synced: number
  readonly failed: number
  readonly skipped: number
  /** Done, and others have added to it. */
  readonly extended: number
  readonly waiting: number
  /** Begun and not done. */
  readonly underWay: number
}

export function progressOf(template: NamespaceTemplate): Progress {
  const { matched = 0, synced = 0, failed = 0, skipped = 0, extended = 0, waiting = 0 } = template.status ?? {}
  const rest = Math.max(0, matched - synced - failed - skipped - extended - waiting)
  // Until the server has looked at each, it counts only some as waiting; more than this it does not begin.
  const underWay = Math.min(rest, stopOf(template)?.reason === 'TooManyPrunes' ? 0 : placesOf(template, matched))
  return { matched, synced, failed, skipped, extended, waiting: waiting + rest - underWay, underWay }
}

export type TemplateWord =
  | 'complete'
  | 'rolling out'
  | 'failing'
  | 'paused'
  | 'stopped'
  | 'disabled'
  | 'going'
  | 'not yet seen'

export const conditionOf = ({ status }: NamespaceTemplate, type: string): TemplateCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type)

/** Why it stopped: `TooManyPrunes`, `Paused`, `PopulationPaused`. */
const stops: ReadonlySet<string> = new Set(['TooManyPrunes', 'Paused', 'PopulationPaused'])

export const stopOf = (template: NamespaceTemplate): TemplateCondition | undefined => {
  const progressing = conditionOf(template, 'Progressing')
  if (progressing === undefined || isResumed(template)) return undefined
  return stops.has(progressing.reason) ? progressing : undefined
}

/** The status still says that it is paused, and neither an annotation nor a failure holds it: it is about to go on. */
export function isResumed(template: NamespaceTemplate): boolean {
  const { spec, status } = template
  const byFailure = spec?.rollout?.pauseOnFailure === true && (status?.failed ?? 0) > 0
  const isSaid = conditionOf(template, 'Progressing')?.reason === 'Paused'
  return isSaid && !isRolloutPaused(template) && !byFailure
}

export function wordOf(template: NamespaceTemplate): TemplateWord {
  const { metadata, status } = template
  const stop = stopOf(template)
  if (stop !== undefined && !(stop.reason === 'Paused' && isRolloutPaused(template))) return 'stopped'
  if (metadata.deletionTimestamp !== undefined) return 'going'
  if (isDisabled(template)) return 'disabled'
  if (isRolloutPaused(template)) return 'paused'
  if (status?.observedGeneration !== metadata.generation) return 'not yet seen'
  if (isResumed(template) || conditionOf(template, 'Progressing')?.status === 'True') return 'rolling out'
  return progressOf(template).failed > 0 ? 'failing' : 'complete'
}

export interface Waves {
  /** Namespaces at a time. */
  readonly size: number
  /** From 1; places that become free are taken at once, so a wave begins before the last is whole. */
  readonly now: number
  readonly all: number
}

const placesOf = ({ spec }: NamespaceTemplate, matched: number): number =>
  Math.max(
    1,
    limitOf(spec?.rollout?.maxUnavailable, () => matched),
  )

/** Undefined where all are begun at once. */
export function wavesOf(template: NamespaceTemplate): Waves | undefined {
  const { matched, waiting } = progressOf(template)
  const size = placesOf(template, matched)
  const all = Math.ceil(matched / size)
  if (all <= 1) return undefined
  return { size, now: Math.ceil((matched - waiting) / size), all }
}

/** What the figures are of, in words: `3 of 12 namespaces hold generation 7: wave 2 of 6, 2 at a time`. */
export function progressText(template: NamespaceTemplate): string {
  const { generation = 0 } = template.metadata
  const seen = template.status?.observedGeneration ?? 0
  if (seen !== generation) return `Generation ${generation} was not looked at yet; the figures are of ${seen}.`
  const { matched, synced, skipped, extended, waiting } = progressOf(template)
  const done = synced + skipped + extended
  const held = `${countText(done)} of ${countText(matched)} namespaces hold generation ${generation}`
  const waves = waiting === 0 ? undefined : wavesOf(template)
  if (waves === undefined) return `${held}.`
  const { now, all, size } = waves
  const wave = now === 0 ? `no wave of ${countText(all)} has begun` : `wave ${countText(now)} of ${countText(all)}`
  return `${held}: ${wave}, ${countText(size)} at a time.`
}

const countText = (n: number): string => n.toLocaleString('en')

export const isDisabled = ({ metadata }: NamespaceTemplate): boolean =>
  metadata.annotations?.[applyAnnotation] === 'disable'
