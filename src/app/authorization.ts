/** How the pipeline asks for rights, and which objects a request is shown by them. */
import { mayInitialize } from '../apis/initializers/admission.ts'
import { namespaceResource } from '../apis/namespaces/types.ts'
import { namespaceVisibility } from '../apis/namespaces/visibility.ts'
import { impersonate } from '../authn/impersonation.ts'
import type { AskElsewhere, Authorizer, AuthzAttributes } from '../authz/authz.ts'
import { forbiddenError } from '../authz/forbidden.ts'
import { refusalWith } from '../http/explained-refusals.ts'
import { answerToCreators } from '../http/free-names.ts'
import { isTrue } from '../http/request-info.ts'
import { isNamespaces } from '../http/resolve-target.ts'
import { type AuthorizeOptions, attributesOf, requireAuthorized } from '../http/stages/authorize.ts'
import type { Impersonation } from '../http/stages/impersonate.ts'
import type { PermitOf, RequireCreate, Visibility } from '../http/verbs/verb.ts'
import { requiredType } from '../kube/resource-type.ts'
import type { StatusError } from '../kube/status-error.ts'
import { authenticatedGroup } from '../kube/user.ts'
import type { Core } from './wire.ts'

/** @param askElsewhere who else may allow a request */
export function authorizationOf(core: Core, askElsewhere: AskElsewhere | undefined): AuthorizeOptions {
  const refuse = refusalWith(core)
  const namespaceType = requiredType(core.catalog.types, namespaceResource)
  return {
    authorizer: core.authorizer,
    askElsewhere,
    refuse,
    insteadOfRefusal: answerToCreators({
      namespaceExists: (name) => core.lister.find(namespaceType, '', name) !== undefined,
      refuse,
    }),
    ...(core.namespacesOf ? { narrow: narrowToOwn } : {}),
    refresh: async () => {
      await core.lister.refresh()
      return true
    },
  }
}

/** Asked by verbs that create what they do not find. */
export const requireCreateBy =
  (authorization: AuthorizeOptions): RequireCreate =>
  (context) =>
    requireAuthorized(authorization, { ...attributesOf(context), verb: 'create' }, context)

export function impersonationBy(authorizer: Authorizer): Impersonation {
  /** With a reason it is refused in any case. */
  const refusal = (attributes: AuthzAttributes, why?: string): StatusError | undefined => {
    if (why !== undefined) return forbiddenError(attributes, why)
    const { allowed, reason } = authorizer.authorize(attributes)
    return allowed ? undefined : forbiddenError(attributes, reason)
  }
  return (request, context) => impersonate(request, () => attributesOf(context), refusal)
}

/**
 * Lists and watches of namespaces by users who may not list them all. Not for anonymous callers: an authenticated user
 * has a binding to ask about.
 */
function narrowToOwn(a: AuthzAttributes): string | undefined {
  const asked = a.path === undefined && (a.verb === 'list' || a.verb === 'watch') && !a.subresource
  if (!asked || a.group !== namespaceResource.group || a.resource !== namespaceResource.resource) return undefined
  return a.user.groups.includes(authenticatedGroup) ? 'only namespaces that the user may get' : undefined
}

export function visibilityOf({ authorizer, namespacesOf }: Core): Visibility {
  return ({ type }, { user, onlyOwn, info }) => {
    if (!isNamespaces(type)) {
      if (onlyOwn) throw new Error(`nothing tells which ${type.resource} a user may see`)
      return {}
    }
    const visible = namespaceVisibility(user, isTrue(info.query.get('includeUninitialized')), (u) =>
      mayInitialize(authorizer, u, ''),
    )
    const view = onlyOwn ? namespacesOf?.(user) : undefined
    if (onlyOwn && !view) throw new Error('nothing tells which namespaces a user may see')
    return { ...(visible ? { visible } : {}), ...(view ? { view } : {}) }
  }
}

/** With own namespaces it is the view that follows rights. */
export function permitOf({ authorizer }: Core): PermitOf {
  return ({ type }, context) => {
    const attributes = attributesOf(context)
    if (attributes.path !== undefined || context.onlyOwn) return undefined
    const namespace = isNamespaces(type) ? attributes.name : attributes.namespace
    return namespace === '' ? undefined : { namespace, holds: () => authorizer.authorize(attributes).allowed }
  }
}
