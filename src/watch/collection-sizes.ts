/** How many bytes a type has in the store, in all and in each namespace: kept as objects come and go. */
export class CollectionSizes {
  #total = 0
  readonly #byNamespace = new Map<string, number>()

  /** `namespace` '' = in all, which is also where cluster-scoped objects are. */
  bytesOf(namespace: string): number {
    return namespace === '' ? this.#total : (this.#byNamespace.get(namespace) ?? 0)
  }

  /** @param delta negative where bytes have gone */
  change(namespace: string, delta: number): void {
    this.#total += delta
    if (namespace === '') return
    const bytes = (this.#byNamespace.get(namespace) ?? 0) + delta
    if (bytes > 0) this.#byNamespace.set(namespace, bytes)
    else this.#byNamespace.delete(namespace)
  }
}
