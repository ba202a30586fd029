/**
 * Who makes what every namespace of a cluster has (its default account, its root certificates), keeps it, and cleans up
 * after it. They are no tenants, and none of them retries for the sake of a template.
 */
import type { UserInfo } from '../../kube/user.ts'

export const caretakerGroups = ['system:serviceaccounts:kube-system', 'system:nodes'] as const
export const caretakerPrefix = 'system:kube-'

export const isCaretaker = ({ username, groups }: UserInfo): boolean =>
  caretakerGroups.some((group) => groups.includes(group)) || username.startsWith(caretakerPrefix)
