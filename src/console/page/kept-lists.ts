/** What the cluster listed last, for a view that is opened while it can't be reached. In memory of the page. */
import type { KubeObject } from '../../kube/types.ts'
import type { FeedOptions } from './feed.ts'

/** A page is left open for days. */
const mostObjects = 50_000

const ofOne = /^metadata\.name=([^,]+)$/

export class KeptLists {
  /** The one that was seen last comes last. */
  readonly #lists = new Map<string, readonly KubeObject[]>()
  #count = 0

  keep(options: FeedOptions, objects: readonly KubeObject[]): void {
    const key = keyOf(options)
    this.#forget(key)
    this.#lists.set(key, objects)
    this.#count += objects.length
    for (const oldest of this.#lists.keys()) {
      if (this.#count <= mostObjects || oldest === key) return
      this.#forget(oldest)
    }
  }

  /** Of a single object also where all of its kind were listed. */
  find(options: FeedOptions): readonly KubeObject[] | undefined {
    const same = this.#lists.get(keyOf(options))
    if (same !== undefined) return same
    const { fieldSelector, ...all } = options
    const [, name] = ofOne.exec(fieldSelector ?? '') ?? []
    const found = this.#lists.get(keyOf(all))?.filter(({ metadata }) => metadata.name === name)
    // One that is not in an old list may be there by now.
    return found?.length === 1 ? found : undefined
  }

  #forget(key: string): void {
    this.#count -= this.#lists.get(key)?.length ?? 0
    this.#lists.delete(key)
  }
}

const keyOf = ({ resource, namespace, fieldSelector, labelSelector, metadataOnly }: FeedOptions): string =>
  JSON.stringify([
    resource.group,
    resource.version,
    resource.resource,
    namespace ?? null,
    fieldSelector ?? null,
    labelSelector ?? null,
    metadataOnly ?? false,
  ])
