/** What happens to the objects of one type, as a source of a controller takes it. */
import type { Feed } from '../controller/source.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { Lister, StoredObject } from '../registry/registry.ts'

export const typeFeed =
  (lister: Lister, type: ResourceType): Feed<StoredObject> =>
  (listener) =>
    lister.subscribe(type, listener)
