/** Who may do what, in the order in which it is asked. */

import { CreatorRights, followCreators } from '../apis/namespaces/creator-rights.ts'
import { namespaceResource } from '../apis/namespaces/types.ts'
import { rbacSource } from '../apis/rbac/rbac-source.ts'
import type { Authorizer } from '../authz/authz.ts'
import { NamespaceGrants } from '../authz/namespace-grants.ts'
import { RbacAuthorizer } from '../authz/rbac-authorizer.ts'
import { mastersAuthorizer, unionAuthorizer } from '../authz/union-authorizer.ts'
import { damagedRights } from '../feature/damaged-deciders.ts'
import type { FeatureContext } from '../feature/feature.ts'
import type { NameView } from '../kube/name-view.ts'
import type { UserInfo } from '../kube/user.ts'
import { defaultWindowLimits } from '../watch/change-window.ts'
import type { DamagedObjects } from '../watch/damaged-objects.ts'
import type { Config } from './config.ts'

/** Rights are remembered as long as watches can resume from memory. */
const grantHistory = { changes: defaultWindowLimits.changes, ageMs: defaultWindowLimits.ageMs }

export interface OpenAuthorizer {
  readonly authorizer: Authorizer
  /** What of the namespaces a user may get, and how that changes; absent where it is not asked for. */
  readonly namespacesOf: ((user: UserInfo) => NameView) | undefined
}

export function openAuthorizer(
  { clock, listOwnNamespaces }: Config,
  { lister, stored, typeOf }: Pick<FeatureContext, 'lister' | 'stored' | 'typeOf'>,
  damaged: DamagedObjects,
): OpenAuthorizer {
  const grants = listOwnNamespaces ? new NamespaceGrants(clock, grantHistory) : undefined
  if (grants !== undefined) followCreators(grants, (listener) => lister.subscribe(typeOf(namespaceResource), listener))
  const rbac = new RbacAuthorizer(rbacSource(lister, stored, typeOf), clock, grants ? { observer: grants } : {})
  const creators = new CreatorRights(lister, typeOf(namespaceResource), clock)
  return {
    authorizer: unionAuthorizer([mastersAuthorizer, rbac, creators, damagedRights(damaged)]),
    namespacesOf: grants && ((user) => grants.viewOf(user)),
  }
}
