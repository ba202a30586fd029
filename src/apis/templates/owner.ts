/**
 * The owner of a namespace that another created: a GitOps controller or a portal names in an annotation for which user
 * or group it creates. The owner is given what templates grant, so naming another user takes a right of its own, and
 * the owner stays the one that was named.
 */
import type { Attributes } from '../../admission/admission.ts'
import type { Authorizer } from '../../authz/authz.ts'
import { fieldInvalid } from '../../kube/field-error.ts'
import { forbidden, invalid } from '../../kube/status-error.ts'
import type { Unvalidated } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { ownerOf } from './match.ts'
import { ownerKey } from './types.ts'

const field = `metadata.annotations[${ownerKey}]`

/** An update that leaves the annotation out (an apply of a file without it) does not take it away. */
export function keepOwner(next: Unvalidated, old: Pick<Namespace, 'metadata'>): Unvalidated {
  const owner = old.metadata.annotations?.[ownerKey]
  if (owner === undefined || next.metadata.annotations?.[ownerKey] !== undefined) return next
  const annotations = { ...next.metadata.annotations, [ownerKey]: owner }
  return { ...next, metadata: { ...next.metadata, annotations } }
}

/** @throws StatusError Invalid where it is none or another one than before, or Forbidden */
export function checkOwner({ type, name, user, object, oldObject }: Attributes, authorizer: Authorizer): void {
  const owner = object?.metadata.annotations?.[ownerKey]
  if (owner === undefined || owner === oldObject?.metadata.annotations?.[ownerKey]) return
  if (owner === '') throw invalid(type, name, [fieldInvalid(field, owner, 'must name a user or a group')])
  if (oldObject !== undefined) {
    const before = ownerOf(oldObject)
    if (before === owner) return
    // One from before creators were recorded may still be given an owner.
    if (before !== undefined) {
      const why = `the owner of a namespace does not change: it is ${JSON.stringify(before)}`
      throw invalid(type, name, [fieldInvalid(field, owner, why)])
    }
  } else if (owner === user.username) return
  const asked = { user, verb: 'assign-owner', group: '', version: 'v1', resource: 'namespaces', subresource: '' }
  if (authorizer.authorize({ ...asked, namespace: '', name }).allowed) return
  throw forbidden(
    type,
    name,
    `user ${JSON.stringify(user.username)} cannot make ${JSON.stringify(owner)} the owner of a namespace: annotation ` +
      `${ownerKey} needs the verb "assign-owner" on namespaces`,
  )
}
