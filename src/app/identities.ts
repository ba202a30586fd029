/** Who the server itself is, and who its administrator. */
import { authenticatedGroup, mastersGroup, type UserInfo } from '../kube/user.ts'

/** What the server itself acts as where no controller's identity fits: the first start. */
export const serverUser: UserInfo = { username: 'system:apiserver', groups: [mastersGroup, authenticatedGroup] }
export const adminUser: UserInfo = { username: 'kubernetes-admin', groups: [mastersGroup, authenticatedGroup] }
