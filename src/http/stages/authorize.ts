/** May they: decided from the URL alone, before anything is looked up or a body is read. */
import type { AuthzAttributes, AuthzDecision } from '../../authz/authz.ts'
import type { Handler, RequestContext, Stage } from '../api.ts'

export interface AuthorizeOptions {
  readonly decide: (attributes: AuthzAttributes) => AuthzDecision
  /**
   * Called before a refusal that names a namespace: catches up with the store, so that nobody is refused by a view
   * older than their request. False = nothing new, the refusal stands.
   */
  readonly refresh: () => Promise<boolean>
  /** Asked of what would be refused: somebody else may allow it. */
  readonly askElsewhere?: ((attributes: AuthzAttributes) => Promise<AuthzDecision>) | undefined
  /**
   * Asked of what would be refused: the reason to let it go on all the same, with what the caller may get one by one
   * (`RequestContext.onlyOwn`).
   */
  readonly narrow?: (attributes: AuthzAttributes) => string | undefined
  /** The words of a refusal, as an error to throw. */
  readonly refuse: (attributes: AuthzAttributes, decision: AuthzDecision, context: RequestContext) => Error
}

export function authorize(options: AuthorizeOptions): Stage {
  return (next) => {
    const refusedAtFirst: Handler = async (request, context) => {
      const attributes = attributesOf(context)
      const decision = await decided(options, attributes)
      const narrowed = decision.allowed ? undefined : options.narrow?.(attributes)
      context.decision = narrowed === undefined ? decision : { allowed: true, reason: narrowed }
      if (narrowed !== undefined) context.onlyOwn = true
      else if (!decision.allowed) throw options.refuse(attributes, decision, context)
      return next(request, context)
    }
    // Nearly all requests are allowed at once: those cost no promise.
    return (request, context) => {
      const decision = options.decide(attributesOf(context))
      if (!decision.allowed) return refusedAtFirst(request, context)
      context.decision = decision
      return next(request, context)
    }
  }
}

/** @throws Error as `refuse` words it */
export async function requireAuthorized(
  options: AuthorizeOptions,
  attributes: AuthzAttributes,
  context: RequestContext,
): Promise<void> {
  const decision = await decided(options, attributes)
  if (!decision.allowed) throw options.refuse(attributes, decision, context)
}

async function decided(options: AuthorizeOptions, attributes: AuthzAttributes): Promise<AuthzDecision> {
  const { decide, refresh, askElsewhere } = options
  let decision = decide(attributes)
  if (decision.allowed) return decision
  if (attributes.path === undefined && (await refresh())) decision = decide(attributes)
  if (decision.allowed || askElsewhere === undefined) return decision
  const elsewhere = await askElsewhere(attributes)
  return elsewhere.allowed || decision.reason === '' ? elsewhere : decision
}

export function attributesOf({ info, user }: RequestContext): AuthzAttributes {
  if (!info.isResource) return { user, verb: info.verb, path: info.path }
  return {
    user,
    verb: info.verb,
    group: info.group,
    version: info.version,
    resource: info.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
  }
}
