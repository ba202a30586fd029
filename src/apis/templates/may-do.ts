/** Verbs on templates. */
import type { Authorizer } from '../../authz/authz.ts'
import type { UserInfo } from '../../kube/user.ts'
import { templateGroups, templateResourceName, templateVersion } from './types.ts'

/** Either group's rules count: the kind is one. */
export function mayDo(authorizer: Authorizer, user: UserInfo, verb: string, name: string, subresource = ''): boolean {
  return templateGroups.some(
    (group) =>
      authorizer.authorize({
        user,
        verb,
        group,
        version: templateVersion,
        resource: templateResourceName,
        subresource,
        namespace: '',
        name,
      }).allowed,
  )
}
