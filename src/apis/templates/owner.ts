/**
 * The owner of a namespace that another created: a GitOps controller or a portal names in an annotation for which user
 * or group it creates. The owner is given what templates grant, so naming another user takes a right of its own, and
 * the owner stays the one that was named.
 */
import type { Attributes } from '../../admission/admission.ts'
import type { Authorizer } from '../../authz/authz.ts'
import { fieldInvalid, shownOfAnnotation } from '../../kube/field-error.ts'
import { forbidden, invalid } from '../../kube/status-error.ts'
import type { Unvalidated } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { ownerOf } from './match.ts'
import { ownerKey, ownerNameMaxLength, unseenCharacters } from './types.ts'

const field = `metadata.annotations[${ownerKey}]`

/**
 * What no name of a user or a group is, in words that follow the field. Kubernetes holds them to no form
 * (`system:serviceaccount:a:b`, `oidc:Zoë Müller`), so what is refused is what can't be seen: beside "alice" it would
 * be another user, and a line break would end the line of a file that a template puts it in.
 */
export function findWrongOwner(owner: string): string | undefined {
  if (owner === '') return 'must name a user or a group'
  if ([...owner].length > ownerNameMaxLength) return `must have at most ${ownerNameMaxLength} characters`
  if (/[\p{Cc}\u2028\u2029]/u.test(owner)) return 'must have no control characters and no line breaks'
  if (unseenCharacters.test(owner)) return 'must have no characters that are not seen'
  return /^\p{Z}|\p{Z}$/u.test(owner) ? 'must not begin or end with a blank' : undefined
}

/** An update that leaves the annotation out (an apply of a file without it) does not take it away. */
export function keepOwner(next: Unvalidated, old: Pick<Namespace, 'metadata'>): Unvalidated {
  const owner = old.metadata.annotations?.[ownerKey]
  if (owner === undefined || next.metadata.annotations?.[ownerKey] !== undefined) return next
  const annotations = { ...next.metadata.annotations, [ownerKey]: owner }
  return { ...next, metadata: { ...next.metadata, annotations } }
}

/** To a client that left it out, maybe on purpose: it would be told that its change was made. */
export function warnOfKeptOwner(
  { subresource, warn }: Pick<Attributes, 'subresource' | 'warn'>,
  next: Unvalidated,
  { metadata }: Pick<Namespace, 'metadata'>,
): void {
  const owner = metadata.annotations?.[ownerKey]
  if (subresource !== '' || owner === undefined || next.metadata.annotations?.[ownerKey] !== undefined) return
  warn(`annotation ${ownerKey} stays ${JSON.stringify(owner)}: the owner of a namespace does not change`)
}

/** @throws StatusError Invalid where it is none or another one than before, or Forbidden */
export function checkOwner({ type, name, user, object, oldObject }: Attributes, authorizer: Authorizer): void {
  const owner = object?.metadata.annotations?.[ownerKey]
  if (owner === undefined || owner === oldObject?.metadata.annotations?.[ownerKey]) return
  const wrong = findWrongOwner(owner)
  if (wrong !== undefined) throw invalid(type, name, [fieldInvalid(field, owner, wrong, shownOfAnnotation)])
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
