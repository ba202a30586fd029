/**
 * A local picture of one resource, kept true by list + watch, with a call for every change.
 *
 *            list                    watch ends / error
 *   start ─────────▶ listed ─▶ watching ───────────────▶ watching again from the last resourceVersion
 *     ▲                              │ 410 Expired
 *     └──────────────────────────────┘ (list again; differences become changes)
 *
 * Changes are seen at least once and in order per object; after a relist several may be seen as one.
 */
import { Backoff } from '../base/backoff.ts'
import { type Clock, sleep } from '../base/clock.ts'
import { Turns } from '../base/turns.ts'
import type { GroupVersionResource } from '../kube/gvk.ts'
import { isExpired } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import type { ListOptions, Reader, WatchEvent, Watcher } from './client.ts'

export interface InformerOptions {
  readonly client: Reader & Watcher
  readonly clock: Clock
  readonly resource: GroupVersionResource
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly includeUninitialized?: boolean
  readonly metadataOnly?: boolean
  /** `next` undefined = gone. Must not throw. */
  readonly onChange?: (next: KubeObject | undefined, old: KubeObject | undefined) => void
  /** Told of every failure that the informer then recovers from. */
  readonly onError?: (error: unknown) => void
  /** What to keep of each object; default all of it. Must keep metadata.{name,namespace,uid,resourceVersion}. */
  readonly keep?: (object: KubeObject) => KubeObject
}

const retryBaseMs = 100
const retryMaxMs = 10_000
const pageSize = 500
/** A watch that ends sooner without a word, so often in a row, is none. */
const earlyMs = 1000
const mostEarly = 3

const keyOf = (o: KubeObject): string => `${o.metadata.namespace ?? ''}/${o.metadata.name ?? ''}`

export class Informer {
  readonly #options: InformerOptions
  #objects = new Map<string, KubeObject>()
  #synced = false
  #waiters: (() => void)[] = []

  constructor(options: InformerOptions) {
    this.#options = options
  }

  get synced(): boolean {
    return this.#synced
  }

  /** Resolves after the first complete list. */
  async whenSynced(): Promise<void> {
    if (!this.#synced) await new Promise<void>((resolve) => this.#waiters.push(resolve))
  }

  find(namespace: string, name: string): KubeObject | undefined {
    return this.#objects.get(`${namespace}/${name}`)
  }

  values(): Iterable<KubeObject> {
    return this.#objects.values()
  }

  get size(): number {
    return this.#objects.size
  }

  /** Until `signal` aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, onError } = this.#options
    const backoff = new Backoff<'list' | 'watch'>(retryBaseMs, retryMaxMs)
    let resourceVersion: string | undefined
    let hasExpired = false
    /** Watches in a row that the server ended at once. */
    let early = 0
    while (!signal.aborted) {
      try {
        resourceVersion ??= await this.#list(signal)
        backoff.forget('list')
        const from = resourceVersion
        const began = clock.monotonic()
        await this.#watch(from, signal, (version) => {
          if (version !== from) {
            backoff.forget('watch')
            hasExpired = false
          }
          resourceVersion = version
        })
        early = resourceVersion === from && clock.monotonic() - began < earlyMs ? early + 1 : 0
        if (early >= mostEarly) onError?.(new Error('the server ends each watch at once'))
        // A server that does so (it is shutting down) must not be asked in a tight loop.
        if (resourceVersion === from) await sleep(clock, backoff.next('watch'), signal)
      } catch (error) {
        if (signal.aborted) return
        if (isExpired(error)) {
          resourceVersion = undefined
          // A server that says so of what it has just listed must not be asked in a tight loop either.
          if (hasExpired) await sleep(clock, backoff.next('watch'), signal)
          hasExpired = true
          continue
        }
        onError?.(error)
        // A watch that fails each time is asked for later and later too, though there is nothing to list.
        await sleep(clock, backoff.next(resourceVersion === undefined ? 'list' : 'watch'), signal)
      }
    }
  }

  async #list(signal: AbortSignal): Promise<string> {
    const seen = new Map<string, KubeObject>()
    const { client, clock, resource } = this.#options
    let next: string | undefined
    let resourceVersion = ''
    do {
      const page = await client.list(resource, {
        ...selection(this.#options),
        limit: pageSize,
        ...(next === undefined ? {} : { continue: next }),
        signal,
      })
      for (const object of page.items) seen.set(keyOf(object), this.#keep(object))
      resourceVersion = page.metadata.resourceVersion ?? ''
      next = page.metadata.continue || undefined
    } while (next !== undefined)

    const before = this.#objects
    this.#objects = seen
    // Nothing comes between: the watch begins when all of it was told.
    const slice = new Turns({ now: () => clock.monotonic() }).slice()
    for (const [key, object] of seen) {
      const pause = slice.pause()
      if (pause) await pause
      const old = before.get(key)
      if (old?.metadata.resourceVersion !== object.metadata.resourceVersion) this.#options.onChange?.(object, old)
    }
    for (const [key, old] of before) {
      const pause = slice.pause()
      if (pause) await pause
      if (!seen.has(key)) this.#options.onChange?.(undefined, old)
    }
    this.#synced = true
    for (const waiter of this.#waiters.splice(0)) waiter()
    return resourceVersion
  }

  /** Resolves when the server ended the watch. `onVersion`: from where to go on if it ends here, in whatever way. */
  async #watch(from: string, signal: AbortSignal, onVersion: (version: string) => void): Promise<void> {
    const { client, resource } = this.#options
    const events = client.watch(resource, {
      ...selection(this.#options),
      resourceVersion: from,
      allowWatchBookmarks: true,
      signal,
    })
    for await (const event of events) {
      const { resourceVersion } = event.object.metadata
      if (event.type !== 'BOOKMARK') this.#apply(event)
      if (resourceVersion !== undefined) onVersion(resourceVersion)
    }
  }

  #apply(event: WatchEvent): void {
    const key = keyOf(event.object)
    const old = this.#objects.get(key)
    if (event.type === 'DELETED') {
      this.#objects.delete(key)
      this.#options.onChange?.(undefined, this.#keep(event.object))
      return
    }
    const object = this.#keep(event.object)
    this.#objects.set(key, object)
    this.#options.onChange?.(object, old)
  }

  #keep(object: KubeObject): KubeObject {
    return this.#options.keep?.(object) ?? object
  }
}

type Selection = Pick<
  ListOptions,
  'namespace' | 'labelSelector' | 'fieldSelector' | 'includeUninitialized' | 'metadataOnly'
>

function selection(o: Selection): Selection {
  return {
    ...(o.metadataOnly ? { metadataOnly: true } : {}),
    ...(o.namespace === undefined ? {} : { namespace: o.namespace }),
    ...(o.labelSelector === undefined ? {} : { labelSelector: o.labelSelector }),
    ...(o.fieldSelector === undefined ? {} : { fieldSelector: o.fieldSelector }),
    ...(o.includeUninitialized ? { includeUninitialized: true } : {}),
  }
}
