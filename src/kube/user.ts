/** Who is asking. */
export interface UserInfo {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export const anonymousUser: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] }
export const mastersGroup = 'system:masters'
export const authenticatedGroup = 'system:authenticated'

/** The identity of a controller of ours (DECISIONS: `system:serviceaccount:kube-system:<name>`). */
export function serviceAccountUser(namespace: string, name: string, uid?: string): UserInfo {
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    ...(uid ? { uid } : {}),
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, authenticatedGroup],
  }
}

/** What the server itself acts as where no controller's identity fits: the first start. */
export const serverUser: UserInfo = { username: 'system:apiserver', groups: [mastersGroup, authenticatedGroup] }
export const adminUser: UserInfo = { username: 'kubernetes-admin', groups: [mastersGroup, authenticatedGroup] }
