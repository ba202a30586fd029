/**
 * Constrained impersonation: which modes apply to whom, and what each asks of the authorizer. The verbs are checked in
 * group `authentication.k8s.io`, where the classic `impersonate` has users, groups and accounts in the core group.
 * @see k8s.io/apiserver/pkg/endpoints/filters/impersonation/mode.go v0.36
 */
import { mastersGroup, type UserInfo } from '../kube/user.ts'
import { nodeOf, serviceAccountOf } from './account-name.ts'
import { isDomainPrefixedPath } from './extra-key.ts'
import type { AskedAttributes, AskedResource, WantedUser } from './wanted-user.ts'

export type ConstrainedMode = 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info'

const group = 'authentication.k8s.io'
const nodeNameKey = 'authentication.kubernetes.io/node-name'

/** In the order they are tried. */
export function constrainedModes(wanted: WantedUser, real: UserInfo): readonly ConstrainedMode[] {
  const node = nodeOf(wanted.username)
  const account = serviceAccountOf(wanted.username)
  if (node === undefined && account === undefined) return ['user-info']
  // Of accounts and nodes everything but the name is the server's to say.
  if (wanted.uid !== '' || wanted.groups.length > 0 || wanted.extra.size > 0) return []
  if (node === undefined) return ['serviceaccount']
  return isOn(node, real) ? ['associated-node', 'arbitrary-node'] : ['arbitrary-node']
}

/** A service account whose token is bound to something on that node. */
function isOn(node: string, { username, extra }: UserInfo): boolean {
  const names = extra?.[nodeNameKey]
  return serviceAccountOf(username) !== undefined && names?.length === 1 && names[0] === node
}

/** The right to do what is asked in another user's name. */
export function impersonateOn(mode: ConstrainedMode, asked: AskedAttributes): AskedAttributes {
  return { ...asked, verb: `impersonate-on:${mode}:${asked.verb}` }
}

/** What is never allowed in the constrained way, whatever the rights; with the reason. */
export function refusedIdentity(
  mode: ConstrainedMode,
  { groups, extra }: WantedUser,
  user: UserInfo,
): [AskedAttributes, string] | undefined {
  const about = (resource: string, name: string): AskedAttributes => identity(mode, user, resource, name)
  if (groups.includes('')) return [about('groups', ''), 'impersonating the empty string group is not allowed']
  if (groups.includes(mastersGroup)) {
    return [about('groups', mastersGroup), 'impersonating the system:masters group is not allowed']
  }
  const why = extraFault(extra)
  return why === undefined ? undefined : [about('userextras', ''), why]
}

function extraFault(extra: WantedUser['extra']): string | undefined {
  for (const [key, values] of extra) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed'
    if (!isDomainPrefixedPath(key)) {
      return (
        'impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ' +
        `${JSON.stringify(key)}: must be a domain-prefixed path (such as "acme.io/foo")`
      )
    }
    if (key !== key.toLowerCase()) {
      return `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}`
    }
    if (values.length === 0) return 'impersonating empty values in extra is not allowed'
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed'
  }
  return undefined
}

/** The right to be taken for this user: all of these. Lazily, for the first that is refused ends it. */
export function* identityChecks(mode: ConstrainedMode, wanted: WantedUser, user: UserInfo): Generator<AskedAttributes> {
  yield nameCheck(mode, wanted.username, user)
  if (wanted.uid !== '') yield identity(mode, user, 'uids', wanted.uid)
  for (const name of wanted.groups) yield identity(mode, user, 'groups', name)
  for (const [key, values] of wanted.extra) {
    for (const value of values) yield { ...identity(mode, user, 'userextras', value), subresource: key }
  }
}

function nameCheck(mode: ConstrainedMode, username: string, user: UserInfo): AskedAttributes {
  const account = serviceAccountOf(username)
  if (account) return { ...identity(mode, user, 'serviceaccounts', account.name), namespace: account.namespace }
  const node = nodeOf(username)
  if (node === undefined) return identity(mode, user, 'users', username)
  // The right is one to one's own node, whichever that is.
  return identity(mode, user, 'nodes', mode === 'associated-node' ? '*' : node)
}

const identity = (
  mode: ConstrainedMode,
  user: UserInfo,
  resource: string,
  name: string,
): AskedAttributes & AskedResource => ({
  user,
  verb: `impersonate:${mode}`,
  group,
  version: 'v1',
  resource,
  namespace: '',
  name,
})
