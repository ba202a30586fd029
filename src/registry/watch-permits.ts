import type { ResourceType } from '../kube/resource-type.ts'

/**
 * The rights by which namespaces and their content are watched.
 *
 * A watch that is open when a right is withdrawn stays open, as upstream. But a namespace that is made under the name
 * of one that went is another namespace, of another owner perhaps: a watch goes on into it only if its user may watch
 * there now. Upstream lets it go on.
 */
export interface WatchPermit {
  /** The namespace that is watched, or whose content is. */
  readonly namespace: string
  holds(): boolean
}

interface Followed {
  follow(
    type: ResourceType,
    listener: (next: { readonly name: string } | undefined, old: object | undefined) => void,
  ): unknown
}

export class WatchPermits {
  readonly #watches = new Map<string, Map<AbortController, WatchPermit>>()

  /** To be called after what decides has subscribed: it must have forgotten the earlier namespace of that name. */
  follow(lister: Followed, namespaceType: ResourceType): this {
    lister.follow(namespaceType, (next, old) => {
      if (next !== undefined && old === undefined) this.onCreated(next.name)
    })
    return this
  }

  /** @returns to be called when the watch is over */
  add(permit: WatchPermit, watch: AbortController): () => void {
    const { namespace } = permit
    const there = this.#watches.get(namespace) ?? new Map<AbortController, WatchPermit>()
    this.#watches.set(namespace, there.set(watch, permit))
    return () => {
      if (there.delete(watch) && there.size === 0) this.#watches.delete(namespace)
    }
  }

  /** Ends watches. Must be called before watchers are told that the namespace exists, and of what is in it. */
  onCreated(namespace: string): void {
    for (const [watch, permit] of this.#watches.get(namespace) ?? []) if (!permit.holds()) watch.abort()
  }
}
