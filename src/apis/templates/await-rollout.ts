/** How far a generation of a template has got, told until it has reached its namespaces or has stopped. */
import type { Client } from '../../client/client.ts'
import { objectStates } from '../../client/object-states.ts'
import { isNotFound } from '../../kube/status-error.ts'
import { isRolloutPaused } from './match.ts'
import { isPaused, populationConfig } from './population-config.ts'
import { completeReason, failedReason, progressingCondition } from './rollout.ts'
import { populationPaused } from './status.ts'
import {
  confirmPruneAnnotation,
  type NamespaceTemplate,
  pauseRolloutAnnotation,
  type TemplateFailure,
  templateResource,
} from './types.ts'

const configResource = { group: '', version: 'v1', resource: 'configmaps' } as const

export interface RolloutState {
  readonly matched: number
  readonly synced: number
  readonly failed: number
  /** Where what names a creator or owner is left out, for none is recorded. Absent = nowhere. */
  readonly skipped?: number
  /** Where others have added to what the template says: it is there all the same. Absent = nowhere. */
  readonly extended?: number
  /** The first of those that failed. */
  readonly failure?: TemplateFailure
  /** Absent = it goes on. */
  readonly outcome?: 'complete' | 'failed' | 'stopped' | 'superseded'
  /** Why it stopped, as the condition says it: `TooManyPrunes`. */
  readonly reason?: string
  readonly message?: string
}

/** Each state that differs from the one before; the last has an outcome. @throws StatusError; the reason of `signal` */
export async function* rolloutStates(
  client: Client,
  name: string,
  generation: number,
  signal: AbortSignal,
): AsyncGenerator<RolloutState> {
  let told = ''
  for await (const template of objectStates(client, templateResource, name, signal)) {
    if (template === undefined) throw new Error(`template ${name} is gone`)
    const state = stateOf(template as NamespaceTemplate, generation)
    if (state?.outcome === 'stopped' && (await isLifted(client, template as NamespaceTemplate, state, signal))) continue
    const text = JSON.stringify(state)
    if (state !== undefined && text !== told) yield state
    if (state?.outcome !== undefined) return
    told = text
  }
}

/** Of the template as it is now. @throws StatusError */
export async function presentGeneration(client: Client, name: string, signal: AbortSignal): Promise<number> {
  const { metadata } = await client.get(templateResource, { name }, { signal })
  return metadata.generation ?? 0
}

/**
 * Whether what stopped it is over: the status says so a moment later, and who has just confirmed or resumed it waits
 * for that, not for the stop before.
 */
async function isLifted(
  client: Client,
  template: NamespaceTemplate,
  { reason, message = '' }: RolloutState,
  signal: AbortSignal,
): Promise<boolean> {
  const { annotations = {}, generation } = template.metadata
  if (reason === 'TooManyPrunes') return annotations[confirmPruneAnnotation] === String(generation)
  if (reason === 'Paused') return message.includes(pauseRolloutAnnotation) && !isRolloutPaused(template)
  if (reason !== populationPaused.reason) return false
  try {
    return !isPaused(await client.get(configResource, populationConfig, { signal }))
  } catch (error) {
    signal.throwIfAborted()
    // Who may not read it believes the status.
    return isNotFound(error)
  }
}

/** undefined = the controller has not looked at this generation yet. */
function stateOf({ metadata, status = {} }: NamespaceTemplate, generation: number): RolloutState | undefined {
  const { observedGeneration = 0, matched = 0, synced = 0, failed = 0, failures = [], conditions = [] } = status
  const { skipped = 0, extended = 0 } = status
  const [failure] = failures
  const figures = {
    ...{ matched, synced, failed },
    ...(skipped > 0 ? { skipped } : {}),
    ...(extended > 0 ? { extended } : {}),
    ...(failure === undefined ? {} : { failure }),
  }
  const progressing = conditions.find((c) => c.type === progressingCondition)
  if ((metadata.generation ?? 0) > generation) return { ...figures, outcome: 'superseded' }
  const isBehind = observedGeneration < generation
  const isAllPaused = progressing?.reason === populationPaused.reason
  if (progressing === undefined || (isBehind && !isAllPaused)) return undefined
  if (progressing.status === 'True') return figures
  if (progressing.reason === completeReason) return { ...figures, outcome: 'complete' }
  if (progressing.reason === failedReason) return { ...figures, outcome: 'failed' }
  const { reason, message } = progressing
  // While all are paused none is looked at: the figures are those of the generation before.
  if (isBehind) return { matched, synced: 0, failed: 0, outcome: 'stopped', reason, message }
  return { ...figures, outcome: 'stopped', reason, message }
}
