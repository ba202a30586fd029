/** The watch cache as admission, authorization and indices read it. */

import type { ResourceType, ResourceTypes } from '../kube/resource-type.ts'
import type { KubeObject } from '../kube/types.ts'
import type { Revision } from '../storage/storage.ts'
import { spanOf } from '../watch/type-cache.ts'
import type { WatchCache } from '../watch/watch-cache.ts'
import type { Lister, ObjectVersion, StoredObject } from './registry.ts'

/** The cache knows bytes; what they hold is what was validated as an object of the type. */
function viewed<T extends KubeObject>(type: ResourceType<T>, version: ObjectVersion): StoredObject<T>
function viewed<T extends KubeObject>(
  type: ResourceType<T>,
  version: ObjectVersion | undefined,
): StoredObject<T> | undefined
function viewed<T extends KubeObject>(
  type: ResourceType<T>,
  version: ObjectVersion | undefined,
): StoredObject<T> | undefined {
  return version?.as(type) as StoredObject<T> | undefined
}

export class CacheLister implements Lister {
  readonly #cache: WatchCache
  readonly #types: ResourceTypes

  constructor(cache: WatchCache, types: ResourceTypes) {
    this.#cache = cache
    this.#types = types
  }

  find<T extends KubeObject>(type: ResourceType<T>, namespace: string, name: string): StoredObject<T> | undefined {
    return viewed(type, this.#cache.type(type.storageName).find(namespace, name))
  }

  /** An object of the core group, by the name of its resource. */
  findCore(resource: string, namespace: string, name: string): KubeObject | undefined {
    const type = this.#types.find({ group: '', version: 'v1', resource })
    return type && this.find(type, namespace, name)?.object
  }

  list<T extends KubeObject>(type: ResourceType<T>, namespace: string): Iterable<StoredObject<T>> {
    return this.#cache
      .type(type.storageName)
      .collect(spanOf(namespace))
      .values.map((version) => viewed(type, version))
  }

  subscribe<T extends KubeObject>(
    type: ResourceType<T>,
    listener: (next: StoredObject<T> | undefined, old: StoredObject<T> | undefined, revision: Revision) => void,
  ): () => void {
    return this.#cache
      .type(type.storageName)
      .subscribe((next, old, revision) => listener(viewed(type, next), viewed(type, old), revision))
  }

  follow<T extends KubeObject>(
    type: ResourceType<T>,
    listener: (next: StoredObject<T> | undefined, old: StoredObject<T> | undefined, revision: Revision) => void,
  ): () => void {
    return this.#cache
      .type(type.storageName)
      .follow((next, old, revision) => listener(viewed(type, next), viewed(type, old), revision))
  }

  contentOf(namespace: string): readonly { readonly type: ResourceType; readonly count: number }[] {
    const content: { type: ResourceType; count: number }[] = []
    for (const [storageName, count] of this.#cache.contentOf(namespace)) {
      const type = this.#types.findStorage(storageName)
      // Objects of a definition that is gone can't be addressed.
      if (type) content.push({ type, count })
    }
    return content
  }

  async refresh(): Promise<void> {
    await this.#cache.refresh()
  }
}
