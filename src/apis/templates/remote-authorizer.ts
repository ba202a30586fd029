/**
 * Who may do what on a cluster that is reached over the network: asked of the cluster itself, question by question
 * (SubjectAccessReview), so that whatever authorizer it has is the one that decides.
 *
 * What a user *holds*, which is compared with what they give away, can't be asked for another user. As upstream's own
 * check does, it is read from the cluster's RBAC: cluster-wide bindings and the roles that they name.
 */
import type { Authorizer, AuthzAttributes, AuthzDecision, RuleSet } from '../../authz/authz.ts'
import type { Client } from '../../client/client.ts'
import type { UserInfo } from '../../kube/user.ts'
import type { RemoteLookups } from './remote-lookups.ts'

export interface RemoteAuthorizerDeps {
  readonly client: Client
  /** What the user holds in all namespaces. */
  rulesOf(user: UserInfo): Promise<RuleSet>
}

const reviewPath = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
const no: AuthzDecision = { allowed: false, reason: '' }
const nothing: RuleSet = { resourceRules: [], nonResourceRules: [], incomplete: false }

export function remoteAuthorizer({ client, rulesOf }: RemoteAuthorizerDeps, lookups: RemoteLookups): Authorizer {
  return {
    authorize: (attributes) => lookups.ask(`may ${JSON.stringify(attributes)}`, () => review(client, attributes), no),
    rulesFor(user, namespace) {
      if (namespace !== '') throw new Error('only what is held in all namespaces can be asked')
      return lookups.ask(`rules of ${JSON.stringify(user)}`, () => rulesOf(user), nothing)
    },
  }
}

async function review(client: Client, attributes: AuthzAttributes): Promise<AuthzDecision> {
  const { username, uid, groups, extra } = attributes.user
  const spec = { user: username, groups, uid, extra, ...questionOf(attributes) }
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec }
  const { status } = (await client.request('POST', reviewPath, body)) as {
    status?: { allowed?: boolean; reason?: string }
  }
  return { allowed: status?.allowed === true, reason: status?.reason ?? '' }
}

function questionOf(attributes: AuthzAttributes): object {
  if (attributes.path !== undefined) {
    return { nonResourceAttributes: { verb: attributes.verb, path: attributes.path } }
  }
  const { verb, group, version = '', resource, subresource = '', namespace, name } = attributes
  return { resourceAttributes: { verb, group, version, resource, subresource, namespace, name } }
}
