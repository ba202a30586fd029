/**
 * Of which kinds of templates it is known what exists. A pass waits until it is known of all of them that are served
 * and may be read; a kind that can't be read keeps no other waiting.
 */
import { aborted } from '../../base/aborted.ts'
import type { Clock } from '../../base/clock.ts'
import type { Client, ServedKind } from '../../client/client.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import type { AppliedRecords } from './applied-records.ts'
import { AwaitedKinds } from './awaited-kinds.ts'
import { believeMarks } from './believe-marks.ts'
import { findKindNamed, kindsEverOf } from './kinds.ts'
import { isRefusal } from './populated-index.ts'
import type { PopulatedObjects } from './populated-objects.ts'
import type { PopulationDeps } from './population-deps.ts'

export interface KnownKindsDeps {
  readonly client: Pick<Client, 'discovery'>
  readonly clock: Clock
  readonly index: PopulatedObjects
  readonly records: AppliedRecords
  readonly onError: (error: unknown) => void
  /** All kinds of all templates: `networking.k8s.io/v1/NetworkPolicy`. */
  wanted(): Iterable<string>
  readonly findNamespace: (name: string) => Namespace | undefined
  /** It was not served when a pass asked for it, and is now. */
  onServed(kind: string): void
}

/** Of the kinds that templates name or named. `lookAgain`: at a template of which a kind is served now. */
export function openKnownKinds(
  { client, clock, onError, records }: Pick<PopulationDeps, 'client' | 'clock' | 'onError' | 'records'>,
  index: PopulatedObjects,
  templates: () => Iterable<KubeObject>,
  findNamespace: (name: string) => Namespace | undefined,
  lookAgain: (template: string) => void,
): KnownKinds {
  return new KnownKinds({
    client,
    clock,
    index,
    records,
    onError,
    *wanted() {
      for (const template of templates()) yield* kindsEverOf(template)
    },
    findNamespace,
    onServed(kind) {
      for (const template of templates()) {
        if (kindsEverOf(template).includes(kind)) lookAgain(nameOf(template.metadata))
      }
    },
  })
}

export class KnownKinds {
  readonly #deps: KnownKindsDeps
  /** Everything that exists of them is known. */
  readonly #read = new Set<string>()
  /** Of them, those whose marks were believed, where they had to be. */
  readonly #told = new Set<string>()
  /** Served, and the server does not say what there is of them. */
  readonly #unread = new Set<string>()
  /** Not served. */
  readonly awaited: AwaitedKinds
  #asked: Promise<boolean> | undefined

  constructor(deps: KnownKindsDeps) {
    this.#deps = deps
    this.awaited = new AwaitedKinds({
      clock: deps.clock,
      find: (kind) => this.#find(kind),
      isWanted: (kind) => [...deps.wanted()].includes(kind),
      onServed: (kind) => deps.onServed(kind),
    })
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
    const { records } = this.#deps
    if (!records.isComplete) {
      await believeMarks(this.#deps, fresh, signal)
      if (this.#unread.size === 0) await records.complete(signal)
    }
    for (const kind of fresh) this.#told.add(kind)
    return known.every(Boolean)
  }

  async #readOne(text: string, signal: AbortSignal): Promise<boolean> {
    const kind = await this.#find(text)
    if (kind !== 'refused' && !kind?.namespaced) {
      this.#unread.delete(text)
      if (kind === undefined) this.awaited.add(text)
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
    try {
      return await findKindNamed(this.#deps.client, text)
    } catch (error) {
      if (!isRefusal(error)) throw error
      this.#deps.onError(error)
      return 'refused'
    }
  }
}
