/**
 * Objects of a template tried on the cluster before the template is accepted: each is applied as a dry run, the way
 * population will do it, in a namespace that every cluster has, with the tokens standing for plain names. So what the
 * API server says to an object of its own kinds, or of custom ones, is told to the author and not to every namespace.
 *
 * Only what would be said everywhere counts as wrong: fields that are unknown or have the wrong type, and what
 * validation refuses. What admission, quotas or rights say is of that one namespace and is known at population.
 */
import type { Clock } from '../../base/clock.ts'
import type { Client, ServedKind } from '../../client/client.ts'
import type { FieldError, FieldErrorType } from '../../kube/field-error.ts'
import { nameOf } from '../../kube/metadata.ts'
import { findStatusError, isNotFound, type StatusError } from '../../kube/status-error.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import type { FoundInObject } from './check-template.ts'
import { notedErrors, samplesFor, untriedFor } from './parameter-rules.ts'
import { templateValues } from './render.ts'
import { noveltyOf, objectsOf } from './template-objects.ts'
import { type NamespaceTemplate, type TemplateParameter, templateFieldManager } from './types.ts'

export interface DryRunObjectsDeps {
  readonly client: Client
  readonly clock: Clock
}

/** In every cluster, and it can't be deleted. */
const dryRunNamespace = 'default'
/** API servers give the whole answer ten seconds. */
export const dryRunObjectsMs = 4000
/** Dry runs under way at once. */
const width = 8

/** Of the objects that `template` brings or changes. Fields count from the template. */
export async function dryRunObjects(
  { client, clock }: DryRunObjectsDeps,
  template: NamespaceTemplate,
  old: NamespaceTemplate | undefined,
  signal: AbortSignal,
): Promise<FoundInObject> {
  const parameters = template.spec?.parameters ?? []
  const isNew = noveltyOf(template, old)
  // The content of a clone is its source's.
  const tried = objectsOf(template).filter((object) => object.cloneFrom === undefined && isNew(object))
  const queue = [...tried.entries()]
  const late = new AbortController()
  const timer = clock.after(dryRunObjectsMs, () => late.abort())
  const bounded = AbortSignal.any([signal, late.signal])
  const found: { at: number; field: string; errors: readonly FieldError[]; warning?: string }[] = []
  let untried = 0
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [at, { field, source }] = next
      try {
        bounded.throwIfAborted()
        found.push({ at, field, ...(await dryRunSamples(client, source, parameters, bounded)) })
      } catch (error) {
        signal.throwIfAborted()
        if (late.signal.aborted) untried++
        else found.push({ at, field, errors: [], warning: `it could not be tried beforehand: ${messageOf(error)}` })
      }
    }
  }
  try {
    await Promise.all(Array.from({ length: width }, work))
  } finally {
    timer.cancel()
  }
  found.sort((a, b) => a.at - b.at)
  const warnings = found.flatMap((f) => (f.warning === undefined ? [] : [`${f.field}: ${f.warning}`]))
  if (untried > 0) warnings.push(`${untried} objects were not tried beforehand: there was no time`)
  const errors = found.flatMap(({ field, errors: own }) =>
    own.map((e) => ({ ...e, field: e.field === '' ? field : `${field}.${e.field}` })),
  )
  return { errors, warnings }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

async function dryRunSamples(
  client: Client,
  source: JsonObject,
  parameters: readonly TemplateParameter[],
  signal: AbortSignal,
): Promise<{ errors: readonly FieldError[]; warning?: string }> {
  const { samples, unknown } = samplesFor(source, parameters)
  if (unknown.length > 0) return { errors: [], warning: untriedFor(unknown) }
  for (const sample of samples) {
    const value = templateValues(source, dryRunNamespace, 'creator', sample) as KubeObject
    const { errors } = await dryRunObject(client, value, signal)
    if (errors.length > 0) return { errors: notedErrors(errors, sample) }
  }
  return { errors: [] }
}

async function dryRunObject(
  client: Client,
  value: KubeObject,
  signal: AbortSignal,
): Promise<{ errors: readonly FieldError[] }> {
  // What is wrong with these is told already, and a kind that is not served too.
  if (!value.apiVersion || !value.kind || !value.metadata?.name) return { errors: [] }
  const kind = await client.discovery.findKind(value.apiVersion, value.kind)
  if (!kind?.namespaced) return { errors: [] }
  const object = { ...value, metadata: { ...value.metadata, namespace: dryRunNamespace } }
  try {
    await client.apply(kind, object, { fieldManager: templateFieldManager, force: true, dryRun: true, signal })
    return { errors: [] }
  } catch (error) {
    const status = findStatusError(error)
    if (status === undefined) throw error
    const errors = errorsIn(status)
    if (errors === undefined) throw error
    // One of the same name is there, and some fields can't be changed: that says nothing of other namespaces.
    const depends = status.reason === 'Invalid' && errors.length > 0 && (await isThere(client, kind, object, signal))
    return { errors: depends ? [] : errors }
  }
}

/**
 * A value that its type takes and its decoder does not, as an amount of `many`, is told after the merge, as a 500 (seen
 * on kube-apiserver 1.36.2).
 */
const undecodable =
  /^failed to create typed patch object|^failed to convert new object |strict decoding error|cannot be handled as a /

/** Empty = a refusal that another namespace need not share; undefined = no refusal at all. */
function errorsIn(status: StatusError): readonly FieldError[] | undefined {
  const { message, details } = status
  // Before any validation, by the decoder of the body; without a reason in most versions.
  if (undecodable.test(message)) {
    return [{ type: 'FieldValueInvalid', field: '', body: message }]
  }
  if (status.code === 415) {
    const body = `its API server can't apply objects (server-side apply): ${message}`
    return [{ type: 'FieldValueForbidden', field: '', body }]
  }
  if (status.reason === 'Invalid') {
    return (details?.causes ?? []).flatMap(({ reason, field, message: body = '' }) =>
      // Policies refuse with this reason too, and name no field.
      field === undefined || field === ''
        ? []
        : [{ type: (reason ?? 'FieldValueInvalid') as FieldErrorType, field, body }],
    )
  }
  // Webhooks may answer with any code. A server that is busy or broken has refused nothing.
  return status.code >= 500 || status.code === 429 ? undefined : []
}

async function isThere(
  client: Client,
  kind: ServedKind,
  { metadata }: KubeObject,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await client.get(kind, { namespace: dryRunNamespace, name: nameOf(metadata) }, { signal })
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}
