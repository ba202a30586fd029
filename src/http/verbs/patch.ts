/** PATCH in its four kinds: JSON, merge, strategic merge, and server-side apply. */
import { afterPause, andThen, type Eventual } from '../../base/eventual.ts'
import { runInSlices } from '../../base/resumable.ts'
import type { Slice } from '../../base/turns.ts'
import { cloneJson, cloningJson } from '../../kube/clone-json.ts'
import { type FieldError, fieldInvalid } from '../../kube/field-error.ts'
import { printGoValue, quote } from '../../kube/go-quote.ts'
import { apiVersionOf } from '../../kube/gvk.ts'
import { isJsonObject, member } from '../../kube/json-value.ts'
import { listIsNoObject } from '../../kube/patch/json-patch.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { repeatsText } from '../../kube/schema/decode.ts'
import { alreadyExists, badRequest, invalid, StatusError, unsupportedMediaType } from '../../kube/status-error.ts'
import type { JsonObject, KubeObject, Unvalidated } from '../../kube/types.ts'
import type { Apply } from '../../registry/field-ownership.ts'
import type { Transform, UpdateResult, WriteScope } from '../../registry/registry.ts'
import type { ApiRequest, RequestContext } from '../api.ts'
import type { Parsed } from '../decode-body.ts'
import { bodyMediaType, negotiate } from '../negotiate.ts'
import { isTrue } from '../request-info.ts'
import type { Target } from '../resolution.ts'
import { checkWriteOptions, type FieldValidation, fieldValidationOf } from './options.ts'
import { changeOf, jsonPatch, mergePatch, strategicMergePatch } from './patch-change.ts'
import { warn, writeScope } from './target.ts'
import { checkAddress, nameMissing } from './update.ts'
import type { VerbDeps, VerbHandler } from './verb.ts'

export const applyMediaType = 'application/apply-patch+yaml'

/** The 10,000 operations that upstream takes. What they make of an object is bounded as other bodies are. */
const maxJsonPatchValues = 50_000

export interface PatchDeps extends VerbDeps {
  readonly apply: Apply
}

export function patchVerb(deps: PatchDeps): VerbHandler {
  const { registry, renderer } = deps
  return async (request, context, target) => {
    const { type } = target
    const { query } = context.info
    const n = negotiate(request.headers, query, () => renderer.offer(type, ['table', 'partial']))
    const patch = await readPatch(deps, request, context, target)
    const scope = writeScope(request, context, target)
    const { stored, created } =
      patch.mediaType === applyMediaType
        ? await applyConfigurationTo(deps, patch.parsed, request, context, target, scope)
        : await registry.update(scope, patchTransform(deps, patch, context, target))
    const status = created ? 201 : 200
    if (request.sharing !== undefined && n.view === 'object') {
      return { status, headers: {}, body: nothing, shared: { object: stored.object } }
    }
    return renderer.object(stored, n, query, status, context.slice)
  }
}

const nothing = new Uint8Array(0)

export interface PatchRequest {
  readonly mediaType: string
  readonly parsed: Parsed
}

/** Which kind of patch it is, and what it says; its options are checked. @throws StatusError */
export async function readPatch(
  { decoder }: Pick<PatchDeps, 'decoder'>,
  request: ApiRequest,
  context: RequestContext,
  { type }: Target,
): Promise<PatchRequest> {
  const mediaType = bodyMediaType(request.headers)
  const accepted = type.custom
    ? [jsonPatch, mergePatch, applyMediaType]
    : [jsonPatch, mergePatch, strategicMergePatch, applyMediaType]
  if (!accepted.includes(mediaType)) throw unsupportedMediaType(accepted)
  const { query } = context.info
  const isApply = mediaType === applyMediaType
  checkWriteOptions('PatchOptions', query, isApply)
  const shared = request.sharing?.value
  if (shared !== undefined) return { mediaType, parsed: { value: shared, duplicates: [] } }
  const report = !isApply && fieldValidationOf(query) !== 'Ignore'
  const most = mediaType === jsonPatch ? { most: maxJsonPatchValues } : {}
  return { mediaType, parsed: await decoder.parsePatch(request, context, { isApply, report, ...most }) }
}

export function patchTransform(
  { decoder }: Pick<PatchDeps, 'decoder'>,
  { mediaType, parsed: { value, duplicates } }: PatchRequest,
  context: RequestContext,
  target: Target,
): Transform {
  const { type } = target
  const validation = fieldValidationOf(context.info.query)
  const change = changeOf(mediaType, value, type)
  const isStrategic = mediaType === strategicMergePatch
  const dialect = isStrategic ? 'map' : 'json'
  const settle = (changed: JsonObject, patched: JsonObject, slice: Slice | undefined): Eventual<Unvalidated> => {
    // Upstream works on the object for the one, on the text of the object for the others.
    const shown = (): string => (isStrategic ? printGoValue(value) : JSON.stringify(changed))
    checkIdentity(patched, shown, type, isStrategic)
    const settled = settlePatched(shown, () =>
      decoder.settle(patched, { duplicates }, context, type, validation, dialect, slice),
    )
    return andThen(settled, (object) => {
      checkAddress(object, target)
      return object
    })
  }
  return (current, slice) => {
    return andThen(change(current as unknown as JsonObject, slice), (changed) => {
      if (!isJsonObject(changed)) throw undecodable(() => JSON.stringify(changed), listIsNoObject)
      // A patched value shares parts with what it was made from, and defaults are filled in place.
      const copied = afterPause(slice, () => cloneInSlices(changed, slice))
      return andThen(copied, (patched) => afterPause(slice, () => settle(changed, patched, slice)))
    })
  }
}

const cloneInSlices = <T>(value: T, slice: Slice | undefined): Eventual<T> =>
  slice === undefined ? cloneJson(value) : runInSlices(cloningJson(value), slice)

/** What a patch made and no decoder takes is the patch's fault: 422, about a field `patch`. */
function settlePatched(shown: Shown, settle: () => Eventual<Unvalidated>): Eventual<Unvalidated> {
  try {
    return settle()
  } catch (error) {
    if (!(error instanceof StatusError) || error.reason !== 'BadRequest') throw error
    throw undecodable(shown, error.message.replace(/^.* cannot be handled as a [^:]*: /, ''))
  }
}

/** What is wrong, as the refusal shows it: most patches are right, and it may be long. */
type Shown = () => string

function undecodable(shown: Shown, problem: string): StatusError {
  return invalid({ group: '', kind: '' }, '', [
    {
      type: 'FieldValueInvalid',
      field: 'patch',
      body: `Invalid value: ${JSON.stringify(shown())}: ${problem}`,
    },
  ])
}

/**
 * Kind and version stay what they are. As upstream has it: a strategic merge patch can't touch those of a built-in
 * kind, what another patch takes away from one is filled in, and only a custom kind is told the field.
 */
function checkIdentity(patched: JsonObject, shown: Shown, type: ResourceType, isStrategic: boolean): void {
  const is = { kind: type.kind, apiVersion: apiVersionOf(type) }
  if (!type.custom) {
    if (isStrategic) Object.assign(patched, is)
    const { kind = is.kind, apiVersion = is.apiVersion } = patched
    if (kind === is.kind && apiVersion === is.apiVersion) Object.assign(patched, is)
    else throw undecodable(shown, `kind and apiVersion must stay ${is.kind} and ${is.apiVersion}`)
    return
  }
  const { kind, apiVersion, metadata } = patched
  if (typeof kind !== 'string') throw undecodable(shown, `Object 'Kind' is missing in '${shown()}'`)
  const errors: FieldError[] = []
  if (kind !== is.kind) errors.push(fieldInvalid('kind', kind, `must be ${is.kind}`))
  if (apiVersion !== is.apiVersion) {
    errors.push(fieldInvalid('apiVersion', apiVersion ?? '', `must be ${is.apiVersion}`))
  }
  const { name } = (metadata ?? {}) as KubeObject['metadata']
  if (errors.length > 0) throw invalid({ group: type.group, kind }, name ?? '', errors)
}

async function applyConfigurationTo(
  { registry, decoder, apply, requireCreate }: PatchDeps,
  parsed: Parsed,
  request: ApiRequest,
  context: RequestContext,
  target: Target,
  scope: WriteScope,
): Promise<UpdateResult> {
  const { type, name, subresource } = target
  const { query } = context.info
  const validation = fieldValidationOf(query)
  const { value } = parsed
  if (!isJsonObject(value)) throw badRequest('error decoding YAML: an apply patch must be an object')
  checkConfiguration(value, target)
  const force = isTrue(query.get('force'))
  // Ours: RFC 9110's way to say 'only if there is none'. Upstream ignores it.
  const mustBeAbsent = request.headers['if-none-match']?.trim() === '*'
  const applyTo = async (live: KubeObject | undefined, slice: Slice | undefined): Promise<Unvalidated> => {
    const applied = await apply({
      live,
      config: addressTo(value, target),
      type,
      subresource,
      manager: scope.fieldManager,
      force,
      slice,
    })
    reportRepeats(parsed, validation, context)
    await slice?.pause()
    const merged = (await cloneInSlices(applied, slice)) as unknown as JsonObject
    await slice?.pause()
    return decoder.settle(merged, { duplicates: [] }, context, type, validation, 'typed', slice)
  }
  const whenMissing = async (): Promise<Unvalidated> => {
    await requireCreate(context)
    const { metadata } = value
    if (!isJsonObject(metadata) || !metadata['name']) throw nameMissing(name)
    return applyTo(undefined, scope.caller.slice)
  }
  const change: Transform = (live, slice) => {
    if (mustBeAbsent) throw alreadyExists(type, name)
    return applyTo(live, slice)
  }
  return registry.update(scope, change, {
    ...(subresource === '' ? { whenMissing } : {}),
    ownsManagedFields: true,
  })
}

/** Keys that stand twice in what is applied. @throws StatusError BadRequest where that is forbidden */
function reportRepeats({ duplicates, repeats }: Parsed, validation: FieldValidation, context: RequestContext): void {
  const found = repeats ?? duplicates.map((path) => `key ${quote(lastKey(path))} already set in map`)
  if (found.length === 0 || validation === 'Ignore') return
  const text = `error converting YAML to JSON: ${repeatsText(found)}`
  if (validation === 'Strict') throw badRequest(`error strict decoding YAML: ${text}`)
  warn(context, text)
}

const lastKey = (path: string): string => path.slice(path.lastIndexOf('.') + 1)

/** With the name and the namespace of the URL. What has another type than these is left for the schema to refuse. */
function addressTo(config: JsonObject, { type, name, namespace }: Target): KubeObject {
  const given = config['metadata'] ?? {}
  if (!isJsonObject(given)) return config as unknown as KubeObject
  const metadata = { ...given }
  const isTextOrAbsent = (field: string): boolean => typeof (metadata[field] ?? '') === 'string'
  if (isTextOrAbsent('name')) metadata['name'] = name
  if (!type.namespaced) delete metadata['namespace']
  else if (isTextOrAbsent('namespace')) metadata['namespace'] = namespace
  return { ...config, metadata } as unknown as KubeObject
}

/** The types of fields are not settled yet: what should be a text and is none counts as absent, as upstream. */
const textIn = (value: JsonObject, field: string): string => {
  const found = member(value, field)
  return typeof found === 'string' ? found : ''
}

/** @throws StatusError BadRequest */
function checkConfiguration(config: JsonObject, { type, name, namespace }: Target): void {
  const apiVersion = textIn(config, 'apiVersion')
  const kind = textIn(config, 'kind')
  const metadata = isJsonObject(config['metadata']) ? config['metadata'] : {}
  const expected = apiVersionOf(type)
  if (!kind || !apiVersion) throw badRequest("Object 'Kind' or 'apiVersion' is missing in the apply patch")
  if (kind !== type.kind) throw badRequest(`invalid object type: /${apiVersion}, Kind=${kind}`)
  if (apiVersion !== expected) {
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${apiVersion}, expected: ${expected}`,
    )
  }
  if (metadata['managedFields'] !== undefined) throw badRequest('metadata.managedFields must be nil')
  const named = textIn(metadata, 'name')
  if (named !== '' && named !== name) {
    throw badRequest(`the name of the object (${named}) does not match the name on the URL (${name})`)
  }
  // A kind without namespaces forgets one that is named.
  const home = textIn(metadata, 'namespace')
  if (home !== '' && type.namespaced && home !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
}
