/**
 * Acting as somebody else: the `Impersonate-*` headers, each of which needs verb `impersonate` on what it names.
 * @see k8s.io/apiserver/pkg/endpoints/filters/impersonation.go v0.36 (the classic verb; the constrained ones are not here)
 */
import { isDns1123Label, isDns1123Subdomain } from '../kube/names.ts'
import { StatusError } from '../kube/status-error.ts'
import { anonymousUser, authenticatedGroup, serviceAccountUser, type UserInfo } from '../kube/user.ts'

/** An `ApiRequest` is one. */
export interface HeaderSource {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** All values of a header that may repeat. */
  headerValues(name: string): readonly string[]
}

/** What must be allowed to the real user. The attributes that authorization takes. */
export interface ImpersonateAttributes {
  readonly user: UserInfo
  readonly verb: 'impersonate'
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace: string
  readonly name: string
}

const extraHeader = 'impersonate-extra-'
const authenticationGroup = 'authentication.k8s.io'
const unauthenticatedGroup = 'system:unauthenticated'

/**
 * The user that the request is to be served as; undefined if it impersonates nobody. Afterwards the headers must not be
 * looked at again.
 * @param requireAllowed throws Forbidden if the real user may not.
 * @throws StatusError 500 for groups, uid or extra without a user, as upstream.
 */
export function impersonate(
  request: HeaderSource,
  user: UserInfo,
  requireAllowed: (attributes: ImpersonateAttributes) => void,
): UserInfo | undefined {
  const names = Object.keys(request.headers).filter((name) => name.startsWith('impersonate-'))
  if (names.length === 0) return undefined
  const username = request.headers['impersonate-user'] ?? ''
  const uid = request.headers['impersonate-uid'] ?? ''
  const groups = request.headerValues('impersonate-group')
  const extra = extraOf(request, names)
  if (username === '') {
    if (uid === '' && groups.length === 0 && extra.size === 0) return undefined
    const asked = [
      ...groups.map((g) => `group ${g}`),
      ...[...extra.keys()].map((k) => `extra ${k}`),
      ...(uid ? [`uid ${uid}`] : []),
    ]
    throw new StatusError(`requested [${asked.join(', ')}] without impersonating a user`)
  }

  const check = (
    group: string,
    resource: string,
    name: string,
    more: { subresource?: string; namespace?: string } = {},
  ): void => requireAllowed({ user, verb: 'impersonate', group, version: 'v1', resource, namespace: '', name, ...more })
  const account = serviceAccountOf(username)
  if (account) check('', 'serviceaccounts', account.name, { namespace: account.namespace })
  else check('', 'users', username)
  for (const group of groups) check('', 'groups', group)
  for (const [key, values] of extra) {
    for (const value of values) check(authenticationGroup, 'userextras', value, { subresource: key })
  }
  if (uid !== '') check(authenticationGroup, 'uids', uid)

  return {
    username,
    ...(uid === '' ? {} : { uid }),
    groups: groupsOf(username, groups, account?.namespace),
    ...(extra.size > 0 ? { extra: Object.fromEntries(extra) } : {}),
  }
}

function extraOf(request: HeaderSource, names: readonly string[]): Map<string, readonly string[]> {
  const extra = new Map<string, readonly string[]>()
  for (const name of names) {
    if (!name.startsWith(extraHeader)) continue
    const key = decodeKey(name.slice(extraHeader.length))
    extra.set(key, [...(extra.get(key) ?? []), ...request.headerValues(name)])
  }
  return extra
}

/** Keys with characters that a header can't carry are percent-encoded; a wrong encoding is taken as it is. */
function decodeKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}

function groupsOf(username: string, given: readonly string[], accountNamespace: string | undefined): readonly string[] {
  const groups =
    given.length === 0 && accountNamespace !== undefined
      ? serviceAccountUser(accountNamespace, '').groups.filter((g) => g !== authenticatedGroup)
      : given
  if (username === anonymousUser.username) {
    return groups.includes(unauthenticatedGroup) ? groups : [...groups, unauthenticatedGroup]
  }
  const settled = groups.includes(authenticatedGroup) || groups.includes(unauthenticatedGroup)
  return settled ? groups : [...groups, authenticatedGroup]
}

function serviceAccountOf(username: string): { readonly namespace: string; readonly name: string } | undefined {
  const [system, kind, namespace = '', name = '', ...rest] = username.split(':')
  if (system !== 'system' || kind !== 'serviceaccount' || rest.length > 0) return undefined
  return isDns1123Label(namespace).length === 0 && isDns1123Subdomain(name).length === 0
    ? { namespace, name }
    : undefined
}
