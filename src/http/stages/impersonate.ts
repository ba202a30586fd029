/** Whom a request asks to be taken for. Our own code never does. */
import type { UserInfo } from '../../kube/user.ts'
import type { ApiRequest, RequestContext, Stage } from '../api.ts'

/** Whom the headers ask for, or undefined if they name no user. @throws StatusError Forbidden */
export type Impersonation = (
  request: Pick<ApiRequest, 'headers' | 'headerValues'>,
  context: RequestContext,
) => { readonly user: UserInfo; readonly constraint?: string } | undefined

export function impersonate(decide: Impersonation): Stage {
  return (next) => (request, context) => {
    const other = decide(request, context)
    if (other !== undefined) {
      context.impersonator = context.user
      context.user = other.user
      if (other.constraint !== undefined) context.impersonationConstraint = other.constraint
    }
    return next(request, context)
  }
}
