/**
 * What each namespace holds, as counts per storage name: the answer to 'is it empty' and 'what is left', at the price
 * of what is there and not of what could be.
 */

export class NamespaceContent {
  /** The one string all versions in it share. */
  readonly name: string
  readonly counts: Map<string, number> = new Map()

  constructor(name: string) {
    this.name = name
  }
}

export class ContentIndex {
  readonly #namespaces = new Map<string, NamespaceContent>()

  find(namespace: string): NamespaceContent | undefined {
    return this.#namespaces.get(namespace)
  }

  add(storageName: string, namespace: string): NamespaceContent {
    let content = this.#namespaces.get(namespace)
    if (!content) {
      content = new NamespaceContent(namespace)
      this.#namespaces.set(namespace, content)
    }
    content.counts.set(storageName, (content.counts.get(storageName) ?? 0) + 1)
    return content
  }

  remove(storageName: string, namespace: string): void {
    const counts = this.#namespaces.get(namespace)?.counts
    const count = counts?.get(storageName)
    if (!counts || count === undefined) return
    if (count > 1) counts.set(storageName, count - 1)
    else {
      counts.delete(storageName)
      if (counts.size === 0) this.#namespaces.delete(namespace)
    }
  }
}
