import type { ResourceType } from '../kube/resource-type.ts'
import { serverUser, type UserInfo } from '../kube/user.ts'
import type { WriteScope } from './registry.ts'

/** A create by the server itself, or by the server for a user. */
export const ownScope = (type: ResourceType, user: UserInfo = serverUser): WriteScope => ({
  type,
  namespace: '',
  name: '',
  subresource: '',
  user,
  dryRun: false,
  fieldManager: 'borough',
  warn: () => {},
  caller: { signal: new AbortController().signal },
})
