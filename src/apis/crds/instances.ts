/** The instances of a definition, as its controller counts and empties them. */
import type { StoreView } from '../../registry/registry.ts'
import type { Instances } from './reconcile.ts'

export function instancesIn(stored: StoreView): Instances {
  return {
    count: (storageName) => stored.count(storageName, ''),
    namespaces: (storageName) => [...new Set(stored.versions(storageName, '').map(({ namespace }) => namespace))],
    onRemoved: (listener) =>
      stored.follow((storageName, next) => {
        if (next === undefined) listener(storageName)
      }),
  }
}
