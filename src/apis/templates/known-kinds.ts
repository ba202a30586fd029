/**
 * Of which kinds of templates it is known what exists. A pass waits until it is known of all of them that are served
 * and may be read; a kind that can't be read keeps no other waiting.
 */
import { aborted } from '../../base/aborted.ts'
import type { Client, ServedKind } from '../../client/client.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { believeMarks } from './believe-marks.ts'
import { kindsEverOf } from './kinds.ts'
import { isRefusal } from './populated-index.ts'
import type { PopulatedObjects } from './populated-objects.ts'
import type { PopulationDeps } from './population-deps.ts'

export interface KnownKindsDeps {
  readonly client: Pick<Client, 'discovery'>
  readonly index: Pick<PopulatedObjects, 'watchKind'>
  readonly onError: (error: unknown) => void
  /** All kinds of all templates: `networking.k8s.io/v1/NetworkPolicy`. */
  wanted(): Iterable<string>
  /** After some were read for the first time. `isAll`: none that is served is left. */
  onRead(fresh: ReadonlySet<string>, isAll: boolean, signal: AbortSignal): Promise<void>
}

/** Of the kinds that templates name or named. What exists is believed by its marks where nothing is recorded yet. */
export function openKnownKinds(
  { client, onError, records }: Pick<PopulationDeps, 'client' | 'onError' | 'records'>,
  index: PopulatedObjects,
  templates: () => Iterable<KubeObject>,
  findNamespace: (name: string) => Namespace | undefined,
): KnownKinds {
  return new KnownKinds({
    client,
    index,
    onError,
    *wanted() {
      for (const template of templates()) yield* kindsEverOf(template)
    },
    onRead: async (fresh, isAll, signal) => {
      if (records.isComplete) return
      await believeMarks({ index, records, findNamespace }, fresh, signal)
      if (isAll) await records.complete(signal)
    },
  })
}

export class KnownKinds {
  readonly #deps: KnownKindsDeps
  /** Everything that exists of them is known. */
  readonly #read = new Set<string>()
  /** Of them, those that `onRead` was told of. */
  readonly #told = new Set<string>()
  /** Served, and the server does not say what there is of them. */
  readonly #unread = new Set<string>()
  #asked: Promise<boolean> | undefined

  constructor(deps: KnownKindsDeps) {
    this.#deps = deps
  }

  isRead(kind: string): boolean {
    return this.#read.has(kind)
  }

  isUnread(kind: string): boolean {
    return this.#unread.has(kind)
  }

  /** Templates have changed. */
  changed(): void {
    this.#asked = undefined
  }

  /**
   * Resolves when what exists is known. Asked again only after a change, or where not all could be known the last
   * time.
   */
  async know(signal: AbortSignal): Promise<void> {
    const asked = (this.#asked ??= this.#readAll(signal))
    let isComplete = false
    try {
      isComplete = await asked
    } finally {
      if (!isComplete && this.#asked === asked) this.#asked = undefined
    }
  }

  async #readAll(signal: AbortSignal): Promise<boolean> {
    const known = await Promise.all([...new Set(this.#deps.wanted())].map((kind) => this.#readOne(kind, signal)))
    const fresh = new Set([...this.#read].filter((kind) => !this.#told.has(kind)))
    await this.#deps.onRead(fresh, this.#unread.size === 0, signal)
    for (const kind of fresh) this.#told.add(kind)
    return known.every(Boolean)
  }

  async #readOne(text: string, signal: AbortSignal): Promise<boolean> {
    const kind = await this.#find(text)
    if (kind !== 'refused' && !kind?.namespaced) {
      this.#unread.delete(text)
      return false
    }
    // A controller that is stopped before everything was read would wait for ever.
    const stopped = aborted(signal).then(() => false)
    const isKnown = kind !== 'refused' && (await Promise.race([this.#deps.index.watchKind(kind, signal), stopped]))
    signal.throwIfAborted()
    if (isKnown) {
      this.#unread.delete(text)
      this.#read.add(text)
    } else this.#unread.add(text)
    return isKnown
  }

  async #find(text: string): Promise<ServedKind | 'refused' | undefined> {
    const slash = text.lastIndexOf('/')
    try {
      return await this.#deps.client.discovery.findKind(text.slice(0, slash), text.slice(slash + 1))
    } catch (error) {
      if (!isRefusal(error)) throw error
      this.#deps.onError(error)
      return 'refused'
    }
  }
}
