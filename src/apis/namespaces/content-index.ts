/** What is in a namespace, as the namespace controller and admission ask it, from the watch cache's counts. */
import { qualifiedResource } from '../../kube/gvk.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { Lister, StoredObject, StoreView } from '../../registry/registry.ts'
import type { Remaining } from './conditions.ts'
import type { NamespaceContent } from './content.ts'
import type { NamespaceLookup } from './lookup.ts'
import type { Namespace } from './types.ts'

/** Told by bytes first: a start with many namespaces does not parse them all. */
export function isBeingDeleted(namespace: StoredObject<Namespace>): boolean {
  const { buffer, byteOffset, length } = namespace.bytes
  const mayBe = Buffer.from(buffer, byteOffset, length).includes(deletionMark)
  return mayBe && namespace.object.metadata.deletionTimestamp !== undefined
}

const deletionMark = Buffer.from('"deletionTimestamp":')

/** So that the same objects are always named in the same order. */
function byName(a: ResourceType, b: ResourceType): number {
  const [x, y] = [qualifiedResource(a), qualifiedResource(b)]
  return x < y ? -1 : x > y ? 1 : 0
}

export interface ContentIndex extends NamespaceContent {
  /** Takes note of a namespace that existed at the start; true = it is being deleted. Of changes it knows by itself. */
  see(namespace: StoredObject<Namespace>): boolean
}

export function contentIndex(lister: Lister, stored: StoreView, namespaces: NamespaceLookup): ContentIndex {
  // Asked at every change of any object, so it is a set.
  const terminating = new Set<string>()
  const see = (namespace: StoredObject<Namespace>): boolean => {
    const isGoing = isBeingDeleted(namespace)
    if (isGoing) terminating.add(namespace.name)
    else terminating.delete(namespace.name)
    return isGoing
  }
  lister.follow(namespaces.type, (next, old) => {
    if (next !== undefined) see(next)
    else if (old !== undefined) terminating.delete(old.name)
  })
  return {
    see,
    of: (namespace) => lister.contentOf(namespace).map(({ type, count }) => ({ resource: type, count })),
    remaining(namespace, limit) {
      const named: Remaining[] = []
      const finalizers = new Map<string, number>()
      const types = [...lister.contentOf(namespace)].sort((a, b) => byName(a.type, b.type))
      for (const { type } of types) {
        for (const version of stored.versions(type.storageName, namespace)) {
          const { name } = version
          // The finalizers of a damaged object are unknown, but it exists.
          const own = version.damage === undefined ? (version.as(type).object.metadata.finalizers ?? []) : []
          for (const finalizer of own) finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1)
          if (named.length < limit) named.push({ resource: qualifiedResource(type), name, finalizers: own })
        }
      }
      return { named, finalizers }
    },
    onChange: (listener) =>
      stored.follow((_storageName, next, old) => {
        const namespace = old?.namespace ?? ''
        if (terminating.has(namespace) && next?.bytes !== old?.bytes) listener(namespace)
      }),
    refresh: () => lister.refresh(),
  }
}
