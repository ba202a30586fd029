/**
 * The namespaces of the user, as the server lets them be seen:
 *
 * - A user who may list namespaces gets the list. On Borough with `--list-own-namespaces` every user may, and the list
 *   holds their own.
 * - Any other user has those that the kubeconfig names and those that were added by hand, each asked for by its name.
 *   A namespace that the server does not show stays in the list with the server's words, and with what an access
 *   review says of it: what is in it may be open.
 */
import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { type Namespace, namespaceResource } from '../../../apis/namespaces/types.ts'
import type { Cluster } from '../cluster.ts'
import type { Feed } from '../feed.ts'
import { followNamespace, Unseen } from './follow-namespace.ts'
import { forgetName, keepName, knownNames } from './known-names.ts'
import { type NamespaceRow, rowOf, unknownRow } from './namespace-row.ts'

export class MyNamespaces {
  /** Undefined until the server has answered. */
  readonly rows: ReadonlySignal<readonly NamespaceRow[] | undefined>
  /** Why the server does not list them; undefined where it does. */
  readonly refused: ReadonlySignal<Error | undefined>
  readonly #cluster: Cluster
  readonly #all: Feed<Namespace>
  readonly #named = signal<ReadonlyMap<string, NamespaceRow>>(new Map())
  readonly #stops = new Map<string, () => void>()
  readonly #unsubscribe: () => void

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    this.#all = cluster.feed<Namespace>({ resource: namespaceResource })
    this.refused = computed(() => this.#all.state.value.refused)
    this.rows = computed(() => {
      const { ready, objects, refused } = this.#all.state.value
      if (!ready) return undefined
      return refused === undefined ? objects.map(rowOf).sort(byName) : [...this.#named.value.values()].sort(byName)
    })
    this.#unsubscribe = this.refused.subscribe((refused) => {
      if (refused === undefined) return
      for (const name of new Set([...cluster.place.namespaces, ...knownNames(cluster)])) this.#follow(name)
    })
  }

  /** Keeps a name for the next time too. */
  add(name: string): void {
    keepName(this.#cluster, name)
    this.#follow(name)
  }

  remove(name: string): void {
    forgetName(this.#cluster, name)
    this.#stops.get(name)?.()
    this.#stops.delete(name)
    this.#show(name, undefined)
  }

  stop(): void {
    this.#unsubscribe()
    this.#all.stop()
    for (const stop of this.#stops.values()) stop()
  }

  #follow(name: string): void {
    if (this.#stops.has(name)) return
    const stop = followNamespace(this.#cluster, name, (found) => {
      this.#show(name, found instanceof Unseen ? unknownRow(name, found) : rowOf(found))
    })
    this.#stops.set(name, stop)
  }

  #show(name: string, row: NamespaceRow | undefined): void {
    const next = new Map(this.#named.value)
    if (row === undefined) next.delete(name)
    else next.set(name, row)
    this.#named.value = next
  }
}

const byName = (a: NamespaceRow, b: NamespaceRow): number => (a.name < b.name ? -1 : 1)
