/** The watch cache as admission, authorization and indices read it. */

import type { ResourceType, ResourceTypes } from '../kube/resource-type.ts'
import type { KubeObject } from '../kube/types.ts'
import type { Revision } from '../storage/storage.ts'
import { spanOf } from '../watch/type-cache.ts'
import type { WatchCache } from '../watch/watch-cache.ts'
import type { Lister, StoredObject } from './registry.ts'

export class CacheLister implements Lister {
  readonly #cache: WatchCache
  readonly #types: ResourceTypes

  constructor(cache: WatchCache, types: ResourceTypes) {
    this.#cache = cache
    this.#types = types
  }

  find<T extends KubeObject>(type: ResourceType<T>, namespace: string, name: string): StoredObject<T> | undefined {
    return this.#cache.type(type.storageName).find(namespace, name)?.as(type)
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
      .values.map((version) => version.as(type))
  }

  subscribe<T extends KubeObject>(
    type: ResourceType<T>,
    listener: (next: StoredObject<T> | undefined, old: StoredObject<T> | undefined, revision: Revision) => void,
  ): () => void {
    return this.#cache
      .type(type.storageName)
      .subscribe((next, old, revision) => listener(next?.as(type), old?.as(type), revision))
  }

  follow<T extends KubeObject>(
    type: ResourceType<T>,
    listener: (next: StoredObject<T> | undefined, old: StoredObject<T> | undefined, revision: Revision) => void,
  ): () => void {
    return this.#cache
      .type(type.storageName)
      .follow((next, old, revision) => listener(next?.as(type), old?.as(type), revision))
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
