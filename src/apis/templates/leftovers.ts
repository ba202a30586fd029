/** What is ours in a namespace and wanted there no longer: it is deleted, or let go. */
import type { Client, ServedKind } from '../../client/client.ts'
import { findObject } from '../../client/find-object.ts'
import { nameOf, uidOf } from '../../kube/metadata.ts'
import { findStatusError, isNotFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { type AppliedObject, identityOfApplied, isFound } from './applied-records.ts'
import { isMarked } from './marks.ts'
import type { ObjectResult } from './object-result.ts'
import { reasonOf } from './refusal-reason.ts'
import { labelFieldManager, templateFieldManager, templateNameLabel } from './types.ts'

type PopulateClient = Pick<Client, 'get' | 'patch' | 'delete' | 'discovery'>

interface Where {
  readonly namespace: Namespace
  readonly signal: AbortSignal
}

/** Answers what came of it: released, or still held by finalizers. */
export async function pruneOne(
  client: PopulateClient,
  request: Where & { readonly policy: 'Delete' | 'Orphan' },
  claim: AppliedObject,
): Promise<ObjectResult> {
  const result = { template: claim.template, object: `${claim.kind}/${claim.name}` }
  try {
    return { ...result, ...(await pruneOrOrphan(client, request, claim)) }
  } catch (error) {
    if (isNotFound(error)) return { ...result, outcome: 'pruned', released: identityOfApplied(claim) }
    const status = findStatusError(error)
    if (status === undefined) throw error
    return { ...result, failure: { reason: reasonOf(status), message: status.message, retriable: true } }
  }
}

async function pruneOrOrphan(
  client: PopulateClient,
  request: Where & { readonly policy: 'Delete' | 'Orphan' },
  claim: AppliedObject,
): Promise<Partial<ObjectResult>> {
  const { namespace, signal, policy } = request
  const released = identityOfApplied(claim)
  const kind = await client.discovery.findKind(claim.apiVersion, claim.kind)
  // Its definition is gone, and everything of that kind with it.
  if (kind === undefined) return { outcome: 'pruned', released }
  const ref = { namespace: nameOf(namespace.metadata), name: claim.name }
  const found = await findObject(client, kind, ref, { signal })
  if (found === undefined || !isOurs(claim, found)) return { outcome: 'pruned', released }
  const uid = uidOf(found.metadata)
  if (policy === 'Orphan') {
    await setLabel(client, kind, { ...ref, uid, signal }, null)
    return { outcome: 'orphaned', released }
  }
  // A finalizer holds it; the watch tells when it has gone.
  if (found.metadata.deletionTimestamp !== undefined) {
    return { outcome: 'pruned', isUnwatched: !(await putLabelBack(client, kind, request, { ...claim, uid })) }
  }
  const other = otherApplier(found)
  if (other !== undefined) {
    await setLabel(client, kind, { ...ref, uid, signal }, null)
    const message = `it is not deleted, only its label is taken off: ${JSON.stringify(other)} applies it too`
    return { outcome: 'orphaned', released, remark: { reason: 'TakenOver', message } }
  }
  const preconditions = { uid }
  const answer = await client.delete(kind, ref, { preconditions, propagationPolicy: 'Background', signal })
  if (answer.kind === 'Status') return { outcome: 'pruned', isDeleted: true, released }
  return {
    outcome: 'pruned',
    isDeleted: true,
    isUnwatched: !(await putLabelBack(client, kind, request, { ...claim, uid })),
  }
}

/** By its uid; one that was recorded ahead, by its marks. */
const isOurs = (claim: AppliedObject, found: KubeObject): boolean =>
  isFound(claim, found) || (claim.uid === '' && isMarked(found, claim.template))

/**
 * Our watches select on the label, so an object that was robbed of it would be out of sight. False = it stays out of
 * sight.
 */
export async function putLabelBack(
  client: PopulateClient,
  kind: ServedKind,
  { namespace, signal }: Where,
  { name, uid, template }: AppliedObject,
): Promise<boolean> {
  try {
    await setLabel(client, kind, { namespace: nameOf(namespace.metadata), name, uid, signal }, template)
    return true
  } catch (error) {
    if (isNotFound(error)) return true
    if (findStatusError(error) === undefined) throw error
    return false
  }
}

async function setLabel(
  client: PopulateClient,
  kind: ServedKind,
  { namespace, name, uid, signal }: { namespace: string; name: string; uid: string; signal: AbortSignal },
  template: string | null,
): Promise<void> {
  const metadata = { uid, labels: { [templateNameLabel]: template } }
  await client.patch(kind, { namespace, name }, { metadata }, { fieldManager: labelFieldManager, signal })
}

/** Another manager that applies this object, and expects it to stay. */
function otherApplier({ metadata }: KubeObject): string | undefined {
  return (metadata.managedFields ?? []).find(
    (m) => m.operation === 'Apply' && m.manager !== templateFieldManager && !m.subresource,
  )?.manager
}
