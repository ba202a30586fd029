/**
 * Brings one namespace to what its templates say: applies what they hold, prunes what they held. Reads and writes
 * through `Client` alone, so it runs against any cluster.
 */
import type { Client, ServedKind } from '../../client/client.ts'
import type { GroupVersionResource } from '../../kube/gvk.ts'
import { findStatusError, isConflict, isNotFound, type StatusError } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import type { PopulatedIndex, PopulatedObject } from './populated-index.ts'
import { type Rendered, render, titleOf } from './render.ts'
import { type NamespaceTemplate, templateFieldManager, templateNameLabel } from './types.ts'

export type Outcome = 'created' | 'configured' | 'unchanged' | 'pruned' | 'orphaned'

export interface ObjectResult {
  readonly template: string
  /** `RoleBinding/admin` */
  readonly object: string
  readonly outcome?: Outcome
  readonly failure?: { readonly reason: string; readonly message: string; readonly retriable: boolean }
}

export interface PopulateDeps {
  readonly client: Client
  readonly index: PopulatedIndex
}

export interface PopulateRequest {
  readonly namespace: Namespace
  /** In the order in which they apply. */
  readonly templates: readonly NamespaceTemplate[]
  /** What becomes of objects that their template no longer holds here. `Keep`: the template is switched off. */
  readonly policyOf: (template: string) => 'Delete' | 'Orphan' | 'Keep'
  readonly signal: AbortSignal
}

export async function populate(deps: PopulateDeps, request: PopulateRequest): Promise<readonly ObjectResult[]> {
  const { namespace, templates, signal } = request
  const { objects, skipped } = render(templates, namespace)
  const results: ObjectResult[] = skipped.map(({ template, object, reason, message }) => ({
    template: template.metadata.name ?? '',
    object,
    failure: { reason, message, retriable: false },
  }))
  const wanted = new Set<string>()
  for (const rendered of objects) {
    const kind = await deps.client.discovery.findKind(rendered.object.apiVersion ?? '', rendered.object.kind ?? '')
    const unusable = whyNot(kind, rendered)
    if (kind === undefined || unusable !== undefined) {
      results.push(failed(rendered, 'UnknownKind', unusable ?? '', true))
      continue
    }
    wanted.add(identity(kind, rendered.object.metadata.name ?? ''))
    results.push(await applyOne(deps, kind, rendered, signal))
  }
  const name = namespace.metadata.name ?? ''
  const leftovers = deps.index.inNamespace(name).filter((o) => !wanted.has(identity(o.resource, o.name)))
  // A template that failed to render may hold what looks like a leftover.
  const incomplete = new Set(skipped.map((s) => s.template.metadata.name))
  for (const leftover of leftovers) {
    if (incomplete.has(leftover.template) || request.policyOf(leftover.template) === 'Keep') continue
    results.push(await pruneOne(deps, leftover, request))
  }
  return results
}

const identity = (r: GroupVersionResource, name: string): string => `${r.group}/${r.resource}/${name}`

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
  kind: ServedKind,
  rendered: Rendered,
  signal: AbortSignal,
): Promise<ObjectResult> {
  const { template, object } = rendered
  const { namespace = '', name = '' } = object.metadata
  const done = (outcome: Outcome): ObjectResult => ({
    template: template.metadata.name ?? '',
    object: titleOf(object),
    outcome,
  })
  try {
    const ours = index.find(kind, namespace, name)
    const before = ours ?? (await findForeign(client, kind, namespace, name, signal))
    if (ours === undefined && before !== undefined && !isOurs(before as KubeObject) && template.spec?.adopt !== true) {
      return failed(
        rendered,
        'AlreadyExists',
        'it was there before and this template did not create it; spec.adopt: true would take it over',
        false,
      )
    }
    const applied = await applyWithDrift(client, kind, rendered, signal)
    if (applied instanceof Error) {
      return failed(rendered, 'Conflict', applied.message, false)
    }
    index.applied(kind, applied)
    if (before === undefined) return done('created')
    const version = 'revision' in before ? before.revision : (before as KubeObject).metadata.resourceVersion
    return done(version === applied.metadata.resourceVersion ? 'unchanged' : 'configured')
  } catch (error) {
    const status = findStatusError(error)
    if (status === undefined) throw error
    return failed(rendered, status.reason ?? 'Error', status.message, true)
  }
}

async function findForeign(
  client: Client,
  kind: ServedKind,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  try {
    return await client.get(kind, { namespace, name }, { signal })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Carries our label and an Apply entry of ours: the index just does not know it yet. */
export function isOurs({ metadata }: KubeObject): boolean {
  return (
    metadata.labels?.[templateNameLabel] !== undefined &&
    (metadata.managedFields ?? []).some((m) => m.manager === templateFieldManager && m.operation === 'Apply')
  )
}

/**
 * Fields that an Update changed are forced back (unless the template only reports drift); fields that another applier
 * owns are left, and the conflict is answered as an error.
 */
async function applyWithDrift(
  client: Client,
  kind: ServedKind,
  { template, object }: Rendered,
  signal: AbortSignal,
): Promise<KubeObject | StatusError> {
  const options = { fieldManager: templateFieldManager, signal }
  try {
    return await client.apply(kind, object, options)
  } catch (error) {
    const status = findStatusError(error)
    if (!isConflict(error) || status === undefined) throw error
    const causes = (status.details?.causes ?? []).filter((c) => c.reason === 'FieldManagerConflict')
    // Upstream words an Update manager as `"curl" using v1`, an applier as `"name"` alone.
    const byAppliers = causes.filter((c) => !/" using /.test(c.message ?? ''))
    const force = causes.length > 0 && byAppliers.length === 0 && template.spec?.driftPolicy !== 'Report'
    return force ? client.apply(kind, object, { ...options, force: true }) : status
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
      await client.patch(
        resource,
        { namespace, name },
        { metadata: { labels: { [templateNameLabel]: null } } },
        { signal },
      )
      index.forgot(leftover)
      return { ...result, outcome: 'orphaned' }
    }
    const found = await findForeign(client, { ...resource, kind, namespaced: true, verbs: [] }, namespace, name, signal)
    if (found === undefined || found.metadata.uid !== uid) {
      index.forgot(leftover)
      return { ...result, outcome: 'pruned' }
    }
    if (!isOurs(found)) {
      const message = `it carries the label ${templateNameLabel} but was not applied by a template`
      return { ...result, failure: { reason: 'NotOurs', message, retriable: false } }
    }
    await client.delete(
      resource,
      { namespace, name },
      { preconditions: { uid }, propagationPolicy: 'Background', signal },
    )
    index.forgot(leftover)
    return { ...result, outcome: 'pruned' }
  } catch (error) {
    if (isNotFound(error)) {
      index.forgot(leftover)
      return { ...result, outcome: 'pruned' }
    }
    const status = findStatusError(error)
    if (status === undefined) throw error
    return { ...result, failure: { reason: status.reason ?? 'Error', message: status.message, retriable: true } }
  }
}
