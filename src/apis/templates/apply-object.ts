/**
 * Applies one object of a template to its place, by what the template says of drift:
 *
 *   Correct   the template's fields are put back, whichever client changed them and however
 *   Strict    so is everything else in the object but metadata and status: it is replaced by what the template says,
 *             as the server defaults it
 *   Report    nothing of an object that is there is changed, unless the template is
 *
 * Fields of the managers in `yieldTo` are theirs. Whether an object holds more than its template says is asked of the
 * server, by a replacement that is a dry run: only the server knows its defaults.
 */
import type { Client, ServedKind } from '../../client/client.ts'
import { findObject } from '../../client/find-object.ts'
import {
  findStatusError,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  type StatusError,
} from '../../kube/status-error.ts'
import type { JsonValue, KubeObject, StatusCause } from '../../kube/types.ts'
import { differences } from './differences.ts'
import { isMarked } from './marks.ts'
import { fieldsOf, withFields, withoutFields } from './owned-fields.ts'
import type { Rendered } from './render.ts'
import type { DriftMode } from './template-objects.ts'
import { templateFieldManager } from './types.ts'

export interface ApplyRequest {
  readonly client: Pick<Client, 'get' | 'apply' | 'update'>
  readonly kind: ServedKind
  readonly rendered: Rendered
  readonly signal: AbortSignal
  /** The record names it: it is ours, whichever client made what is there now. */
  readonly isOurs: boolean
  /** The template says what it said when it was applied last: what differs is drift. */
  readonly isRepeated: boolean
  /** It says what the last apply left there, or nothing is there. */
  readonly isUntouched: boolean
}

/** Left as it is. */
export interface Kept {
  /** `Drift`: the template only reports changes. `TakenOver`: another applier owns it. */
  readonly failure: 'AlreadyExists' | 'Drift' | 'TakenOver'
  readonly message: string
}

export interface Applied {
  readonly object: KubeObject
  /** By whom the fields had been changed that were put back, as far as managedFields tell. */
  readonly conflict?: string
  /** Fields that it holds and the template does not. */
  readonly extra: readonly string[]
  /** It was applied, and then a request was refused that looks for such fields or takes them out. */
  readonly refused?: StatusError
}

export const driftOf = ({ held, template }: Rendered): DriftMode =>
  held.drift ?? template.spec?.driftPolicy ?? 'Correct'

/** Another client may write between an apply and the replacement that stands on it. */
const tries = 3

/** @throws StatusError */
export async function applyObject(request: ApplyRequest): Promise<Applied | Kept> {
  const mode = driftOf(request.rendered)
  if (mode === 'Report' && request.isOurs && request.isRepeated) {
    const reported = await reportDrift(request)
    if (reported !== undefined) return reported
  }
  const mayBeThere = request.isOurs || request.rendered.template.spec?.adopt === true
  for (let left = tries; ; left--) {
    const applied = await applyWithDrift(request, mode, !mayBeThere)
    if ('failure' in applied || !mayBeThere || request.isUntouched) return applied
    try {
      const extra = await findExtra(request, applied.object)
      if (mode !== 'Strict' || extra.length === 0) return { ...applied, extra }
      return { ...applied, object: await replace(request, applied.object, false), extra: [] }
    } catch (error) {
      if (isConflict(error) && left > 1) continue
      const refused = findStatusError(error)
      if (refused === undefined) throw error
      return { ...applied, refused }
    }
  }
}

/** What an apply would change of the object that is there; undefined = it is not there. */
async function reportDrift(request: ApplyRequest): Promise<Applied | Kept | undefined> {
  const { client, kind, rendered, signal } = request
  const { namespace, name } = rendered.object.metadata
  const live = await findObject(client, kind, { namespace, name }, { signal })
  if (live === undefined) return undefined
  const options = { fieldManager: templateFieldManager, force: true, dryRun: true, signal }
  const changed = differences(live, await client.apply(kind, rendered.object, options)).map(({ path }) => path)
  if (changed.length === 0) return { object: live, extra: await findExtra(request, live) }
  const managers = await managersInTheWay(request)
  const by = managers.length === 0 ? '' : `, changed by ${managers.join(', ')}`
  return { failure: 'Drift', message: `it differs from the template in ${listed(changed)}${by}` }
}

/** Who an apply without force would conflict with, quoted: none where no manager is recorded. */
async function managersInTheWay({ client, kind, rendered, signal }: ApplyRequest): Promise<readonly string[]> {
  try {
    await client.apply(kind, rendered.object, { fieldManager: templateFieldManager, dryRun: true, signal })
    return []
  } catch (error) {
    const status = findStatusError(error)
    if (!isConflict(error) || status === undefined) throw error
    return managersIn(status.details?.causes ?? [])
  }
}

async function applyWithDrift(request: ApplyRequest, mode: DriftMode, mustBeAbsent: boolean): Promise<Applied | Kept> {
  const { client, kind, rendered, signal } = request
  const { template, object } = rendered
  const { namespace, name } = object.metadata
  const options = { fieldManager: templateFieldManager, signal }
  try {
    return { object: await client.apply(kind, object, { ...options, mustBeAbsent }), extra: [] }
  } catch (error) {
    if (mustBeAbsent && isAlreadyExists(error)) {
      const there = await findObject(client, kind, { namespace, name }, { signal })
      // It has gone meanwhile; or it was restored from a backup, or applied by a process that could not record it.
      if (there === undefined || isMarked(there, template.metadata.name)) {
        return applyWithDrift(request, mode, there === undefined)
      }
      const message = 'it was there before and no template created it; spec.adopt: true would take it over'
      return { failure: 'AlreadyExists', message }
    }
    const status = findStatusError(error)
    if (!isConflict(error) || status === undefined) throw error
    const causes = (status.details?.causes ?? []).filter((c) => c.reason === 'FieldManagerConflict')
    if (causes.length === 0) throw error
    // Upstream words an Update manager as `"curl" using v1`, an applier as `"name"` alone.
    const isByApply = causes.some((c) => !/" using /.test(c.message ?? ''))
    if (isByApply && (mode === 'Report' || !request.isOurs)) return { failure: 'TakenOver', message: status.message }
    if (mode === 'Report') return { failure: 'Drift', message: status.message }
    const config = await withoutYielded(request)
    return { object: await client.apply(kind, config, { ...options, force: true }), conflict: told(causes), extra: [] }
  }
}

/** What is to be applied, but for the fields that the template yields to other managers. */
async function withoutYielded({ client, kind, rendered, signal }: ApplyRequest): Promise<KubeObject> {
  const { held, object } = rendered
  const { namespace, name } = object.metadata
  if (held.yieldTo === undefined) return object
  const live = await findObject(client, kind, { namespace, name }, { signal })
  const { apiVersion, kind: kindName, metadata, ...content } = object
  let left: JsonValue = content as JsonValue
  for (const fields of live === undefined ? [] : fieldsOf(live, held.yieldTo)) left = withoutFields(left, fields) ?? {}
  return { apiVersion, kind: kindName, metadata, ...(left as object) }
}

/** Fields of an object that would be gone or different if it were what the template says. */
async function findExtra(request: ApplyRequest, there: KubeObject): Promise<string[]> {
  try {
    const whole = await replace(request, there, true)
    return differences(there, whole)
      .map(({ path }) => path)
      .filter((path) => !/^metadata\b/.test(path))
  } catch (error) {
    // Some kinds can't be replaced (claims, Jobs, what is immutable), and an older role lacks the right to. What the
    // template says is there then, and whether there is more is not known.
    if (driftOf(request.rendered) !== 'Strict' && (isInvalid(error) || isForbidden(error))) return []
    throw error
  }
}

/** Puts what the template says in the place of all that is there, metadata and status excepted. */
function replace(
  { client, kind, rendered, signal }: ApplyRequest,
  there: KubeObject,
  dryRun: boolean,
): Promise<KubeObject> {
  const { apiVersion, kind: kindName, metadata: _, ...content } = rendered.object
  const { metadata, status } = there
  let whole: JsonValue = content as JsonValue
  for (const fields of fieldsOf(there, rendered.held.yieldTo ?? [])) {
    const { 'f:metadata': _m, 'f:status': _s, ...of } = fields
    if (Object.keys(of).length > 0) whole = withFields(whole, there as unknown as JsonValue, of)
  }
  const object = {
    apiVersion,
    kind: kindName,
    metadata,
    ...(whole as object),
    ...(status === undefined ? {} : { status }),
  }
  return client.update(kind, object as KubeObject, { fieldManager: templateFieldManager, dryRun, signal })
}

/** Fields and managers that a message names. */
const named = 5

const listed = (paths: readonly string[]): string =>
  `${paths.slice(0, named).join(', ')}${paths.length > named ? `, and ${paths.length - named} more` : ''}`

function told(causes: readonly StatusCause[]): string {
  const fields = causes.flatMap(({ field = '' }) => (field === '' ? [] : [field.replace(/^\./, '')]))
  return `changes by ${managersIn(causes).join(', ')} were put back: ${listed(fields)}`
}

/** Quoted, as conflicts name them. */
function managersIn(causes: readonly StatusCause[]): readonly string[] {
  const managers = causes.flatMap(({ message = '' }) => /conflict with ("(?:[^"\\]|\\.)*")/.exec(message)?.[1] ?? [])
  return [...new Set(managers)].slice(0, named)
}

export const extraMessage = (extra: readonly string[]): string =>
  `it holds what the template does not: ${listed(extra)}; drift: Strict takes it out`
