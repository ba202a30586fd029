/** The watch cache as admission, authorization and indices read it. */
import type { ResourceType, ResourceTypes } from '../kube/resource-type.ts'
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

  find(type: ResourceType, namespace: string, name: string): StoredObject | undefined {
    return this.#cache.type(type.storageName).find(namespace, name)?.as(type)
  }

  list(type: ResourceType, namespace: string): Iterable<StoredObject> {
    return this.#cache
      .type(type.storageName)
      .collect(spanOf(namespace))
      .values.map((v) => v.as(type))
  }

  subscribe(
    type: ResourceType,
    listener: (next: StoredObject | undefined, old: StoredObject | undefined, revision: Revision) => void,
  ): () => void {
    return this.#cache
      .type(type.storageName)
      .subscribe((next, old, revision) => listener(next?.as(type), old?.as(type), revision))
  }

  contentOf(namespace: string): readonly { readonly type: ResourceType; readonly count: number }[] {
    const content: { type: ResourceType; count: number }[] = []
    for (const [storageName, count] of this.#cache.contentOf(namespace)) {
      const type = this.#types.findStorage(storageName)
      // Objects of a definition that is gone can't be addressed by anybody.
      if (type) content.push({ type, count })
    }
    return content
  }

  async refresh(): Promise<void> {
    await this.#cache.refresh()
  }
}
