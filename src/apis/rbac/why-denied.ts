/**
 * Why a user may not do something, and who may: asked of a server as any client asks, with the rights of that client,
 * so it works against any cluster. Whether it is allowed at all is the server's word (an access review); what would
 * have allowed it is read from roles and bindings.
 */

import type { AuthzAttributes } from '../../authz/authz.ts'
import { explainRefusal, type RefusalExplanation } from '../../authz/explain-refusal.ts'
import type { Client, ServedKind } from '../../client/client.ts'
import { listAll } from '../../client/list-all.ts'
import { type GroupVersionResource, qualifiedResource } from '../../kube/gvk.ts'
import {
  type Binding,
  clusterRoleBindingsResource,
  clusterRolesResource,
  type Role,
  roleBindingsResource,
  rolesResource,
} from '../../kube/rbac.ts'
import type { Resource } from '../../kube/resource.ts'
import { isForbidden, isNotFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { authenticatedGroup, serviceAccountUser, type UserInfo } from '../../kube/user.ts'

/** What is asked about. A resource begins with no slash: `pods`, `deployments.apps`, `pods/log`; a path with one. */
export interface Question {
  readonly verb: string
  readonly target: string
  readonly name: string
  /** '' = cluster scope, or all namespaces. */
  readonly namespace: string
  /** undefined = who asks. */
  readonly subject: { readonly user: string; readonly groups: readonly string[] } | undefined
}

export interface AccessAnswer {
  readonly user: UserInfo
  readonly attributes: AuthzAttributes
  readonly allowed: boolean
  /** The server's. */
  readonly reason: string
  /** Asked about, and not served: roles may name it all the same. */
  readonly unservedSubresource: boolean
  /** Only of a refusal. */
  readonly explanation?: RefusalExplanation
}

const reviews = { group: 'authorization.k8s.io', version: 'v1' } as const

/** @throws StatusError where an access review is refused, Error where the server has no such resource. */
export async function whyDenied(client: Client, question: Question, signal: AbortSignal): Promise<AccessAnswer> {
  const user = question.subject ? subjectOf(question.subject) : await whoAmI(client, signal)
  const { attributes, unservedSubresource } = await attributesOf(client, question, user)
  const { allowed, reason } = await review(client, attributes, question.subject === undefined, signal)
  const answer = { user, attributes, allowed, reason, unservedSubresource }
  if (allowed) return answer
  const namespace = attributes.path === undefined ? attributes.namespace : ''
  const listed = <T extends KubeObject>(resource: GroupVersionResource, within = ''): Promise<T[] | undefined> =>
    readable<T>(client, resource, within, signal)
  const [clusterRoles, clusterRoleBindings, roles, roleBindings] = await Promise.all([
    listed<Role>(clusterRolesResource),
    listed<Binding>(clusterRoleBindingsResource),
    namespace === '' ? [] : listed<Role>(rolesResource, namespace),
    namespace === '' ? [] : listed<Binding>(roleBindingsResource, namespace),
  ])
  const objects = { clusterRoles, clusterRoleBindings, roles, roleBindings }
  return { ...answer, explanation: explainRefusal(attributes, objects) }
}

/** The user as the server would authenticate it: with the groups that come by themselves. */
function subjectOf({ user, groups }: NonNullable<Question['subject']>): UserInfo {
  const [system, kind, namespace = '', name = ''] = user.split(':')
  const own = system === 'system' && kind === 'serviceaccount' ? serviceAccountUser(namespace, name).groups : []
  return { username: user, groups: [...new Set([...groups, ...own, authenticatedGroup])] }
}

async function whoAmI(client: Client, signal: AbortSignal): Promise<UserInfo> {
  try {
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const body = { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' }
    const answer = (await client.request('POST', path, body, { signal })) as {
      status?: { userInfo?: Partial<UserInfo> }
    }
    const { username = '', groups = [] } = answer.status?.userInfo ?? {}
    return { username, groups }
  } catch (error) {
    // Servers before 1.28 have no such review.
    if (isNotFound(error)) return { username: '', groups: [] }
    throw error
  }
}

async function attributesOf(
  client: Client,
  question: Question,
  user: UserInfo,
): Promise<Pick<AccessAnswer, 'attributes' | 'unservedSubresource'>> {
  const { verb, target, name, namespace } = question
  if (target.startsWith('/')) return { attributes: { user, verb, path: target }, unservedSubresource: false }
  const [resource = '', ...rest] = target.split('/')
  const subresource = rest.join('/')
  const { kinds, unavailable } = await client.discovery.kinds()
  const served = findKind(kinds, resource)
  if (!served) {
    const silent = unavailable.map((u) => u.apiVersion).join(', ')
    throw new Error(
      `the server has no resource ${JSON.stringify(resource)}; use its plural or short name, as in pods or po` +
        (silent === '' ? '' : ` (what ${silent} serves is not known: it does not answer)`),
    )
  }
  const attributes: AuthzAttributes = {
    user,
    verb,
    group: served.group,
    version: served.version,
    resource: served.resource,
    ...(subresource === '' ? {} : { subresource }),
    // The path of a namespace makes it the namespace of the request.
    namespace: served.namespaced ? namespace : isNamespaces(served) ? name : '',
    name,
  }
  return { attributes, unservedSubresource: subresource !== '' && !served.subresources?.includes(subresource) }
}

const isNamespaces = ({ group, resource }: ServedKind): boolean => group === '' && resource === 'namespaces'

function findKind(kinds: readonly ServedKind[], asked: string): ServedKind | undefined {
  const wanted = asked.toLowerCase()
  return (
    kinds.find((k) => qualifiedResource(k) === wanted) ??
    kinds.find((k) => k.resource === wanted) ??
    kinds.find((k) => k.shortNames?.includes(wanted)) ??
    kinds.find((k) => k.kind.toLowerCase() === wanted)
  )
}

/** Of others, a user who may not ask in general may be allowed to ask about the namespace alone. */
async function review(
  client: Client,
  { user, ...asked }: AuthzAttributes,
  self: boolean,
  signal: AbortSignal,
): Promise<{ allowed: boolean; reason: string }> {
  const what = asked.path === undefined ? { resourceAttributes: asked } : { nonResourceAttributes: asked }
  const spec = { ...what, ...(self ? {} : { user: user.username, groups: user.groups }) }
  const ask = async (kind: string, namespace = ''): Promise<{ allowed: boolean; reason: string }> => {
    const { group, version } = reviews
    const within = namespace === '' ? '' : `namespaces/${encodeURIComponent(namespace)}/`
    const metadata = namespace === '' ? {} : { metadata: { namespace } }
    const body = { kind, apiVersion: `${group}/${version}`, ...metadata, spec }
    const path = `/apis/${group}/${version}/${within}${kind.toLowerCase()}s`
    const answer = (await client.request('POST', path, body, { signal })) as {
      status?: { allowed?: boolean; reason?: string }
    }
    return { allowed: answer.status?.allowed === true, reason: answer.status?.reason ?? '' }
  }
  if (self) return ask('SelfSubjectAccessReview')
  const home = asked.path === undefined ? asked.namespace : ''
  try {
    return await ask('SubjectAccessReview')
  } catch (error) {
    if (home === '' || !isForbidden(error)) throw error
    return await ask('LocalSubjectAccessReview', home).catch((inner: unknown) => {
      // The right that is missing is the one to ask in general.
      throw isForbidden(inner) ? error : inner
    })
  }
}

/** undefined = it may not be read. */
async function readable<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  namespace: string,
  signal: AbortSignal,
): Promise<T[] | undefined> {
  try {
    return await listAll(client, resource, { signal, ...(namespace === '' ? {} : { namespace }) })
  } catch (error) {
    if (isForbidden(error)) return undefined
    throw error
  }
}
