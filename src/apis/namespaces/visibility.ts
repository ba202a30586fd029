/**
 * A namespace that is being initialized is not listed to clients that can't use it yet. A GET by name sees
 * it: `kubectl wait` and `describe` must, and so must who wants to know why it waits.
 */
import type { KubeObject } from '../../kube/types.ts'
import type { UserInfo } from '../../kube/user.ts'
import { creatorKey } from '../templates/types.ts'
import { isInitializing } from './types.ts'

/** Undefined = everything. For watchers, becoming visible is ADDED. */
export function namespaceVisibility(
  user: UserInfo,
  includeUninitialized: boolean,
  mayInitialize: (user: UserInfo) => boolean,
): ((object: KubeObject) => boolean) | undefined {
  if (includeUninitialized || mayInitialize(user)) return undefined
  return (object) => !isInitializing(object) || object.metadata.annotations?.[creatorKey] === user.username
}
