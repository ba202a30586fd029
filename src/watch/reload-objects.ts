/** What was missed while the store could not be watched, found by comparing. */
import { objectsPrefixOf, parseObjectKey } from '../kube/object-key.ts'
import type { Entry, Revision } from '../storage/storage.ts'
import { spanOf, type TypeCache } from './type-cache.ts'

interface Cached {
  storageNames(): Iterable<string>
  type(storageName: string): TypeCache
}

/** Applied as changes: listeners are told the differences. `present` is what is stored at `revision`, by its key. */
export function applyDifferences(
  cached: Cached,
  { revision, present }: { readonly revision: Revision; readonly present: ReadonlyMap<string, Entry> },
): void {
  for (const storageName of cached.storageNames()) {
    const cache = cached.type(storageName)
    const prefix = objectsPrefixOf(storageName)
    for (const { key } of cache.collect(spanOf('')).values) {
      if (!present.has(prefix + key)) cache.apply(key, revision, undefined)
    }
  }
  for (const entry of present.values()) {
    const place = parseObjectKey(entry.key)
    if (!place) continue
    const cache = cached.type(place.storageName)
    if (cache.findKey(place.relative)?.revision !== entry.revision) {
      cache.apply(place.relative, entry.revision, entry.value)
    }
  }
}
