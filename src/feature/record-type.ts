import type { ResourceType } from '../kube/resource-type.ts'
import type { KubeObject } from '../kube/types.ts'

/**
 * Says where records of a feature lie, and how they are read: as objects are, under a storage name that no type serves.
 * What they hold only the feature knows, which writes them.
 */
export function recordType<T extends KubeObject>(like: ResourceType, storageName: string): ResourceType<T> {
  return { ...like, storageName } as ResourceType as ResourceType<T>
}
