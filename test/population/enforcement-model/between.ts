/** What must hold from one quiet time to the next: nothing is taken beyond the bounds, nothing ends before its time. */
import type { KubeObject } from '../../../src/kube/types.ts'
import { isGoing, isInForce, isOff, isOut, nameOf } from '../enforcement/facts.ts'
import type { Actors } from './actors.ts'
import { isHalted } from './in-force.ts'
import { isHeld, lost, type World } from './judge.ts'
import { dataOf, hoursOf, type Template, templateLabel } from './oracle.ts'

export function transitionProblems(world: World, before: World, actors: Actors, nowMs: number): string[] {
  return [
    ...prunedTooMuch(world, before, actors),
    ...frozenProblems(world, before, actors),
    ...orphanProblems(world, before, actors),
    ...yieldProblems(world, actors),
    ...endProblems(world, nowMs),
  ].concat(endedEarly(world, before, actors, nowMs))
}

/** By each write of a template, in so many namespaces as it allows; more if it was confirmed. */
function prunedTooMuch(world: World, before: World, actors: Actors): string[] {
  const found: string[] = []
  for (const then of before.templates) {
    const name = nameOf(then)
    // What was halted goes on where namespaces that count are let out of it.
    const edits = (actors.interval.edits.get(name) ?? 0) + (isHalted(then) ? 1 : 0)
    if (actors.interval.confirmed.has(name) || actors.orphaning.has(name)) continue
    const namespaces = new Set(lost(then, world, before, actors).map((place) => place.split('/')[0]))
    const most = Math.max(mostOf(then), actors.interval.mostPruned.get(name) ?? 0)
    // A source that went, or a parameter that turned, takes nothing in a namespace that was left alone.
    if (namespaces.size > most * edits)
      found.push(`${edits} writes of ${name} took objects in ${[...namespaces].join(', ')} unconfirmed`)
  }
  return found
}

const mostOf = ({ spec }: Template): number => spec?.rollout?.maxPrune ?? 5

/**
 * What templates may not touch since the last quiet time (all is paused, the template disabled, the namespace opted
 * out) is as it was, or as the test wrote it.
 */
function frozenProblems(world: World, before: World, actors: Actors): string[] {
  const { isPaused, interval } = actors
  if (interval.switched) return []
  const found: string[] = []
  for (const [place, then] of before.objects) {
    const [where = ''] = place.split('/')
    const [old, now] = [before.namespaces.get(where), world.namespaces.get(where)]
    if (old === undefined || now === undefined || now.metadata.uid !== old.metadata.uid || isGoing(now)) continue
    // What is not handed out yet is populated all the same.
    if (isHeld(old)) continue
    const isKeptOut = isOut(old) && isOut(now) && !interval.moved.has(where)
    if (!isPaused && !isKeptOut && !isDisabledSince(then, world, before, actors)) continue
    const must = interval.touched.get(place) ?? then.metadata.resourceVersion
    const is = world.objects.get(place)?.metadata.resourceVersion ?? ''
    if (is !== must) found.push(`${place} was changed while templates may not: ${is} instead of ${must}`)
  }
  return found
}

function isDisabledSince(object: KubeObject, world: World, before: World, { interval }: Actors): boolean {
  const name = object.metadata.labels?.[templateLabel] ?? ''
  const [old, now] = [before, world].map(({ templates }) => templates.find((t) => nameOf(t) === name))
  if (old === undefined || now === undefined || (interval.edits.get(name) ?? 0) > 0) return false
  // Another template may come to hold it.
  return isOff(old) && isOff(now) && interval.edits.size === 0
}

/** What a template made that leaves everything in place is there as long as it does. */
function orphanProblems(world: World, before: World, actors: Actors): string[] {
  return before.templates.flatMap((then) => {
    const now = world.templates.find((t) => nameOf(t) === nameOf(then))
    const leaves = (t: Template): boolean => t.spec?.deletionPolicy === 'Orphan'
    if (!leaves(then) || (now !== undefined && !leaves(now)) || (actors.interval.edits.get(nameOf(then)) ?? 0) > 1)
      return []
    return lost(then, world, before, actors).map((place) => `${place} was deleted, and ${nameOf(then)} orphans`)
  })
}

/** What a manager took that a template yields to is its own until it changes. */
function yieldProblems(world: World, { yielded }: Actors): string[] {
  return [...yielded].flatMap(([place, uid]) => {
    const object = world.objects.get(place)
    if (object?.metadata.uid !== uid || dataOf(object)['a'] === 'theirs') return []
    return [`${place}: the field that is left to its manager was taken back`]
  })
}

const endOf = ({ metadata }: KubeObject): number | undefined => {
  const text = metadata.annotations?.['borough.dev/expires-at']
  return text === undefined ? undefined : Date.parse(text)
}
export const isProtected = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.['borough.dev/deletion-protection'] === 'true'

/** Whose time has come is marked, unless it is protected; its finalizers hold it. Others are not. */
export function endProblems({ namespaces }: World, nowMs: number): string[] {
  return [...namespaces.values()].flatMap((namespace) => {
    const end = endOf(namespace)
    const isOver = end !== undefined && end < nowMs - 60_000
    if (isOver && !isGoing(namespace) && !isProtected(namespace)) return [`${nameOf(namespace)} outlives its end`]
    return []
  })
}

function endedEarly(world: World, before: World, actors: Actors, nowMs: number): string[] {
  return [...before.namespaces.values()].flatMap((then) => {
    const now = world.namespaces.get(nameOf(then))
    const isSame = now !== undefined && now.metadata.uid === then.metadata.uid
    if ((isSame && !isGoing(now)) || isGoing(then) || actors.ended.has(then.metadata.uid ?? '')) return []
    const end = endOf(isSame ? now : then)
    // The last write of the test may have brought the end forward.
    const isOver = end !== undefined && end <= nowMs + 60_000
    if (!isOver) return [`${nameOf(then)} was deleted, and its end is ${end ?? 'not set'}`]
    // What is gone can't say whether it was still protected.
    const wasProtected =
      isProtected(isSame ? now : then) && !(now === undefined && actors.unprotected.has(nameOf(then)))
    return wasProtected ? [`${nameOf(then)} is protected and was deleted`] : []
  })
}

/** A new namespace has the end that it gives, or that of its templates: give or take what the clocks may differ by. */
export function endOfNew(namespace: KubeObject, templates: readonly Template[], slackMs: number): string | undefined {
  const { metadata } = namespace
  const bounds = templates.filter((t) => isInForce(t, namespace)).flatMap((t) => t.spec?.expiry ?? [])
  const defaults = bounds.flatMap((b) => hoursOf(b.default) ?? hoursOf(b.max) ?? [])
  const hours =
    hoursOf(metadata.annotations?.['borough.dev/ttl']) ?? (defaults.length > 0 ? Math.min(...defaults) : undefined)
  const created = Date.parse(metadata.creationTimestamp ?? '')
  const is = endOf(namespace)
  const must = hours === undefined ? undefined : created + hours * 3_600_000
  const isRight = is === must || (is !== undefined && must !== undefined && Math.abs(is - must) <= slackMs)
  return isRight ? undefined : `${nameOf(namespace)} ends at ${is}, not at ${must}`
}
