/**
 * The question and the answer: AdmissionReview of admission.k8s.io, v1 or v1beta1. Pure.
 * @see k8s.io/apiserver/pkg/admission/plugin/webhook/request/admissionreview.go v0.36
 */
import type { Attributes } from '../../admission/admission.ts'
import { andThen, type Eventual, isPending } from '../../base/eventual.ts'
import { runInSlices } from '../../base/resumable.ts'
import type { Slice } from '../../base/turns.ts'
import { quote } from '../../kube/go-quote.ts'
import { apiVersionOf, type GroupVersionKind, type GroupVersionResource } from '../../kube/gvk.ts'
import { isJsonObject } from '../../kube/json-value.ts'
import { StatusError, type StatusReason } from '../../kube/status-error.ts'
import { JsonSyntaxError, parsingJson } from '../../kube/strict-json.ts'
import type { KubeObject } from '../../kube/types.ts'
import { TooManyValuesError } from '../../kube/value-count.ts'
import type { SeenAs } from './hook-index.ts'

export const reviewGroup = 'admission.k8s.io'
const reviewKind = 'AdmissionReview'
const knownVersions: readonly string[] = ['v1', 'v1beta1']

/** The objects as the webhook wants to see them. */
export interface Shown {
  readonly object: KubeObject | undefined
  readonly oldObject: KubeObject | undefined
}

/** Of an answer that makes sense. */
export interface Verdict {
  readonly allowed: boolean
  /** metav1.Status of a refusal, as given. */
  readonly result: Readonly<Record<string, unknown>>
  readonly patch: unknown
  readonly warnings: readonly string[]
  readonly auditAnnotations: Readonly<Record<string, string>>
}

/** An answer that makes none. */
export class ReviewFault extends Error {
  override readonly name = 'ReviewFault'
}

/** The first version the webhook names that is known here. @throws ReviewFault */
export function reviewVersion(versions: readonly string[]): string {
  const version = versions.find((v) => knownVersions.includes(v))
  if (version === undefined)
    throw new ReviewFault('webhook does not accept known AdmissionReview versions (v1, v1beta1)')
  return version
}

const kindOf = ({ group, version, kind }: GroupVersionKind): object => ({ group, version, kind })
const resourceOf = ({ group, version, resource }: GroupVersionResource): object => ({ group, version, resource })

/** `request` of the review. */
export function admissionRequest(
  uid: string,
  a: Attributes,
  invocation: SeenAs,
  shown: Shown,
): Record<string, unknown> {
  const { type, subresource, user } = a
  const requestKind = subresource === '' ? type : (type.subresources.get(subresource)?.kind ?? type)
  const part = subresource === '' ? {} : { subResource: subresource }
  return {
    uid,
    kind: kindOf(invocation.kind),
    resource: resourceOf(invocation.type),
    ...part,
    requestKind: kindOf(requestKind),
    requestResource: resourceOf(type),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    // As upstream: of a collection's objects only `oldObject` tells the name.
    ...(a.name === '' || a.ofCollection === true ? {} : { name: a.name }),
    ...(a.namespace === '' ? {} : { namespace: a.namespace }),
    operation: a.operation,
    userInfo: {
      username: user.username,
      ...(user.uid ? { uid: user.uid } : {}),
      ...(user.groups.length === 0 ? {} : { groups: user.groups }),
      ...(user.extra && Object.keys(user.extra).length > 0 ? { extra: user.extra } : {}),
    },
    object: shown.object ?? null,
    oldObject: shown.oldObject ?? null,
    dryRun: a.dryRun,
    options: a.operation === 'CONNECT' ? null : a.options,
  }
}

export const reviewText = (version: string, request: object): string =>
  JSON.stringify({ kind: reviewKind, apiVersion: `${reviewGroup}/${version}`, request })

/** A long answer is read in slices. @throws ReviewFault, PatchUnreadable */
export function readReview(
  review: unknown,
  version: string,
  uid: string,
  mutating: boolean,
  slice: Slice | undefined,
): Eventual<Verdict> {
  const { kind, apiVersion, response } = (isJsonObject(review) ? review : {}) as Record<string, unknown>
  if (!isJsonObject(response)) throw new ReviewFault('webhook response was absent')
  const { patch, patchType } = response
  // v1beta1 asked for less.
  if (version === 'v1') {
    if (response['uid'] !== uid) {
      throw new ReviewFault(`expected response.uid=${quote(uid)}, got ${quote(textOf(response['uid']))}`)
    }
    if (kind !== reviewKind || apiVersion !== `${reviewGroup}/v1`) {
      const [group = '', v = ''] = textOf(apiVersion).includes('/') ? textOf(apiVersion).split('/') : ['', apiVersion]
      throw new ReviewFault(
        `expected webhook response of ${reviewGroup}/v1, Kind=${reviewKind}, got ${group}/${textOf(v)}, ` +
          `Kind=${textOf(kind)}`,
      )
    }
    checkPatchFields(patch, patchType, mutating)
  }
  const allowed = response['allowed'] === true
  const isPatched = mutating && allowed && textOf(patch) !== ''
  const decoded = isPatched ? decodedPatch(textOf(patch), version, patchType, slice) : undefined
  return andThen(decoded, (value) => ({
    allowed,
    result: isJsonObject(response['status']) ? response['status'] : {},
    patch: value,
    warnings: Array.isArray(response['warnings']) ? response['warnings'].filter((w) => typeof w === 'string') : [],
    auditAnnotations: textsOf(response['auditAnnotations']),
  }))
}

function checkPatchFields(patch: unknown, patchType: unknown, mutating: boolean): void {
  const isPatched = textOf(patch) !== ''
  const isTyped = patchType !== undefined && patchType !== null
  if (!mutating) {
    if (isPatched) throw new ReviewFault('validating webhook may not return response.patch')
    if (isTyped) throw new ReviewFault('validating webhook may not return response.patchType')
    return
  }
  if (isPatched && !isTyped) throw new ReviewFault('webhook returned response.patch but not response.patchType')
  if (!isPatched && isTyped) throw new ReviewFault('webhook returned response.patchType but not response.patch')
  if (isTyped && patchType === '') throw new ReviewFault('webhook returned invalid response.patchType of ""')
}

/** A patch that can't be read at all. Told in other words than an answer that makes no sense. */
export class PatchUnreadable extends Error {
  override readonly name = 'PatchUnreadable'
}

/** Ten thousand operations (`maxOperations`), and the largest object that can be stored. */
const maxPatchValues = 100_000

function decodedPatch(patch: string, version: string, patchType: unknown, slice: Slice | undefined): Eventual<unknown> {
  if (version === 'v1' && patchType !== 'JSONPatch') {
    throw new PatchUnreadable(`unsupported patch type ${quote(textOf(patchType))}`)
  }
  const refused = (error: unknown): unknown => {
    if (!(error instanceof JsonSyntaxError || error instanceof TooManyValuesError)) return error
    const why = error instanceof JsonSyntaxError ? error.message : `it has more than ${maxPatchValues} values`
    return new PatchUnreadable(`received undecodable patch in webhook response: ${why}`, { cause: error })
  }
  const text = Buffer.from(patch, 'base64').toString('utf8')
  try {
    const parsing = runInSlices(parsingJson(text, { maxValues: maxPatchValues }), slice)
    return isPending(parsing)
      ? parsing.then(
          ({ value }) => value,
          (error: unknown) => {
            throw refused(error)
          },
        )
      : parsing.value
  } catch (error) {
    throw refused(error)
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function textsOf(value: unknown): Record<string, string> {
  if (!isJsonObject(value)) return {}
  return Object.fromEntries(Object.entries(value).filter((e): e is [string, string] => typeof e[1] === 'string'))
}

/** What the client sees of a refusal. */
export function refusalOf(webhook: string, result: Readonly<Record<string, unknown>>): StatusError {
  const { message, reason, code, details } = result
  const deniedBy = `admission webhook ${quote(webhook)} denied the request`
  const why = textOf(message) || textOf(reason)
  return new StatusError(why === '' ? `${deniedBy} without explanation` : `${deniedBy}: ${why}`, {
    // A webhook may name a reason of its own; clients see it as it is.
    ...(textOf(reason) === '' ? {} : { reason: textOf(reason) as StatusReason }),
    code: typeof code === 'number' && code >= 400 && code < 1000 ? code : 400,
    ...(isJsonObject(details) ? { details: details } : {}),
  })
}

/** A private form with the TypeMeta of `kind`. */
export const typed = (object: KubeObject, kind: GroupVersionKind): KubeObject => {
  const { apiVersion: _, kind: __, ...rest } = object
  return { kind: kind.kind, apiVersion: apiVersionOf(kind), ...rest }
}
