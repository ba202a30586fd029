/**
 * Who writes a template that `maxPrune` will stop, or deletes it, is told at once, in the words of its condition and
 * its Event: it is looked where the version would delete something, as the controller will look (`surveys.ts`). So is
 * who takes something from all of a few namespaces, which the default of `maxPrune` allows.
 */
import type { Attributes } from '../../admission/admission.ts'
import type { BoundedCache } from '../../base/bounded-cache.ts'
import type { Resumable } from '../../base/resumable.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { Namespace } from '../namespaces/types.ts'
import { Conditions } from './conditions.ts'
import { digestOf } from './digest.ts'
import { isGateShut } from './gate.ts'
import { isHarmless } from './harmless-edit.ts'
import { evaluateAhead } from './judge-ahead.ts'
import { generationOf } from './ledger.ts'
import { compileMatcher, isOptedOut, type Matcher } from './match.ts'
import { holdersOf, keysHeld } from './namespace-metadata.ts'
import type { PopulatedObjects } from './populated-objects.ts'
import {
  changeOf,
  excessOf,
  generationNamed,
  isPruneLimited,
  type PruneExcess,
  prunes,
  prunesIn,
  stopText,
} from './prunes.ts'
import { findRest } from './rollout.ts'
import { confirmPruneAnnotation, type NamespaceTemplate, templateFinalizer } from './types.ts'

/** What templates hold in the namespaces that exist. In looks at all of them others may have their turn in between. */
export interface HeldLookups extends Pick<PopulatedObjects, 'claimsIn'> {
  /** Where something of the template may be, and undefined for each other namespace. `isAside`: of those opted out. */
  holding(template: string, isAside: boolean): Iterable<Holding | undefined>
  /** And undefined for each of `but`. */
  others(but: ReadonlySet<string>): Iterable<Namespace | undefined>
  countNamespaces(): number
  /** Monotonic milliseconds. */
  now(): number
  readonly found: BoundedCache<string, Found>
}

export interface Holding {
  readonly namespace: Namespace
  /** Objects of the template are recorded. */
  readonly isRecorded: boolean
}

interface Found {
  readonly stop: string | undefined
  readonly untilMs: number
}

/** Longer no client waits for a warning. */
const longestMs = 2000
/**
 * A write that lost against one of the status begins anew, and would lose against the next, if it looked at them all
 * again: what took long is believed for a while.
 */
const longMs = 50
const believedMs = 5000

type Write = Pick<Attributes, 'operation' | 'object' | 'oldObject' | 'warn' | 'dryRun'>

/** Where it is never interrupted there was nothing to look for. */
export function* warnOfStop(a: Write, held: HeldLookups): Resumable<void> {
  const template = writtenBy(a)
  if (template === undefined) return warnOfConfirmation(a)
  const version = compileMatcher(template)
  if (!prunes(version) || !isPruneLimited(version)) return
  yield
  const stop = yield* findOrRemember(version, held, isHarmless(template, a.oldObject as NamespaceTemplate | undefined))
  if (stop === undefined) return
  const verb = a.dryRun ? 'would be' : 'is'
  a.warn(`NamespaceTemplate ${JSON.stringify(nameOf(template.metadata))} ${verb} ${stop}`)
}

/** Of one that names another generation: it changes nothing, so its author would wait for an end that does not come. */
function warnOfConfirmation(a: Write): void {
  const { operation, object, oldObject } = a
  const said = object?.metadata.annotations?.[confirmPruneAnnotation]
  if (
    operation !== 'UPDATE' ||
    said === undefined ||
    said === oldObject?.metadata.annotations?.[confirmPruneAnnotation]
  )
    return
  const { metadata } = object as NamespaceTemplate
  if (said === String(metadata.generation)) return
  a.warn(
    `annotation ${confirmPruneAnnotation} names ${generationNamed(said)} and confirms nothing: NamespaceTemplate ` +
      `${JSON.stringify(nameOf(metadata))} is at generation ${metadata.generation}`,
  )
}

/** The version that the write brings; undefined = it brings none. */
function writtenBy({ operation, object, oldObject }: Write): NamespaceTemplate | undefined {
  const old = oldObject as NamespaceTemplate | undefined
  if (operation === 'DELETE') return old && deleted(old)
  const next = object as NamespaceTemplate
  if (old === undefined || next.metadata.generation !== old.metadata.generation) return next
  // An edit of one that rested was not looked at.
  return findRest(old) !== undefined && findRest(next) === undefined ? next : undefined
}

/** As the deletion leaves it; undefined = it is gone at once, and what it made stays. */
function deleted(template: NamespaceTemplate): NamespaceTemplate | undefined {
  const { metadata } = template
  if (metadata.finalizers?.includes(templateFinalizer) !== true) return undefined
  if (metadata.deletionTimestamp !== undefined) return template
  const generation = (metadata.generation ?? 0) + 1
  return { ...template, metadata: { ...metadata, generation, deletionTimestamp: 'now' } }
}

function* findOrRemember(version: Matcher, held: HeldLookups, isAside: boolean): Resumable<string | undefined> {
  const { metadata, spec } = version.template
  const { uid, generation, deletionTimestamp, annotations } = metadata
  const said = annotations?.[confirmPruneAnnotation]
  const key = digestOf([uid, generation, deletionTimestamp !== undefined, isAside, said, spec])
  const began = held.now()
  const before = held.found.get(key)
  if (before !== undefined && began < before.untilMs) return before.stop
  const stop = yield* findStop(version, held, isAside)
  const ended = held.now()
  if (ended - began >= longMs) held.found.set(key, { stop, untilMs: ended + believedMs })
  return stop
}

function* findStop(version: Matcher, held: HeldLookups, isAside: boolean): Resumable<string | undefined> {
  const until = held.now() + longestMs
  const pruned = new Set<string>()
  const seen = new Set<string>()
  const reached = { selected: 0, holding: 0, labelled: 0 }
  let looked = 0
  let given = 0
  const template = nameOf(version.template.metadata)
  const over = (): string | undefined => {
    // It would be strange if there were any.
    if (pruned.size === 0 && (isAside || generationOf(version) === 1)) return undefined
    return untold(version, { looked, pruned: pruned.size, all: held.countNamespaces() })
  }
  for (const holding of held.holding(template, isAside)) {
    if (held.now() >= until) return over()
    looked++
    yield
    if (holding === undefined) continue
    const { namespace, isRecorded } = holding
    const name = nameOf(namespace.metadata)
    const isLabelled = keysHeld(holdersOf(namespace)).some((key) => key.template === template)
    seen.add(name)
    if (isCounted(version, namespace)) reached.selected++
    if (isRecorded) reached.holding++
    if (isLabelled) reached.labelled++
    if (!isRecorded && !isLabelled) continue
    given++
    yield* judgeAhead(version, namespace)
    if (prunesIn(version, held, namespace)) pruned.add(name)
  }
  const most = (): number => Math.max(reached.selected, reached.holding, reached.labelled)
  const excess = (): PruneExcess | undefined => excessOf(version, pruned.size, most)
  // With more that it reaches it may delete more.
  if (excess() === undefined) return isAside || pruned.size < given ? undefined : emptied(version, given)
  if (isAside) return yield* findStop(version, held, false)
  for (const namespace of held.others(seen)) {
    if (held.now() >= until) return over()
    yield
    if (namespace !== undefined && isCounted(version, namespace)) reached.selected++
  }
  const found = excess()
  return found && `stopped: ${stopText(version, pruned, found)}`
}

/** Where there are few, the default lets an edit take something from each of them. What is deleted is meant to go. */
function emptied({ template: { metadata, spec } }: Matcher, namespaces: number): string | undefined {
  const isMeant = metadata.deletionTimestamp !== undefined || spec?.rollout?.maxPrune !== undefined
  if (namespaces < 2 || isMeant) return undefined
  return (
    `about to delete objects in all ${namespaces} namespaces that it has given something to; with ` +
    '`spec.rollout.maxPrune: 0` it would wait for a confirmation'
  )
}

function isCounted(version: Matcher, namespace: Namespace): boolean {
  if (namespace.metadata.deletionTimestamp !== undefined || isOptedOut(namespace)) return false
  return version.selects(namespace) && !isGateShut(namespace)
}

/** What is asked in one piece afterwards is remembered then. */
function* judgeAhead({ template }: Matcher, namespace: Namespace): Resumable<void> {
  yield* evaluateAhead([template], namespace)
  yield* new Conditions(namespace).ahead([template])
}

function untold(version: Matcher, { looked, pruned, all }: Record<'looked' | 'pruned' | 'all', number>): string {
  // Of all that there are it is allowed the most.
  const isSure = excessOf(version, pruned, () => all) !== undefined
  return (
    `${isSure ? '' : 'perhaps '}stopped: only ${looked} of ${all} namespaces could be looked at in ` +
    `${longestMs / 1000} s, and in ${pruned} of them ${changeOf(version)} would delete objects. ` +
    'Condition Progressing says it of all'
  )
}
