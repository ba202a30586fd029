/**
 * Who writes a template that `maxPrune` will stop, or deletes it, is told at once, in the words of its condition and
 * its Event: it is looked where the version would delete something, as the controller will look (`surveys.ts`).
 */
import type { Attributes } from '../../admission/admission.ts'
import type { Resumable } from '../../base/resumable.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { Namespace } from '../namespaces/types.ts'
import { Conditions } from './conditions.ts'
import { isGateShut } from './gate.ts'
import { evaluateAhead } from './judge-ahead.ts'
import { generationOf } from './ledger.ts'
import { compileMatcher, isOptedOut, type Matcher } from './match.ts'
import { holdersOf, keysHeld } from './namespace-metadata.ts'
import type { PopulatedObjects } from './populated-objects.ts'
import { excessOf, isPruneLimited, prunes, prunesIn, stopText } from './prunes.ts'
import { findRest } from './rollout.ts'
import { type NamespaceTemplate, templateFinalizer } from './types.ts'

/** What templates hold in the namespaces that exist. */
export interface HeldLookups extends Pick<PopulatedObjects, 'claimsIn'> {
  /** Between two of them others may have their turn, and change what is behind. */
  namespaces(): Iterable<Namespace>
  countNamespaces(): number
  /** Monotonic milliseconds. */
  now(): number
}

/** Longer no client waits for a warning. */
const longestMs = 2000

type Write = Pick<Attributes, 'operation' | 'object' | 'oldObject' | 'warn' | 'dryRun'>

/** Where it is never interrupted there was nothing to look for. */
export function* warnOfStop(a: Write, held: HeldLookups): Resumable<void> {
  const template = writtenBy(a)
  if (template === undefined) return
  const version = compileMatcher(template)
  if (!prunes(version) || !isPruneLimited(version)) return
  yield
  const stop = yield* findStop(version, held)
  if (stop === undefined) return
  const verb = a.dryRun ? 'would be' : 'is'
  a.warn(`NamespaceTemplate ${JSON.stringify(nameOf(template.metadata))} ${verb} ${stop}`)
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

function* findStop(version: Matcher, held: HeldLookups): Resumable<string | undefined> {
  const until = held.now() + longestMs
  const pruned = new Set<string>()
  const reached = { selected: 0, holding: 0, labelled: 0 }
  let looked = 0
  for (const namespace of held.namespaces()) {
    if (held.now() >= until) return untold(version, { looked, pruned: pruned.size, all: held.countNamespaces() })
    looked++
    if (isCounted(version, namespace)) reached.selected++
    const { holds, labels } = heldIn(version, namespace, held)
    if (holds) reached.holding++
    if (labels) reached.labelled++
    if (holds || labels) {
      yield* judgeAhead(version, namespace)
      if (prunesIn(version, held, namespace)) pruned.add(nameOf(namespace.metadata))
    }
    yield
  }
  const excess = excessOf(version, pruned.size, () => Math.max(reached.selected, reached.holding, reached.labelled))
  return excess && `stopped: ${stopText(version, pruned, excess)}`
}

function isCounted(version: Matcher, namespace: Namespace): boolean {
  if (namespace.metadata.deletionTimestamp !== undefined || isOptedOut(namespace)) return false
  return version.selects(namespace) && !isGateShut(namespace)
}

function heldIn({ template }: Matcher, namespace: Namespace, held: HeldLookups): { holds: boolean; labels: boolean } {
  const { name } = template.metadata
  return {
    holds: held.claimsIn(nameOf(namespace.metadata)).some((claim) => claim.template === name),
    labels: keysHeld(holdersOf(namespace)).some((key) => key.template === name),
  }
}

/** What is asked in one piece afterwards is remembered then. */
function* judgeAhead({ template }: Matcher, namespace: Namespace): Resumable<void> {
  yield* evaluateAhead([template], namespace)
  yield* new Conditions(namespace).ahead([template])
}

function untold(version: Matcher, { looked, pruned, all }: Record<'looked' | 'pruned' | 'all', number>): string {
  return (
    `perhaps stopped: only ${looked} of ${all} namespaces could be looked at in ${longestMs / 1000} s, and in ` +
    `${pruned} of them generation ${generationOf(version)} would delete objects. Condition Progressing says it of all`
  )
}
