/**
 * A namespace that is made under the name of one that went is another one. Its users must not see what the former one
 * held, so for a read in a namespace history begins with the present namespace of that name. Upstream shows it.
 */
import type { ResourceTypes } from '../kube/resource-type.ts'
import { type Revision, type Storage, StorageError } from '../storage/storage.ts'
import type { WatchCache } from '../watch/watch-cache.ts'
import { historySource } from './list-source.ts'

export interface FormerNamespaceDeps {
  readonly cache: Pick<WatchCache, 'type'>
  readonly storage: Storage
  readonly types: Pick<ResourceTypes, 'find'>
}

const resource = { group: '', version: 'v1', resource: 'namespaces' }

/**
 * For what is read as it was at `at`, or from there on. '' = all namespaces.
 * @throws StorageError code=compacted if a namespace of that name went since, and there is another one
 */
export async function refuseFormerNamespace(deps: FormerNamespaceDeps, name: string, at: Revision): Promise<void> {
  const type = name === '' ? undefined : deps.types.find(resource)
  if (type === undefined) return
  const namespaces = deps.cache.type(type.storageName)
  const present = namespaces.find('', name)
  // Most often it has not been changed since, and so is the one that was there.
  if (present === undefined || present.revision <= at) return
  if (namespaces.history.since <= at) {
    for (const { next, old } of namespaces.history.after(at)) {
      if (next === undefined && old?.key === name) throw gone(name)
    }
    return
  }
  const then = await historySource(deps.storage, type, at).find('', name)
  if (then !== undefined && then.as(type).metadata.uid !== present.as(type).metadata.uid) throw gone(name)
}

const gone = (name: string): StorageError =>
  new StorageError('compacted', `the namespace ${JSON.stringify(name)} of that time is gone`)
