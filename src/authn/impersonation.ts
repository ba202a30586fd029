/**
 * Acting as another user: the `Impersonate-*` headers, and what the real user must be allowed for it. There are two
 * ways, and either suffices.
 *
 * Constrained: who may be impersonated (verb `impersonate:<mode>` on the identity), and for doing what (verb
 * `impersonate-on:<mode>:<verb>` on what is asked). The mode follows from whom the headers name:
 *
 *   associated-node   the node that a service account's token is bound to
 *   arbitrary-node    system:node:<name>
 *   serviceaccount    system:serviceaccount:<namespace>:<name>
 *   user-info         all other users; alone in allowing groups, uid and extra
 *
 * Classic: verb `impersonate` on the user, each group, each value of extra, and the uid; for doing anything.
 *
 * @see k8s.io/apiserver/pkg/endpoints/filters/impersonation v0.36
 */
import type { StatusError } from '../kube/status-error.ts'
import { anonymousUser, authenticatedGroup, serviceAccountUser, type UserInfo } from '../kube/user.ts'
import { serviceAccountOf } from './account-name.ts'
import { constrainedModes, identityChecks, impersonateOn, refusedIdentity } from './constrained-impersonation.ts'
import type { HeaderSource } from './header-text.ts'
import { type AskedAttributes, type WantedUser, wantedUser } from './wanted-user.ts'

export interface Impersonated {
  readonly user: UserInfo
  /** The verb of the constrained way that allowed it, for the audit log; absent for the classic way. */
  readonly constraint?: string
}

const unauthenticatedGroup = 'system:unauthenticated'
const nodesGroup = 'system:nodes'

/**
 * The user that the request is to be served as; undefined if it impersonates no user. Afterwards the headers must not
 * be looked at again.
 * @param attributesAsked what the request is about, with the real user
 * @param refusalOf the refusal of something, with a further reason perhaps; undefined = allowed
 * @throws StatusError Forbidden; BadRequest for headers that name no user, or are not UTF-8.
 */
export function impersonate(
  request: HeaderSource,
  attributesAsked: () => AskedAttributes,
  refusalOf: (attributes: AskedAttributes, why?: string) => StatusError | undefined,
): Impersonated | undefined {
  const wanted = wantedUser(request)
  if (wanted === undefined) return undefined
  const asked = attributesAsked()
  let constrainedRefusal: StatusError | undefined
  for (const mode of constrainedModes(wanted, asked.user)) {
    const onRefusal = refusalOf(impersonateOn(mode, asked))
    const bad = refusedIdentity(mode, wanted, asked.user)
    const identityRefusal = bad ? refusalOf(...bad) : firstRefusal(identityChecks(mode, wanted, asked.user), refusalOf)
    if (!onRefusal && !identityRefusal) {
      return { user: servedAs(wanted, mode), constraint: `impersonate:${mode}` }
    }
    // Who holds one half is told of the other; who holds neither, of the classic right.
    if (!onRefusal || !identityRefusal) constrainedRefusal ??= onRefusal ?? identityRefusal
  }
  const refusal = firstRefusal(classicChecks(wanted, asked.user), refusalOf)
  if (refusal) throw constrainedRefusal ?? refusal
  return { user: servedAs(wanted, undefined) }
}

function firstRefusal(
  checks: Iterable<AskedAttributes>,
  refusalOf: (attributes: AskedAttributes) => StatusError | undefined,
): StatusError | undefined {
  for (const check of checks) {
    const refusal = refusalOf(check)
    if (refusal) return refusal
  }
  return undefined
}

function* classicChecks({ username, uid, groups, extra }: WantedUser, user: UserInfo): Generator<AskedAttributes> {
  const core = { user, verb: 'impersonate', group: '', version: 'v1', namespace: '' } as const
  const account = serviceAccountOf(username)
  if (account) yield { ...core, resource: 'serviceaccounts', ...account }
  else yield { ...core, resource: 'users', name: username }
  for (const name of groups) yield { ...core, resource: 'groups', name }
  const further = { ...core, group: 'authentication.k8s.io' } as const
  for (const [subresource, values] of extra) {
    for (const name of values) yield { ...further, resource: 'userextras', subresource, name }
  }
  if (uid !== '') yield { ...further, resource: 'uids', name: uid }
}

/** With the groups that come by themselves. */
function servedAs({ username, uid, groups, extra }: WantedUser, mode: string | undefined): UserInfo {
  const isNode = mode === 'arbitrary-node' || mode === 'associated-node'
  return {
    username,
    ...(uid === '' ? {} : { uid }),
    groups: groupsOf(username, isNode ? [nodesGroup] : groups),
    ...(extra.size > 0 ? { extra: Object.fromEntries(extra) } : {}),
  }
}

function groupsOf(username: string, given: readonly string[]): readonly string[] {
  const account = serviceAccountOf(username)
  const groups =
    given.length === 0 && account !== undefined
      ? serviceAccountUser(account.namespace, '').groups.filter((g) => g !== authenticatedGroup)
      : given
  if (username === anonymousUser.username) {
    return groups.includes(unauthenticatedGroup) ? groups : [...groups, unauthenticatedGroup]
  }
  const settled = groups.includes(authenticatedGroup) || groups.includes(unauthenticatedGroup)
  return settled ? groups : [...groups, authenticatedGroup]
}
