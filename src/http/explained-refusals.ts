/** Refusals that say what would have allowed the request, for clients that ask with `?explain` and may read RBAC. */
import type { Authorizer, AuthzAttributes } from '../authz/authz.ts'
import { explainRefusal, explanationLines } from '../authz/explain-refusal.ts'
import { forbiddenError } from '../authz/forbidden.ts'
import { namespaceOf } from '../authz/rbac-request.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { clusterRoleBindingsResource, clusterRolesResource, roleBindingsResource, rolesResource } from '../kube/rbac.ts'
import type { Resource } from '../kube/resource.ts'
import { StatusError } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import type { Lister } from '../registry/registry.ts'
import type { RequestContext } from './api.ts'
import { isTrue } from './request-info.ts'

export interface RefusalDeps {
  readonly authorizer: Authorizer
  readonly lister: Lister
  readonly catalog: Catalog
}

/**
 * The error for a refused request. The message is upstream's in any case; explanations stand in `details.causes`, where
 * clients that know nothing of them do not look.
 */
export function refusalWith(deps: RefusalDeps) {
  return (
    attributes: AuthzAttributes,
    { reason }: { readonly reason: string },
    context: RequestContext,
  ): StatusError => {
    const refused = forbiddenError(attributes, reason)
    if (!isTrue(context.info.query.get('explain'))) return refused
    const lines = explanationLines(explainRefusal(attributes, readableObjects(deps, attributes, context)))
    const causes = lines.map((message) => ({ reason: 'Explanation', message }))
    return new StatusError(refused.message, { reason: 'Forbidden', details: { ...refused.details, causes } })
  }
}

/** Who reads the answer decides: under impersonation that is who impersonates. */
function readableObjects(
  { authorizer, lister, catalog }: RefusalDeps,
  attributes: AuthzAttributes,
  { user, impersonator }: RequestContext,
): Parameters<typeof explainRefusal>[1] {
  const listed = <T extends KubeObject>(resource: Resource<T>, namespace: string): T[] | undefined => {
    const type = catalog.types.find(resource)
    if (!type) return undefined
    const asked = { ...resource, user: impersonator ?? user, verb: 'list', namespace, name: '' }
    return authorizer.authorize(asked).allowed
      ? [...lister.list(type, namespace)].map(({ object }) => object)
      : undefined
  }
  const namespace = namespaceOf(attributes)
  // With '' the lister would list all namespaces.
  const within = <T extends KubeObject>(resource: Resource<T>): T[] | undefined =>
    namespace === '' ? [] : listed(resource, namespace)
  return {
    clusterRoles: listed(clusterRolesResource, ''),
    clusterRoleBindings: listed(clusterRoleBindingsResource, ''),
    roles: within(rolesResource),
    roleBindings: within(roleBindingsResource),
  }
}
