/** What the folder of definitions asks of the watch cache. */
import type { Instances } from '../apis/crds/reconcile.ts'
import { spanOf } from '../watch/type-cache.ts'
import type { WatchCache } from '../watch/watch-cache.ts'

export function instancesIn(cache: WatchCache): Instances {
  return {
    count: (storageName) => cache.type(storageName).size,
    namespaces: (storageName) => {
      const found = new Set<string>()
      for (const { namespace } of cache.type(storageName).collect(spanOf('')).values) found.add(namespace)
      return [...found]
    },
    onRemoved: (listener) =>
      cache.follow((storageName, next) => {
        if (next === undefined) listener(storageName)
      }),
  }
}

/** Ends the watches of objects that are shown otherwise from now on; clients begin new ones where these stopped. */
export function endWatches(cache: WatchCache, storageName: string): void {
  for (const session of [...cache.type(storageName).watchers.all()]) session.close()
}
