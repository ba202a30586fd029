/** What happens to the objects of one type, as a source of a controller takes it. */

import { type Feed, sweptAtOnce } from '../controller/source.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { KubeObject } from '../kube/types.ts'
import type { Lister, StoredObject, StoreView } from '../registry/registry.ts'

export const typeFeed =
  <T extends KubeObject>(lister: Lister, type: ResourceType<T>): Feed<StoredObject<T>> =>
  (listener) =>
    lister.subscribe(type, listener)

/** Changes alone: what exists at first is another source's (`sweep`). */
export const laterFeed =
  <T extends KubeObject>(lister: Lister, type: ResourceType<T>): Feed<StoredObject<T>> =>
  (listener) =>
    lister.follow(type, listener)

/** All there is, for a `sweep`: of what has to be read for it nothing is kept. */
export function* versionSteps<T extends KubeObject>(
  stored: Pick<StoreView, 'glances'>,
  type: ResourceType<T>,
): Iterable<readonly StoredObject<T>[]> {
  for (const step of stored.glances(type.storageName, sweptAtOnce)) {
    yield step.map((version) => version.as(type) as StoredObject<T>)
  }
}
