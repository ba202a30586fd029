/**
 * What went wrong with one object of a template, and whether it is the template's doing. What only says that something
 * of the namespace's own is in the way is no reason to keep a change from other namespaces:
 *
 *   - an object that no template made, that another applier owns, or that is left as others have it
 *   - a value that the template lets the namespace choose freely (a parameter without `enum` and `pattern`)
 *   - a quota that is used up: whose objects use it up is not asked
 *   - a refusal to change an object of which others hold fields, or that is not as its template left it. What an edit
 *     can't change of its own (`roleRef`, a selector) is the edit's fault.
 */
import type { Client, ServedKind } from '../../client/client.ts'
import { findObject } from '../../client/find-object.ts'
import { nameOf } from '../../kube/metadata.ts'
import { findStatusError, isConflict, isForbidden, isInvalid, type StatusError } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import type { AppliedObject } from './applied-records.ts'
import { contentDigest } from './marks.ts'
import type { ObjectResult } from './object-result.ts'
import { givenFor } from './parameters.ts'
import type { PopulatedObject } from './populated-objects.ts'
import { reasonOf } from './refusal-reason.ts'
import { identityOf, type Rendered, titleOf } from './render.ts'
import { type NamespaceTemplate, templateFieldManager } from './types.ts'

export const failureOf = (
  { template, object }: Rendered,
  reason: string,
  message: string,
  retriable: boolean,
): ObjectResult => ({
  template: nameOf(template.metadata),
  object: titleOf(object),
  failure: { reason, message, retriable },
})

export const obstructed = ({ failure, ...result }: ObjectResult): ObjectResult =>
  failure === undefined ? result : { ...result, failure: { ...failure, isObstructed: true } }

export interface RefusedApply {
  readonly client: Pick<Client, 'get'>
  readonly kind: ServedKind
  readonly rendered: Rendered
  readonly signal: AbortSignal
  /** What the record says of the place, and what is known of the object there. */
  readonly claim: AppliedObject | undefined
  readonly known: PopulatedObject | undefined
  readonly namespace: Namespace
}

export async function refusedFor(apply: RefusedApply, status: StatusError): Promise<ObjectResult> {
  const result = failureOf(apply.rendered, reasonOf(status), status.message, true)
  const { template, held } = apply.rendered
  // Where it is no amount at all the object can't be read, for which some servers name no reason.
  const isWrong = isInvalid(status) || status.code === 400 || status.reason === undefined
  const isChosen = isWrong && isChosenFreely(JSON.stringify(held.source), template, apply.namespace)
  const isOfNamespace = isChosen || isQuotaUsedUp(status) || (await isOthersInTheWay(apply, status))
  const refused = isOfNamespace ? obstructed(result) : result
  // A version without what was announced and not made would delete nothing.
  return isAbsent(apply, status) ? { ...refused, released: identityOf(apply.rendered.object) } : refused
}

/**
 * A server that answers so has written nothing. After others (a fault of its own, a time that is over) it may have, and
 * of a conflict something is there.
 */
const isAbsent = ({ claim, known }: RefusedApply, { code }: StatusError): boolean =>
  !claim?.uid && known === undefined && code >= 400 && code < 500 && code !== 408 && code !== 409

/** Something of the text is what the namespace gives, and it may give whatever it likes. */
export const isChosenFreely = (text: string, { spec }: NamespaceTemplate, namespace: Namespace): boolean =>
  (spec?.parameters ?? []).some(
    (parameter) =>
      parameter.enum === undefined &&
      parameter.pattern === undefined &&
      text.includes(`$(${parameter.name})`) &&
      givenFor(parameter, namespace) !== '',
  )

/** The template's values are there; what others added could not be looked for, or taken out. */
export function refusedBesides(rendered: Rendered, status: StatusError): ObjectResult {
  const result = failureOf(rendered, reasonOf(status), status.message, true)
  return isInvalid(status) || isConflict(status) ? obstructed(result) : result
}

/** As every API server words it; there is no reason of its own. */
const isQuotaUsedUp = (status: StatusError): boolean => isForbidden(status) && /\bexceeded quota: /.test(status.message)

/** What a template may hold is far from these limits. */
export const isTooLarge = (status: StatusError): boolean =>
  status.code === 413 || areAnnotationsTooMany(status) || isTooLargeForEtcd(status)

const areAnnotationsTooMany = ({ details }: StatusError): boolean =>
  (details?.causes ?? []).some((c) => c.field === 'metadata.annotations' && c.reason === 'FieldValueTooLong')

/**
 * kube-apiserver passes on what etcd (1.5 MiB) or its client (2 MiB) says, as a fault of its own.
 * @see go.etcd.io/etcd/api/v3/v3rpc/rpctypes (ErrGRPCRequestTooLarge), google.golang.org/grpc (prepareMsg)
 */
const isTooLargeForEtcd = ({ code, message }: StatusError): boolean =>
  code === 500 && /\betcdserver: request is too large\b|\btrying to send message larger than max\b/.test(message)

async function isOthersInTheWay(apply: RefusedApply, status: StatusError): Promise<boolean> {
  const isFull = isTooLarge(status)
  if (!isFull && !isInvalid(status) && !isForbidden(status) && !isConflict(status)) return false
  const there = await lookAt(apply)
  return there !== undefined && (isFull || !isAsLeft(there, apply) || isHeldByOthers(there))
}

async function lookAt({ client, kind, rendered, signal }: RefusedApply): Promise<KubeObject | undefined> {
  const { namespace, name } = rendered.object.metadata
  try {
    return await findObject(client, kind, { namespace, name }, { signal })
  } catch (error) {
    if (findStatusError(error) === undefined) throw error
    return undefined
  }
}

/** By the record, which only the controller writes; a change of its metadata since is known where a pass saw it. */
function isAsLeft(there: KubeObject, { claim, known }: RefusedApply): boolean {
  const { uid } = there.metadata
  const digest = contentDigest(there)
  if (claim?.uid !== uid) return false
  const { applied, extended } = known?.uid === uid && known?.digest === digest ? known : {}
  return claim?.content === digest || (applied !== undefined && extended === undefined)
}

/** What can't be compared (`immutable`) may be recorded as a pass found it. An update under our name is another's. */
const isHeldByOthers = ({ metadata }: KubeObject): boolean =>
  (metadata.managedFields ?? []).some(
    ({ manager, operation, subresource, fieldsV1 }) =>
      !(manager === templateFieldManager && operation === 'Apply') &&
      !subresource &&
      Object.keys(fieldsV1 ?? {}).some((field) => field !== 'f:metadata'),
  )
