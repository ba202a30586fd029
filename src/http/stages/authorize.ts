/** May they: decided from the URL alone, before anything is looked up or a body is read. */
import type { Authorizer, AuthzAttributes, AuthzDecision } from '../../authz/authz.ts'
import { resourceNotFound } from '../../kube/status-error.ts'
import { authenticatedGroup } from '../../kube/user.ts'
import type { ApiRequest, Handler, RequestContext, Stage } from '../api.ts'
import { isNamespaces } from '../resolve-target.ts'
import { awaitOutside } from '../seats.ts'

export interface AuthorizeOptions {
  readonly authorizer: Pick<Authorizer, 'authorize'>
  /**
   * Called before a refusal that names a namespace: catches up with the store, so that no request is refused by a view
   * older than their request. False = nothing new, the refusal stands.
   */
  readonly refresh: () => Promise<boolean>
  /** Asked of what would be refused: another authorizer may allow it. */
  readonly askElsewhere?: ((attributes: AuthzAttributes) => Promise<AuthzDecision>) | undefined
  /**
   * Asked of what would be refused: the reason to let it go on all the same, with what the caller may get one by one
   * (`RequestContext.onlyOwn`).
   */
  readonly narrow?: (attributes: AuthzAttributes) => string | undefined
  /** The words of a refusal, as an error to throw. */
  readonly refuse: (attributes: AuthzAttributes, decision: AuthzDecision, context: RequestContext) => Error
  /** Asked of what would be refused: the error to throw instead. `may` decides as for a request of its own. */
  readonly insteadOfRefusal?: (
    attributes: AuthzAttributes,
    request: ApiRequest,
    context: RequestContext,
    may: (attributes: AuthzAttributes) => Promise<AuthzDecision>,
  ) => Promise<Error | undefined>
}

export function authorize(options: AuthorizeOptions): Stage {
  return (next) => {
    const refusedAtFirst: Handler = async (request, context) => {
      const attributes = attributesOf(context)
      const decision = await decide(options, attributes, (wait) => awaitOutside(request, context, wait))
      const narrowed = decision.allowed ? undefined : options.narrow?.(attributes)
      context.decision = narrowed === undefined ? decision : { allowed: true, reason: narrowed }
      if (narrowed !== undefined) context.onlyOwn = true
      else if (!decision.allowed) {
        const instead = await options.insteadOfRefusal?.(attributes, request, context, (a) => decide(options, a))
        throw instead ?? options.refuse(attributes, decision, context)
      }
      return next(request, context)
    }
    // Nearly all requests are allowed at once: those cost no promise.
    return (request, context) => {
      // Anonymous users are not told apart from users who lack rights: they are to learn nothing about types.
      if (context.resolution === 'no such path' && isAuthenticated(context)) throw resourceNotFound()
      const decision = options.authorizer.authorize(attributesOf(context))
      if (!decision.allowed) return refusedAtFirst(request, context)
      context.decision = decision
      return next(request, context)
    }
  }
}

const isAuthenticated = ({ user }: RequestContext): boolean => user.groups.includes(authenticatedGroup)

/** @throws Error as `refuse` words it */
export async function requireAuthorized(
  options: AuthorizeOptions,
  attributes: AuthzAttributes,
  context: RequestContext,
): Promise<void> {
  const decision = await decide(options, attributes)
  if (!decision.allowed) throw options.refuse(attributes, decision, context)
}

/** `outside`: how the request waits for an authorizer elsewhere. */
async function decide(
  options: AuthorizeOptions,
  attributes: AuthzAttributes,
  outside = (wait: Promise<AuthzDecision>): Promise<AuthzDecision> => wait,
): Promise<AuthzDecision> {
  const { authorizer, refresh, askElsewhere } = options
  let decision = authorizer.authorize(attributes)
  if (decision.allowed) return decision
  if (attributes.path === undefined && (await refresh())) decision = authorizer.authorize(attributes)
  if (decision.allowed || askElsewhere === undefined) return decision
  const elsewhere = await outside(askElsewhere(attributes))
  return elsewhere.allowed || decision.reason === '' ? elsewhere : decision
}

/**
 * What is authorized. Where the path was resolved to something that is served, the attributes are made from that very
 * record, so dispatch can't do anything else.
 */
export function attributesOf({ info, user, resolution }: RequestContext): AuthzAttributes {
  if (!info.isResource) return { user, verb: info.verb, path: info.path }
  if (typeof resolution !== 'object') {
    const { verb, group, version, resource, subresource, namespace, name } = info
    return { user, verb, group, version, resource, subresource, namespace, name }
  }
  const { type, verb, namespace, subresource, name } = resolution
  return {
    user,
    verb,
    group: type.group,
    version: type.version,
    resource: type.resource,
    subresource,
    // A namespace is authorized like content of itself.
    namespace: !type.namespaced && isNamespaces(type) ? name : namespace,
    // Of a collection: what a field selector narrows it to.
    name: name || info.name,
  }
}
