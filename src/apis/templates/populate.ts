/**
 * Brings one namespace to what its templates say: applies what they hold, prunes what they held. Reads and writes
 * through `Client` alone, so it runs against any cluster. What it will apply is in the applied record before it is
 * there, and what came of it afterwards.
 */
import type { Client } from '../../client/client.ts'
import { nameOf, uidOf } from '../../kube/metadata.ts'
import { rbacGroup } from '../../kube/rbac.ts'
import { findStatusError, type StatusError } from '../../kube/status-error.ts'
import type { Namespace } from '../namespaces/types.ts'
import { type AppliedObject, type AppliedRecords, identityOfApplied } from './applied-records.ts'
import { type Applied, applyObject, driftOf, extraMessage } from './apply-object.ts'
import { batches } from './apply-order.ts'
import type { ResolveClone } from './clones.ts'
import type { Conditions } from './conditions.ts'
import { type Corrections, mostCorrections } from './corrections.ts'
import { isGateShut } from './gate.ts'
import { configDigest } from './held-config.ts'
import { pruneOne, putLabelBack } from './leftovers.ts'
import { contentDigest } from './marks.ts'
import { holdersOf } from './namespace-metadata.ts'
import { failureOf, obstructed, refusedBesides, refusedFor } from './object-failures.ts'
import type { ObjectResult, Outcome } from './object-result.ts'
import { type Placed, placeOf } from './place-of.ts'
import type { PopulatedObject, PopulatedObjects } from './populated-objects.ts'
import { identityOf, type Rendered, render, type Skipped, titleOf, wholeReasons } from './render.ts'
import { type MetadataRequest, settleMetadata, wantsMetadata } from './settle-metadata.ts'
import type { NamespaceTemplate } from './types.ts'

export interface PopulateDeps {
  readonly client: Pick<Client, 'get' | 'apply' | 'update' | 'patch' | 'delete' | 'discovery'>
  readonly index: PopulatedObjects
  readonly clones: ResolveClone
  /** Absent in a dryRun: nothing is made then. */
  readonly records?: Pick<AppliedRecords, 'announce' | 'settle'>
  /** Absent in a dryRun. */
  readonly corrections?: Corrections
}

export interface PopulateRequest {
  readonly namespace: Namespace
  /** In the order in which they apply. */
  readonly templates: readonly NamespaceTemplate[]
  /** What becomes of objects that their template no longer holds here. `Keep`: the template is switched off. */
  readonly policyOf: (template: string) => 'Delete' | 'Orphan' | 'Keep'
  /** Templates that are applied in a version that is not the newest. */
  readonly isOlder?: (template: string) => boolean
  /** Of all that is wanted, do and answer only what concerns this template. */
  readonly only?: string
  /** What others added to an object is not looked for, but where it would be taken out: it is not what is asked. */
  readonly ignoresExtra?: boolean
  /** Of the namespace, where more is asked of it than this. */
  readonly conditions?: Conditions
  readonly signal: AbortSignal
}

export async function populate(deps: PopulateDeps, request: PopulateRequest): Promise<readonly ObjectResult[]> {
  const { namespace, signal } = request
  const results: ObjectResult[] = []
  try {
    await bring(deps, request, results)
  } finally {
    const applied = results.flatMap((r) => r.applied ?? [])
    const released = results.flatMap((r) => r.released ?? [])
    await deps.records?.settle(namespace, { applied, released }, signal)
  }
  return results
}

/** Adds to `results` one by one: what was done before a fault is recorded all the same. */
async function bring(deps: PopulateDeps, request: PopulateRequest, results: ObjectResult[]): Promise<void> {
  const { namespace, templates, only } = request
  for (const result of await settleMetadata(deps.client, settledIn(request), request.signal)) results.push(result)
  const { objects, skipped } = render(templates, namespace, deps.clones, request.conditions)
  const concerns = (template: string | undefined): boolean => only === undefined || template === only
  for (const one of skipped) if (concerns(one.template.metadata.name)) results.push(resultOf(one, namespace))
  const claims = claimsIn(deps.index, namespace)
  // What may not be wanted any more stays as it is, tenants' changes of it excepted.
  const kept = skipped.flatMap(({ kept: rendered, identity = '' }) =>
    rendered !== undefined && claims.get(identity)?.template === rendered.template.metadata.name ? [rendered] : [],
  )
  const placed: Placed[] = []
  const unmade: Unmade[] = [...skipped]
  for (const rendered of [...objects, ...kept]) {
    const { template, object } = rendered
    const place = await placeOf(deps.client, rendered)
    if ('kind' in place) placed.push(place)
    else {
      unmade.push({ template, identity: identityOf(object) })
      if (concerns(template.metadata.name)) results.push(place)
    }
  }
  const concerned = placed.filter((p) => concerns(p.rendered.template.metadata.name))
  await applyAll({ ...deps, claims, request }, { placed, concerned, unmade }, results)
  // What could not be made is wanted all the same: an object of that name is no leftover.
  const wanted = new Set([...objects.map((o) => identityOf(o.object)), ...skipped.map((s) => s.identity)])
  const incomplete = new Set(skipped.flatMap((s) => (s.identity === undefined ? [s.template.metadata.name] : [])))
  for (const [identity, claim] of claims) {
    if (!concerns(claim.template) || wanted.has(identity) || incomplete.has(claim.template)) continue
    const policy = request.policyOf(claim.template)
    if (policy !== 'Keep') results.push(await pruneOne(deps.client, { ...request, policy }, claim))
  }
}

/** What they depend on is watched. */
const awaitedReasons: ReadonlySet<string> = new Set(['ConditionFailed', 'SourceMissing', 'SourceRefused'])

/** As of a parameter: conditions are judged by what the namespace says of itself, and what was there stays. */
const judgedReasons: ReadonlySet<string> = new Set(['ConditionFailed', 'RoleNotOurs'])

export function resultOf({ template, object, reason, message }: Skipped, namespace: Namespace): ObjectResult {
  const result = { template: nameOf(template.metadata), object }
  if (reason === 'CreatorUnknown' || reason === 'OwnerUnknown') return { ...result, skipped: { reason, message } }
  // A new namespace is not handed out without what it must have.
  const isNew = isGateShut(namespace) && (wholeReasons as readonly string[]).includes(reason)
  const awaited = awaitedReasons.has(reason) ? { isAwaited: true as const } : {}
  const failed = { ...result, failure: { reason, message, retriable: isNew, ...awaited } }
  return judgedReasons.has(reason) ? obstructed(failed) : failed
}

/** What a template holds and this pass does not make. */
type Unmade = Pick<Skipped, 'template' | 'identity'>

/** What is ours in a namespace, by identity. */
type Claims = ReadonlyMap<string, AppliedObject>

const claimsIn = (index: PopulatedObjects, { metadata }: Namespace): Claims =>
  new Map(index.claimsIn(nameOf(metadata)).map((claim) => [identityOfApplied(claim), claim]))

/** One pass over one namespace. */
interface Pass extends PopulateDeps {
  readonly claims: Claims
  readonly request: PopulateRequest
}

async function applyAll(
  pass: Pass,
  wanted: {
    readonly placed: readonly Placed[]
    readonly concerned: readonly Placed[]
    readonly unmade: readonly Unmade[]
  },
  results: ObjectResult[],
): Promise<void> {
  const { concerned } = wanted
  const refused = await announce(pass, concerned)
  if (refused !== undefined) {
    for (const p of concerned) results.push(failureOf(p.rendered, 'NotRecorded', refused.message, true))
    return
  }
  const bindings = new Map(concerned.flatMap((p) => bindingIn(p, pass, wanted)))
  for (const batch of batches(concerned.filter((p) => !bindings.has(p)))) {
    const outcomes = await Promise.allSettled(batch.map((p) => applyOne(pass, p)))
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') results.push(outcome.value)
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }
  for (const [binding, role] of bindings) {
    const { name } = binding.rendered.template.metadata
    const isMade = results.some(
      ({ applied, failure }) =>
        applied !== undefined && identityOfApplied(applied) === role.identity && failure === undefined,
    )
    if (role.isWhole && isMade) results.push(await applyOne(pass, binding))
    else {
      const message = `${role.title}, which it binds and its template holds, is not made by its template`
      const ofRole = results.find((r) => r.template === name && r.object === role.title && r.failure)?.failure
      const result = failureOf(binding.rendered, 'RoleNotOurs', message, ofRole?.retriable === true)
      results.push((role.isWhole || role.isUnmade) && ofRole?.isObstructed ? obstructed(result) : result)
    }
  }
}

/** The refusal of the record, if it could not be written: then nothing may be applied. */
async function announce(pass: Pass, concerned: readonly Placed[]): Promise<StatusError | undefined> {
  const { records, request } = pass
  if (records === undefined) return undefined
  const ahead = concerned.filter((p) => heldBy(pass, p) === undefined)
  if (ahead.length === 0) return undefined
  try {
    const objects = ahead.map(({ rendered }) => recordOf(rendered, '', ''))
    await records.announce(request.namespace, objects, request.signal)
    return undefined
  } catch (error) {
    const status = findStatusError(error)
    if (status === undefined) throw error
    return status
  }
}

function recordOf({ template, object, config }: Rendered, uid: string, content: string): AppliedObject {
  const { apiVersion, kind, metadata } = object
  const { generation = 0 } = template.metadata
  const templateName = nameOf(template.metadata)
  const { name } = metadata
  return { apiVersion, kind, name, uid, template: templateName, generation, digest: config, content }
}

/** What a version that is not the newest set stays as it is: admission judges by the newest. */
export function settledIn(request: PopulateRequest): MetadataRequest {
  const { templates, policyOf, isOlder = () => false } = request
  return {
    ...request,
    templates: templates.filter(({ metadata }) => !isOlder(nameOf(metadata))),
    policyOf: (template) => (isOlder(template) ? 'Keep' : policyOf(template)),
  }
}

/** `claims` are what the templates say, all of it and nothing else, and unchanged: a pass would change nothing. */
export function isPopulated(
  templates: readonly NamespaceTemplate[],
  claims: readonly AppliedObject[],
  { index, clones, conditions }: Pick<PopulateDeps, 'index' | 'clones'> & Required<Pick<PopulateRequest, 'conditions'>>,
): boolean {
  const { namespace } = conditions
  const { objects, skipped } = render(templates, namespace, clones, conditions)
  if (skipped.length > 0 || objects.length !== claims.length) return false
  // One that sets nothing any more takes away what it set.
  const concernsMetadata = holdersOf(namespace).size > 0 || templates.some((t) => t.spec?.namespaceMetadata)
  if (concernsMetadata && wantsMetadata(templates, namespace)) return false
  const lives = new Map<string, PopulatedObject>()
  for (const live of index.livesIn(nameOf(namespace.metadata))) lives.set(live.uid, live)
  const byIdentity = new Map(claims.map((claim) => [identityOfApplied(claim), claim]))
  return objects.every((rendered) => {
    const claim = byIdentity.get(identityOf(rendered.object))
    const live = lives.get(claim?.uid ?? '')
    return isHeld(live, rendered, claim) && live?.extended === undefined
  })
}

/**
 * Applying it would change nothing. What the object itself tells of our fields says nothing of those that others add:
 * it is believed where the record says of the rest that nothing has changed.
 */
const isHeld = (
  live: PopulatedObject | undefined,
  { object, config }: Rendered,
  claim: AppliedObject | undefined,
): boolean =>
  live !== undefined &&
  (live.applied === config ||
    (live.held !== undefined && live.digest === claim?.content && live.held === configDigest(object)))

/** The object that is there already, just as it is wanted, and ours. */
function heldBy({ index, claims }: Pass, { rendered, kind }: Placed): PopulatedObject | undefined {
  const { namespace, name } = rendered.object.metadata
  const live = index.find(kind, namespace, name)
  const claim = claims.get(identityOf(rendered.object))
  return live !== undefined && claim?.uid === live.uid && isHeld(live, rendered, claim) ? live : undefined
}

/** The Role that a RoleBinding binds and its template holds. Kinds of other groups may have its title. */
interface BoundRole {
  /** As `identityOf` says. */
  readonly identity: string
  readonly title: string
  /** Once it is made, its rules are those of the template. */
  readonly isWhole: boolean
  readonly isUnmade: boolean
}

/**
 * A RoleBinding whose Role stands in the same template, with that Role. Its author was asked for the rules of that Role
 * and of no other: one that another client or template made, or made stronger, may grant anything. So it is applied
 * after the Role, if the Role is then as the template says. While the gate is shut no other client has made one.
 */
function bindingIn(
  p: Placed,
  { request: { namespace } }: Pass,
  { placed, unmade }: { readonly placed: readonly Placed[]; readonly unmade: readonly Unmade[] },
): [Placed, BoundRole][] {
  const { template, object } = p.rendered
  if (p.kind.group !== rbacGroup || p.kind.resource !== 'rolebindings') return []
  const { kind, name } = (object['roleRef'] ?? {}) as { readonly kind?: unknown; readonly name?: unknown }
  if (kind !== 'Role' || typeof name !== 'string') return []
  const identity = `${rbacGroup}/Role/${name}`
  const isUnmade = unmade.some((s) => s.template === template && s.identity === identity)
  const bound = { identity, title: `Role/${name}`, isWhole: false, isUnmade }
  if (isUnmade) return [[p, bound]]
  const role = placed.find((r) => r.rendered.template === template && identityOf(r.rendered.object) === identity)
  return role === undefined || isGateShut(namespace) ? [] : [[p, { ...bound, isWhole: saysRules(role.rendered) }]]
}

/** Of a Role: what it says nothing of, or leaves to other managers, an apply leaves as it is. */
const saysRules = ({ object, held }: Rendered): boolean => Array.isArray(object['rules']) && held.yieldTo === undefined

async function applyOne(pass: Pass, placed: Placed): Promise<ObjectResult> {
  const { client, index, claims, request, corrections } = pass
  const { rendered, kind } = placed
  const { template, object, config } = rendered
  const { namespace, name } = object.metadata
  const done = (outcome: Outcome, applied: AppliedObject): ObjectResult => ({
    template: nameOf(template.metadata),
    object: titleOf(object),
    outcome,
    applied,
  })
  const held = heldBy(pass, placed)
  if (held !== undefined) {
    if (held.applied !== config) index.upToDate(held, config)
    const { extended } = held
    const result = done('unchanged', recordOf(rendered, held.uid, extended === undefined ? held.digest : ''))
    return extended === undefined ? result : { ...result, extended: { reason: 'Extended', message: extended } }
  }
  const known = index.find(kind, namespace, name)
  const claim = claims.get(identityOf(object))
  // An entry without a uid was only announced. Any other claim is this template's from now on, even where its apply is
  // refused: the template that held the object before must not wait for it.
  const inherited = claim?.uid ? { ...claim, template: nameOf(template.metadata) } : undefined
  const isRepeated = claim?.uid !== '' && claim?.template === template.metadata.name && claim?.digest === config
  const isStrict = driftOf(rendered) === 'Strict'
  const place = `${request.namespace.metadata.uid} ${identityOf(object)}`
  if (inherited !== undefined && isRepeated && isStrict && known !== undefined && corrections?.isSpent(place)) {
    const result = obstructed(failureOf(rendered, 'DriftStopped', stopped, false))
    return { ...result, applied: inherited }
  }
  const written = index.writing(kind, namespace, name)
  let answer: Parameters<typeof written>[0]
  try {
    // A server from before did not look for what others add.
    const mayBeJudged = isRepeated || !isStrict
    const isUnasked = request.ignoresExtra === true && !isStrict
    const isUntouched =
      isUnasked || (mayBeJudged && claim !== undefined && claim.uid === known?.uid && claim.content === known.digest)
    const isOurs = inherited !== undefined
    const { signal } = request
    const applied = await applyObject({ client, kind, rendered, signal, isOurs, isRepeated, isUntouched })
    if ('failure' in applied) {
      const result = obstructed(failureOf(rendered, applied.failure, applied.message, false))
      if (applied.failure === 'AlreadyExists') return { ...result, released: identityOf(object) }
      // Without our label no watch tells when it goes.
      if (inherited === undefined) return { ...result, isUnwatched: true }
      return { ...result, applied: inherited, isUnwatched: !(await putLabelBack(client, kind, request, inherited)) }
    }
    if (applied.refused !== undefined) {
      // The object is ours by its uid from now on: nothing else would prune it.
      const uid = uidOf(applied.object.metadata)
      return { ...refusedBesides(rendered, applied.refused), applied: recordOf(rendered, uid, '') }
    }
    const extended = applied.extra.length > 0 ? extraMessage(applied.extra) : undefined
    answer = { object: applied.object, config, extended }
    const { resourceVersion } = applied.object.metadata
    const uid = uidOf(applied.object.metadata)
    const outcome = known?.revision === resourceVersion ? 'unchanged' : 'configured'
    // What was added to it is looked for again by the next process: no record calls it as it should be.
    const content = extended === undefined ? contentDigest(applied.object) : ''
    const result = done(outcome, recordOf(rendered, uid, content))
    return {
      ...result,
      ...(extended === undefined ? {} : { extended: { reason: 'Extended', message: extended } as const }),
      ...(isRepeated && outcome === 'configured' && driftOf(rendered) !== 'Report'
        ? { corrected: correctionOf(applied, claim?.uid === uid, corrections?.note(place) ?? false) }
        : {}),
    }
  } catch (error) {
    const status = findStatusError(error)
    if (status === undefined) throw error
    const { signal, namespace: where } = request
    const result = await refusedFor({ client, kind, rendered, signal, claim, known, namespace: where }, status)
    return inherited === undefined ? result : { ...result, applied: inherited }
  } finally {
    written(answer)
  }
}

const stopped =
  `it was put back ${mostCorrections} times within an hour, and is left as other writers have it until that ` +
  'hour is over'

const correctionOf = (
  { conflict }: Applied,
  isSameObject: boolean,
  isNews: boolean,
): NonNullable<ObjectResult['corrected']> => ({
  message: isSameObject
    ? (conflict ?? 'what others had changed was put back')
    : 'it had been deleted, and is made again',
  isNews,
})
