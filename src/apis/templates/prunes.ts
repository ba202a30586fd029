/** Where a version of a template would delete something: asked before anything is. */
import { leastOf } from '../../base/least-of.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { type AppliedObject, identityOfApplied } from './applied-records.ts'
import { generationBefore } from './held-version.ts'
import { generationOf } from './ledger.ts'
import { findBeyond, isDisabled, type Matcher } from './match.ts'
import { holdersOf, keysHeld } from './namespace-metadata.ts'
import { evaluateParameters } from './parameters.ts'
import type { PopulatedObjects } from './populated-objects.ts'
import { identityOf, wantedIn } from './render.ts'
import { keepsWhatItMade, limitOf } from './rollout-limits.ts'
import { takesAwayMetadata } from './settle-metadata.ts'
import { objectsOf } from './template-objects.ts'
import { hasToken } from './tokens.ts'
import { confirmPruneAnnotation, type NamespaceTemplate } from './types.ts'

export interface ReachedNamespaces {
  find(name: string): Namespace | undefined
  /** Those on which the template set something. */
  withMetadataOf(template: string): Iterable<string>
}

type Claims = Pick<PopulatedObjects, 'claimsIn'>

/** Namespaces that hold something of the template which `version` does not give them. */
export function namespacesToPrune(version: Matcher, index: PopulatedObjects, namespaces: ReachedNamespaces): string[] {
  const template = nameOf(version.template.metadata)
  if (!prunes(version)) return []
  const holding = new Set([...index.holdings.namespacesOf(template), ...namespaces.withMetadataOf(template)])
  return [...holding].filter((name) => {
    const namespace = namespaces.find(name)
    return namespace !== undefined && prunesIn(version, index, namespace)
  })
}

/** One that is switched off, or that a newer version knows, deletes nothing. */
export function prunes({ template }: Matcher): boolean {
  if (template.metadata.deletionTimestamp !== undefined) return true
  return !isDisabled(template) && findBeyond(template) === undefined
}

/**
 * Whether a version that prunes would do so in a namespace that holds something of the template: in one that has opted
 * out, once it is opted in again. No edit is there then that could be stopped.
 */
export function prunesIn(version: Matcher, index: Claims, namespace: Namespace): boolean {
  if (namespace.metadata.deletionTimestamp !== undefined) return false
  if (version.template.metadata.deletionTimestamp !== undefined) return true
  return !version.selects(namespace) || holdsMore(version, index, namespace)
}

export interface PruneExcess {
  /** `would delete objects in 7 of 40 namespaces, spec.rollout.maxPrune allows 5 (the default)` */
  readonly consequence: string
  /** What lets it happen all the same. */
  readonly confirmation: string
}

/** Whether anything can keep it from deleting: orphaning destroys nothing, and what is confirmed is meant. */
export function isPruneLimited({ template: { metadata, spec } }: Matcher): boolean {
  if (spec?.deletionPolicy === 'Orphan') return false
  return metadata.annotations?.[confirmPruneAnnotation] !== String(metadata.generation)
}

/**
 * Whether a version would delete objects in more namespaces than it may, unconfirmed; undefined = it may. `reached`:
 * namespaces that it selects or holds something in.
 */
export function excessOf(version: Matcher, pruned: number, reached: () => number): PruneExcess | undefined {
  if (!isPruneLimited(version)) return undefined
  const { metadata, spec } = version.template
  // It may hold objects in some namespaces and have set labels on others.
  const whole = (): number => Math.max(pruned, reached())
  const { maxPrune } = spec?.rollout ?? {}
  const most = limitOf(maxPrune, whole)
  if (pruned <= most) return undefined
  const allowed = `spec.rollout.maxPrune allows ${maxPrune ?? `${most} (the default)`}`
  return {
    consequence: `would delete objects in ${pruned} of ${whole()} namespaces, ${allowed}`,
    confirmation: confirmationOf(nameOf(metadata), generationOf(version)),
  }
}

/** The command that confirms what a generation would delete. */
export const confirmationOf = (template: string, generation: number): string =>
  `kubectl annotate --overwrite namespacetemplate ${template} ${confirmPruneAnnotation}=${generation}`

/** Namespaces named in a message. */
const named = 5

/** For its author and for who looks after it: in which namespaces, and what to do. */
export function stopText(version: Matcher, pruned: ReadonlySet<string>, excess: PruneExcess): string {
  const more = pruned.size > named ? ', ...' : ''
  const first = leastOf(pruned, named).join(', ')
  return (
    `${changeOf(version)} ${excess.consequence}: ` +
    `${first}${more}; nothing is changed${missedBy(version)}. If it is meant, confirm it with: ` +
    `${excess.confirmation}; if not, ${wayBack(version)}`
  )
}

/** Back is to what namespaces have: where this is a step back itself, that is what it left, and no stopped one. */
function wayBack(version: Matcher): string {
  const name = nameOf(version.template.metadata)
  if (version.template.metadata.deletionTimestamp !== undefined) return keepsWhatItMade(name)
  const last = generationOf(version) - 1
  const before = generationBefore(version.template) ?? last
  if (before < 1) return 'edit it: there is no generation before this one'
  const command = `borough template rollback ${name} --to-generation ${before}`
  const which = before === last ? 'the one before' : 'which is in force'
  return `go back to generation ${before}, ${which}, with: ${command}`
}

/** A confirmation that is there, and confirms something else. */
function missedBy(version: Matcher): string {
  const said = version.template.metadata.annotations?.[confirmPruneAnnotation]
  if (said === undefined) return ''
  const present = `this is generation ${generationOf(version)}`
  return `, for annotation ${confirmPruneAnnotation} names ${generationNamed(said)} and ${present}`
}

/** What clients write there may be anything. */
export const generationNamed = (said: string): string =>
  /^\d{1,16}$/.test(said) ? `generation ${said}` : 'no generation'

/** Whether a warning says to the author of a template that it stops, in this text or in another (`stop-warning.ts`). */
export function stopWarned(warning: string): 'certain' | 'perhaps' | undefined {
  const said = /^NamespaceTemplate "[^"]*" (?:is|would be) (perhaps )?stopped: /.exec(warning)
  return said === null ? undefined : said[1] === undefined ? 'certain' : 'perhaps'
}

/** What would do it. */
export const changeOf = (version: Matcher): string =>
  version.template.metadata.deletionTimestamp === undefined
    ? `generation ${generationOf(version)}`
    : 'deleting the template'

function holdsMore({ template }: Matcher, index: Claims, namespace: Namespace): boolean {
  const { name } = template.metadata
  const claims = index.claimsIn(nameOf(namespace.metadata)).filter((o) => o.template === name)
  // What was applied last stays until the namespace gives what is asked: then it goes, and no edit is there to stop.
  if (evaluateParameters(template, namespace).faults.length > 0) return leavesOut(template, claims, namespace)
  if (takesAwayMetadata(template, namespace)) return true
  const wanted = wantedAlike(template, nameOf(namespace.metadata)) ?? wantedIn([template], namespace)
  return claims.some((o) => !wanted.has(identityOfApplied(o)))
}

/** Templates are never changed: an edit brings another. */
const alike = new WeakMap<object, ReadonlySet<string> | undefined>()

/** What `wantedIn` answers, where that is the same in all namespaces but those that are copied from: no rendering. */
function wantedAlike(template: NamespaceTemplate, namespace: string): ReadonlySet<string> | undefined {
  const objects = objectsOf(template)
  if (!alike.has(template)) {
    const identities = objects.map(({ source }) => identityOf(source))
    const isAlike = objects.every(({ when }) => when === undefined) && !identities.some(hasToken)
    alike.set(template, isAlike ? new Set(identities) : undefined)
  }
  return objects.some(({ cloneFrom }) => cloneFrom?.namespace === namespace) ? undefined : alike.get(template)
}

/** Whether something that it holds is not in the template any more, whatever the namespace gives. */
function leavesOut(template: NamespaceTemplate, claims: readonly AppliedObject[], namespace: Namespace): boolean {
  const objects = objectsOf(template).map(({ source }) => source as Partial<KubeObject>)
  // Which name a token comes to can't be told: an object of that kind may be the one.
  const isNamed = (claim: AppliedObject): boolean =>
    objects.some(
      (o) =>
        identityOf(hasToken(o.metadata?.name ?? '') ? { ...o, metadata: { name: claim.name } } : o) ===
        identityOfApplied(claim),
    )
  const { metadata, spec } = template
  const held = keysHeld(holdersOf(namespace)).filter((key) => key.template === metadata.name)
  const isSet = held.every(({ part, key }) => spec?.namespaceMetadata?.[part]?.[key] !== undefined)
  return !isSet || !claims.every(isNamed)
}
