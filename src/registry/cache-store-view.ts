/** The watch cache as features see it that follow all types. */
import { type Revision, StorageError } from '../storage/storage.ts'
import { spanOf } from '../watch/type-cache.ts'
import type { WatchCache } from '../watch/watch-cache.ts'
import type { ObjectVersion, StoreView } from './registry.ts'

export class CacheStoreView implements StoreView {
  readonly #cache: WatchCache

  constructor(cache: WatchCache) {
    this.#cache = cache
  }

  storageNames(): Iterable<string> {
    return this.#cache.storageNames()
  }

  count(storageName: string, namespace: string): number {
    return namespace === '' ? this.#cache.type(storageName).size : this.#cache.countIn(storageName, namespace)
  }

  versions(storageName: string, namespace: string): readonly ObjectVersion[] {
    return this.#cache.type(storageName).collect(spanOf(namespace)).values
  }

  glances(storageName: string, step: number, namespace = ''): Generator<readonly ObjectVersion[]> {
    return this.#cache.type(storageName).glances(step, spanOf(namespace))
  }

  checkSound(storageName: string): void {
    const damage = this.#cache.damaged.find(storageName, spanOf(''))
    if (damage !== undefined) throw new StorageError('damaged', damage)
  }

  find(storageName: string, namespace: string, name: string): ObjectVersion | undefined {
    return this.#cache.type(storageName).find(namespace, name)
  }

  glance(storageName: string, namespace: string, name: string): ObjectVersion | undefined {
    return this.#cache.type(storageName).glance(namespace, name)
  }

  get revision(): Revision {
    return this.#cache.revision
  }

  follow(listener: Parameters<StoreView['follow']>[0]): () => void {
    return this.#cache.follow(listener)
  }

  followOne(storageName: string, listener: Parameters<StoreView['followOne']>[1]): () => void {
    return this.#cache.type(storageName).follow(listener)
  }

  async applied(revision: Revision): Promise<void> {
    await this.#cache.applied(revision)
  }

  async refresh(): Promise<void> {
    await this.#cache.refresh()
  }

  endWatches(storageName: string): void {
    for (const session of [...this.#cache.type(storageName).watchers.all()]) session.close()
  }
}
