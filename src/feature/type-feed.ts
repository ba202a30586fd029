/** What happens to the objects of one type, as a source of a controller takes it. */

import type { Feed } from '../controller/source.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { KubeObject } from '../kube/types.ts'
import type { Lister, StoredObject } from '../registry/registry.ts'

export const typeFeed =
  <T extends KubeObject>(lister: Lister, type: ResourceType<T>): Feed<StoredObject<T>> =>
  (listener) =>
    lister.subscribe(type, listener)
