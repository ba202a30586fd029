import type { Authorizer } from '../../authz/authz.ts'
import type { AskPermission } from '../../cel/library/authorizer.ts'

/** How expressions ask whether a user may do something. */
export const permissionAsker =
  (authorizer: Authorizer): AskPermission =>
  (user, verb, what) =>
    authorizer.authorize('path' in what ? { user, verb, path: what.path } : { user, verb, ...what })
