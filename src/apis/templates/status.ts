/** The status of a template, from what is known of its namespaces. Pure. */
import { formatTime } from '../../kube/time.ts'
import { generationBefore, noneYet } from './held-version.ts'
import { generationOf, type Tally } from './ledger.ts'
import { isDisabled, type Matcher } from './match.ts'
import { pausedKey, populationConfig } from './population-config.ts'
import { revisionName, revisionNamespace } from './revisions.ts'
import { completeReason, failedReason, type Halt, progressingCondition, unreadReason } from './rollout.ts'
import type { NamespaceTemplate, TemplateCondition, TemplateFailure, TemplateStatus } from './types.ts'

export interface Findings extends Tally {
  /** Namespaces that are selected. */
  readonly matched: number
  readonly waiting: number
  /** What failed has all places of the rollout, so many. */
  readonly heldUpIn?: number | undefined
  readonly halt: Halt | undefined
  readonly kinds: readonly string[]
}

export function statusOf(version: Matcher, findings: Findings, nowMs: number): TemplateStatus {
  const generation = generationOf(version)
  const { matched, synced, failed, skipped, extended, failures, waiting, kinds } = findings
  const behind = matched - synced - skipped - extended
  // Who waits holds what the template said before, even if it is selected no more.
  const isDeleted = version.template.metadata.deletionTimestamp !== undefined
  const { halt } = findings
  const isRead = halt?.reason !== unreadReason
  const isSynced = !isDeleted && isRead && behind <= 0 && failed === 0 && waiting === 0 && extended === 0
  const old = version.template.status?.conditions
  return {
    observedGeneration: generation,
    ...(halt === undefined || halt.reason === 'Paused' ? {} : heldBy(version.template)),
    matched,
    synced,
    failed,
    skipped,
    extended,
    waiting,
    ...(failures.length > 0 ? { failures: [...failures] } : {}),
    kinds: [...kinds],
    conditions: [
      since(old, nowMs, {
        type: 'Synced',
        status: isSynced ? 'True' : 'False',
        reason: isSynced ? 'Synced' : reasonOf(version, findings),
        message: isSynced ? allHold(skipped) : whyNotSynced(version, findings, behind),
      }),
      since(old, nowMs, progress(version, findings)),
    ],
  }
}

const allHold = (skipped: number): string =>
  `Every selected namespace holds what the template says${exceptFor(skipped)}`

function whyNotSynced(
  { template }: Matcher,
  { halt, matched, failed, extended, extendedIn, waiting }: Findings,
  behind: number,
): string {
  if (template.metadata.deletionTimestamp !== undefined)
    return 'The template is being deleted, and objects of it are still there'
  if (halt?.reason === unreadReason) return `What it gives can not be told: ${halt.message}`
  if (behind > 0 || failed > 0) return differing(Math.max(behind, failed), matched)
  if (waiting > 0) return `${waiting} namespaces that it no longer selects hold its objects still`
  const others = extended > extendedIn.length ? ` and ${extended - extendedIn.length} more` : ''
  return (
    `In ${extended} of ${matched} namespaces others have added to what the template says: ` +
    `${extendedIn.join(', ')}${others}`
  )
}

/**
 * What is in force while the newest reaches none. One that only a newer version understands is named too, though
 * nothing acts upon it here: who takes it up again must know what was in force before it was edited meanwhile.
 */
function heldBy(template: NamespaceTemplate): Pick<TemplateStatus, 'heldGeneration'> {
  if (isDraft(template)) return { heldGeneration: noneYet }
  const held = generationBefore(template)
  return held === undefined ? {} : { heldGeneration: held }
}

/** It is disabled, and was so before its first status: none of its versions ever reached a namespace. */
const isDraft = (template: NamespaceTemplate): boolean =>
  template.status?.observedGeneration === undefined ? isDisabled(template) : template.status.heldGeneration === noneYet

/** What it says of a stop, where the version that it names as in force is not kept: an administrator deleted it. */
export function withLostVersion(status: TemplateStatus, name: string): TemplateStatus {
  const generation = status.heldGeneration as number
  const lost =
    `; generation ${generation}, which is in force, is not kept any more (ControllerRevision ` +
    `${revisionNamespace}/${revisionName(name, generation)}): namespaces that only it selects are given nothing`
  const conditions = (status.conditions ?? []).map((c) =>
    c.type === progressingCondition ? { ...c, message: `${c.message}${lost}` } : c,
  )
  return { ...status, conditions }
}

/** Nothing is left of it, and nothing is in force any more. */
export function letGoStatusOf({ status }: NamespaceTemplate): TemplateStatus {
  const { heldGeneration: _, ...rest } = status ?? {}
  return rest
}

/** Those that failed count too where it selects them no more: what it made there could not be taken away. */
const differing = (namespaces: number, matched: number): string =>
  namespaces <= matched
    ? `${namespaces} of ${matched} namespaces differ from the template`
    : `${namespaces} namespaces differ from the template, which selects ${matched}`

/** Why it is not synced. */
function reasonOf(
  { template }: Matcher,
  { failures, halt, waiting, matched, synced, skipped, extended }: Findings,
): string {
  if (failures[0] !== undefined) return failures[0].reason
  if (halt !== undefined) return halt.reason
  if (template.metadata.deletionTimestamp !== undefined) return 'Deleting'
  return waiting === 0 && synced + skipped + extended >= matched ? 'Extended' : 'RollingOut'
}

export const populationPaused: Halt = {
  reason: 'PopulationPaused',
  message:
    `all templates are paused by key ${pausedKey} of ConfigMap ` +
    `${populationConfig.namespace}/${populationConfig.name}: namespaces that exist are left as they are`,
}

/** The status as it is, but for the condition that says why nothing moves, and what is in force by then. */
export const pausedStatusOf = (template: NamespaceTemplate, nowMs: number): TemplateStatus => ({
  ...withProgress(template, nowMs, { type: progressingCondition, status: 'False', ...populationPaused }),
  ...heldBy(template),
})

/** The status as it is, but for the condition that says how far the look at all namespaces has come. */
export function surveyingStatusOf(
  template: NamespaceTemplate,
  looked: number,
  all: number,
  nowMs: number,
): TemplateStatus {
  const message =
    `${looked} of ${all} namespaces have been looked at; generation ${template.metadata.generation} reaches none ` +
    'that exists before all have'
  return withProgress(template, nowMs, { type: progressingCondition, status: 'True', reason: 'Surveying', message })
}

function withProgress({ status }: NamespaceTemplate, nowMs: number, progressing: Told): TemplateStatus {
  const old = status?.conditions ?? []
  const told = since(old, nowMs, progressing)
  return { ...status, conditions: [...old.filter((c) => c.type !== progressingCondition), told] }
}

/** The share of selected namespaces that the newest generation has reached, those where it failed not among them. */
export function rolledOut({ metadata, status }: NamespaceTemplate): number {
  if (status?.observedGeneration !== metadata.generation) return 0
  const { matched = 0, synced = 0, skipped = 0, extended = 0 } = status ?? {}
  return matched === 0 ? 1 : (synced + skipped + extended) / matched
}

const exceptFor = (skipped: number): string =>
  skipped === 0 ? '' : `; in ${skipped} of them what names a creator or owner is left out, for none is recorded`

type Told = Omit<TemplateCondition, 'lastTransitionTime'>

function progress(version: Matcher, findings: Findings): Told {
  const { matched, waiting, halt, synced, failed, untried, skipped, extended, failures, heldUpIn } = findings
  const type = progressingCondition
  if (halt !== undefined) return { type, status: 'False', ...halt }
  if (version.template.metadata.deletionTimestamp !== undefined) {
    const leaves = version.template.spec?.deletionPolicy === 'Orphan'
    const message = leaves ? 'It lets go of what it made, which stays' : 'What it made is being deleted'
    return { type, status: 'True', reason: 'Deleting', message }
  }
  const generation = generationOf(version)
  // What failed is not under way any more: it is tried again for as long as it fails.
  if (waiting === 0 && synced + skipped + extended + failed - untried >= matched) {
    const message = `Generation ${generation} has reached every selected namespace`
    const [first] = failures
    if (first === undefined) return { type, status: 'False', reason: completeReason, message }
    const failing = `${message}, and failed in ${failed}, first in ${failureText(first)}`
    return { type, status: 'False', reason: failedReason, message: failing }
  }
  const far = `${synced} of ${matched} namespaces hold generation ${generation}`
  const message =
    heldUpIn === undefined || failures[0] === undefined
      ? far
      : `${far}; ${heldUpIn} that failed keep all places of spec.rollout.maxUnavailable until they are mended, and ` +
        `${waiting} wait; first ${failureText(failures[0])}`
  return { type, status: 'True', reason: 'RollingOut', message }
}

const failureText = ({ namespace, object, reason }: TemplateFailure): string =>
  `${namespace}: ${object === undefined ? '' : `${object}: `}${reason}`

function since(old: readonly TemplateCondition[] | undefined, nowMs: number, told: Told): TemplateCondition {
  const before = old?.find((c) => c.type === told.type)
  return {
    ...told,
    lastTransitionTime: before?.status === told.status ? before.lastTransitionTime : formatTime(nowMs),
  }
}
