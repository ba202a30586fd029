/**
 * Brings one namespace to what its templates say: applies what they hold, prunes what they held. Reads and writes
 * through `Client` alone, so it runs against any cluster.
 */
import type { Client, ServedKind } from '../../client/client.ts'
import { findObject } from '../../client/find-object.ts'
import { rbacGroup } from '../../kube/rbac.ts'
import { findStatusError, isAlreadyExists, isConflict, isNotFound, type StatusError } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { batches } from './apply-order.ts'
import { isGateShut } from './gate.ts'
import { configDigest } from './held-config.ts'
import { identityOfPopulated, isOurs, type PopulatedIndex, type PopulatedObject } from './populated-index.ts'
import { identityOf, type Rendered, render, type Skipped, titleOf } from './render.ts'
import { type NamespaceTemplate, templateFieldManager, templateNameLabel } from './types.ts'

export type Outcome = 'configured' | 'unchanged' | 'pruned' | 'orphaned'

export interface ObjectResult {
  readonly template: string
  /** `RoleBinding/admin` */
  readonly object: string
  readonly outcome?: Outcome
  readonly failure?: { readonly reason: string; readonly message: string; readonly retriable: boolean }
  /** Done, and worth telling: it was not taken away because somebody else applies it too. */
  readonly remark?: { readonly reason: string; readonly message: string }
}

export interface PopulateDeps {
  readonly client: Pick<Client, 'get' | 'apply' | 'patch' | 'delete' | 'discovery'>
  readonly index: PopulatedIndex
}

export interface PopulateRequest {
  readonly namespace: Namespace
  /** In the order in which they apply. */
  readonly templates: readonly NamespaceTemplate[]
  /** What becomes of objects that their template no longer holds here. `Keep`: the template is switched off. */
  readonly policyOf: (template: string) => 'Delete' | 'Orphan' | 'Keep'
  /** Of all that is wanted, do and answer only what concerns this template. */
  readonly only?: string
  readonly signal: AbortSignal
}

/** An object and where the server keeps its kind. */
interface Placed {
  readonly rendered: Rendered
  readonly kind: ServedKind
}

export async function populate(deps: PopulateDeps, request: PopulateRequest): Promise<readonly ObjectResult[]> {
  const { namespace, templates, only, signal } = request
  const { objects, skipped } = render(templates, namespace)
  const concerns = (template: string | undefined): boolean => only === undefined || template === only
  const about = skipped.filter((s) => concerns(s.template.metadata.name))
  const results: ObjectResult[] = about.map(({ template, object, reason, message }) => ({
    template: template.metadata.name ?? '',
    object,
    failure: { reason, message, retriable: false },
  }))
  const placed: Placed[] = []
  for (const rendered of objects) {
    const place = await placeOf(deps.client, rendered)
    if ('kind' in place) placed.push(place)
    else if (concerns(rendered.template.metadata.name)) results.push(place)
  }
  const concerned = placed.filter((p) => concerns(p.rendered.template.metadata.name))
  const bindings = new Map(concerned.flatMap((p) => bindingIn(p, deps.index, namespace, { placed, skipped })))
  for (const batch of batches(concerned.filter((p) => !bindings.has(p)))) {
    results.push(...(await Promise.all(batch.map((p) => applyOne(deps, p, signal)))))
  }
  for (const [binding, role] of bindings) {
    const made = results.find((r) => r.object === role && r.template === binding.rendered.template.metadata.name)
    if (made !== undefined && made.failure === undefined) results.push(await applyOne(deps, binding, signal))
    else {
      const message = `${role}, which it binds and its template holds, is not made by its template`
      results.push(failed(binding.rendered, 'RoleNotOurs', message, made?.failure?.retriable ?? false))
    }
  }
  // What could not be made is wanted all the same: an object of that name is no leftover.
  const wanted = new Set([...objects.map((o) => identityOf(o.object)), ...skipped.map((s) => s.identity)])
  const leftovers = deps.index
    .oursIn(namespace.metadata.name ?? '')
    .filter((o) => concerns(o.template) && !wanted.has(identityOfPopulated(o)))
  const incomplete = new Set(skipped.flatMap((s) => (s.identity === undefined ? [s.template.metadata.name] : [])))
  for (const leftover of leftovers) {
    if (incomplete.has(leftover.template) || request.policyOf(leftover.template) === 'Keep') continue
    results.push(await pruneOne(deps, leftover, request))
  }
  return results
}

/** `there` is what the templates say, all of it and nothing else: a pass would change nothing. */
export function isPopulated(
  templates: readonly NamespaceTemplate[],
  namespace: Namespace,
  there: readonly PopulatedObject[],
): boolean {
  const { objects, skipped } = render(templates, namespace)
  if (skipped.length > 0 || objects.length !== there.length) return false
  const known = new Map(there.map((o) => [identityOfPopulated(o), o]))
  return objects.every(({ object, config }) => isHeld(known.get(identityOf(object)), object, config))
}

/** Applying it would change nothing. */
const isHeld = (known: PopulatedObject | undefined, object: KubeObject, config: string): boolean =>
  known !== undefined && (known.applied === config || (known.held !== undefined && known.held === configDigest(object)))

/**
 * A RoleBinding whose Role stands in the same template, with the title of that Role, where the Role is not known to be
 * ours. Its author was asked for the rules of that Role and of no other: one of the same name that somebody else made,
 * or another template, may grant anything. Where the gate is still shut nobody else has made one.
 */
function bindingIn(
  p: Placed,
  index: PopulatedIndex,
  namespace: Namespace,
  { placed, skipped }: { readonly placed: readonly Placed[]; readonly skipped: readonly Skipped[] },
): [Placed, string][] {
  const { template, object } = p.rendered
  if (p.kind.group !== rbacGroup || p.kind.resource !== 'rolebindings') return []
  const { kind, name } = (object['roleRef'] ?? {}) as { readonly kind?: unknown; readonly name?: unknown }
  if (kind !== 'Role' || typeof name !== 'string') return []
  const identity = `${rbacGroup}/Role/${name}`
  const title = `Role/${name}`
  if (skipped.some((s) => s.template === template && s.identity === identity)) return [[p, title]]
  const role = placed.find((r) => r.rendered.template === template && identityOf(r.rendered.object) === identity)
  if (role === undefined || isGateShut(namespace)) return []
  const known = index.find(role.kind, namespace.metadata.name ?? '', name)
  return known?.isOurs && known.template === template.metadata.name ? [] : [[p, title]]
}

/** Where it goes, or why that is not known. One API that is down must not keep the objects of others waiting. */
async function placeOf({ discovery }: Pick<Client, 'discovery'>, rendered: Rendered): Promise<Placed | ObjectResult> {
  try {
    const kind = await discovery.findKind(rendered.object.apiVersion ?? '', rendered.object.kind ?? '')
    const unusable = whyNot(kind, rendered)
    if (kind !== undefined && unusable === undefined) return { rendered, kind }
    return failed(rendered, 'UnknownKind', unusable ?? '', true)
  } catch (error) {
    const status = findStatusError(error)
    if (status === undefined) throw error
    return failed(rendered, 'UnknownKind', status.message, true)
  }
}

function whyNot(kind: ServedKind | undefined, { object }: Rendered): string | undefined {
  if (kind === undefined) return `no kind ${object.kind} in ${object.apiVersion} is served`
  if (!kind.namespaced) return `${object.kind} does not live in namespaces`
  return undefined
}

function failed({ template, object }: Rendered, reason: string, message: string, retriable: boolean): ObjectResult {
  return { template: template.metadata.name ?? '', object: titleOf(object), failure: { reason, message, retriable } }
}

async function applyOne(
  { client, index }: PopulateDeps,
  { rendered, kind }: Placed,
  signal: AbortSignal,
): Promise<ObjectResult> {
  const { template, object, config } = rendered
  const { namespace = '', name = '' } = object.metadata
  const done = (outcome: Outcome): ObjectResult => ({
    template: template.metadata.name ?? '',
    object: titleOf(object),
    outcome,
  })
  const known = index.find(kind, namespace, name)
  if (known !== undefined && isHeld(known, object, config)) {
    if (known.applied !== config) index.upToDate(known, config)
    return done('unchanged')
  }
  const written = index.writing(kind, namespace, name)
  let answer: Parameters<typeof written>[0]
  try {
    // What is ours is on our watch; what is not, must not be there.
    const mustBeAbsent = known?.isOurs !== true && template.spec?.adopt !== true
    const applied = await applyWithDrift(client, kind, rendered, mustBeAbsent, signal)
    if ('failure' in applied) return failed(rendered, applied.failure, applied.message, false)
    answer = { object: applied.object, config }
    return done(known?.revision === applied.object.metadata.resourceVersion ? 'unchanged' : 'configured')
  } catch (error) {
    const status = findStatusError(error)
    if (status === undefined) throw error
    return failed(rendered, reasonOf(status), status.message, true)
  } finally {
    written(answer)
  }
}

/** What an apply says of a field that the schema lacks, or that has another type, comes without a reason. */
const reasonOf = ({ reason, message }: StatusError): string =>
  reason ?? (message.startsWith('failed to create typed patch object') ? 'Invalid' : 'Error')

interface Kept {
  /** `Drift`: the template only reports changes. `TakenOver`: another applier owns it now. */
  readonly failure: 'AlreadyExists' | 'Drift' | 'TakenOver'
  readonly message: string
}

/**
 * Fields that an Update changed are forced back (unless the template only reports drift); fields that another applier
 * owns are left as they are.
 */
async function applyWithDrift(
  client: PopulateDeps['client'],
  kind: ServedKind,
  { template, object }: Pick<Rendered, 'template' | 'object'>,
  mustBeAbsent: boolean,
  signal: AbortSignal,
): Promise<{ readonly object: KubeObject } | Kept> {
  const options = { fieldManager: templateFieldManager, signal }
  try {
    return { object: await client.apply(kind, object, { ...options, mustBeAbsent }) }
  } catch (error) {
    if (mustBeAbsent && isAlreadyExists(error)) {
      const { namespace = '', name = '' } = object.metadata
      const there = await findObject(client, kind, { namespace, name }, { signal })
      // Ours, and the watch has not told yet; or it has gone meanwhile.
      if (there === undefined || isOurs(there)) {
        return applyWithDrift(client, kind, { template, object }, there === undefined, signal)
      }
      const message = 'it was there before and no template created it; spec.adopt: true would take it over'
      return { failure: 'AlreadyExists', message }
    }
    const status = findStatusError(error)
    if (!isConflict(error) || status === undefined) throw error
    const causes = (status.details?.causes ?? []).filter((c) => c.reason === 'FieldManagerConflict')
    if (causes.length === 0) throw error
    // Upstream words an Update manager as `"curl" using v1`, an applier as `"name"` alone.
    if (causes.some((c) => !/" using /.test(c.message ?? ''))) return { failure: 'TakenOver', message: status.message }
    if (template.spec?.driftPolicy === 'Report') return { failure: 'Drift', message: status.message }
    return { object: await client.apply(kind, object, { ...options, force: true }) }
  }
}

async function pruneOne(
  { client, index }: PopulateDeps,
  leftover: PopulatedObject,
  { policyOf, signal }: PopulateRequest,
): Promise<ObjectResult> {
  const { resource, namespace, name, template, kind, uid } = leftover
  const result = { template, object: `${kind}/${name}` }
  try {
    if (policyOf(template) === 'Orphan') {
      await letGoOf(client, leftover, signal)
      index.forgot(leftover)
      return { ...result, outcome: 'orphaned' }
    }
    const found = await findObject(client, resource, { namespace, name }, { signal })
    if (found === undefined || found.metadata.uid !== uid) {
      index.forgot(leftover)
      return { ...result, outcome: 'pruned' }
    }
    // Something else holds it; the watch tells when it has gone.
    if (found.metadata.deletionTimestamp !== undefined) return { ...result, outcome: 'pruned' }
    if (!isOurs(found)) {
      index.forgot(leftover)
      return { ...result, outcome: 'orphaned' }
    }
    const other = otherApplier(found)
    if (other !== undefined) {
      await letGoOf(client, leftover, signal)
      index.forgot(leftover)
      const message = `it is not deleted, only its label is taken off: ${JSON.stringify(other)} applies it too`
      return { ...result, outcome: 'orphaned', remark: { reason: 'TakenOver', message } }
    }
    await client.delete(
      resource,
      { namespace, name },
      { preconditions: { uid }, propagationPolicy: 'Background', signal },
    )
    return { ...result, outcome: 'pruned' }
  } catch (error) {
    if (isNotFound(error)) {
      index.forgot(leftover)
      return { ...result, outcome: 'pruned' }
    }
    const status = findStatusError(error)
    if (status === undefined) throw error
    return { ...result, failure: { reason: reasonOf(status), message: status.message, retriable: true } }
  }
}

async function letGoOf(
  client: PopulateDeps['client'],
  { resource, namespace, name, uid }: PopulatedObject,
  signal: AbortSignal,
): Promise<void> {
  await client.patch(
    resource,
    { namespace, name },
    { metadata: { uid, labels: { [templateNameLabel]: null } } },
    { fieldManager: templateFieldManager, signal },
  )
}

/** Who else declares this object, and so would miss it. */
function otherApplier({ metadata }: KubeObject): string | undefined {
  return (metadata.managedFields ?? []).find(
    (m) => m.operation === 'Apply' && m.manager !== templateFieldManager && !m.subresource,
  )?.manager
}
