/** From a watch request to the stream that answers it. */
import { clientLeft } from '../base/aborted.ts'
import { Channel, type Stream, StreamOverflow } from '../base/stream.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { isStorageError, type Revision } from '../storage/storage.ts'
import { type Watch, type WatchRequest, watchAfter, watchState } from '../watch/open-watch.ts'
import { watchViewAfter, watchViewState } from '../watch/view-watch.ts'
import { defaultSessionLimits } from '../watch/watch-session.ts'
import { ConvertedWatch } from './converted-watch.ts'
import { fromStorage, watchExpired, watchOfTheFuture, watchTooSlow } from './errors.ts'
import { refuseFormerNamespace } from './former-namespace.ts'
import { checkWatchOptions, parseVersion } from './list-options.ts'
import type { RegistryParts } from './parts.ts'
import { waitForRevision } from './read-barrier.ts'
import type { RegistryEvent, WatchQuery } from './registry.ts'
import { isLongSelection, selectionOf } from './selection.ts'

/** As upstream: the last bookmark leaves the client time to read it before the end. */
const bookmarkBeforeEndMs = 2000

/**
 *   resourceVersion   sendInitialEvents   answer
 *   unset             absent, true        what is there now (consistent), then changes
 *   0                 absent, true        what the cache holds, then changes
 *   N                 true                what is there at N or later, then changes
 *   N                 absent, false       changes after N
 *   unset, 0          false               changes from now on
 *
 * An N that the store has not come to was never given out by it: the client comes from another one, which this one was
 * restored or copied from. It hears Expired and lists again. Upstream lets it wait in silence.
 */
export async function watchObjects(
  parts: RegistryParts,
  type: ResourceType,
  query: WatchQuery,
): Promise<Stream<readonly RegistryEvent[]>> {
  const end = new AbortController()
  // Before anything is awaited: the right was found a moment ago.
  const endPermit = query.permit && parts.watchPermits?.add(query.permit, end)
  let watch: Stream<readonly RegistryEvent[]> | undefined
  try {
    watch = await begin(parts, type, query, end, endPermit)
    return watch
  } finally {
    if (!(watch instanceof TimedWatch)) endPermit?.()
  }
}

async function begin(
  parts: RegistryParts,
  type: ResourceType,
  query: WatchQuery,
  end: AbortController,
  endPermit: (() => void) | undefined,
): Promise<Stream<readonly RegistryEvent[]>> {
  const { cache, clock } = parts
  checkWatchOptions(query)
  if (isLongSelection(query)) await parts.turns.begin()
  const selection = selectionOf(type, parts.strategyOf(type), query)
  const after = parseVersion(query.resourceVersion, 'watch')
  const fromState = query.sendInitialEvents === true || (query.sendInitialEvents === undefined && !after)
  if (after === undefined) {
    if (query.caughtUp !== true) await cache.refresh()
  } else if (fromState && after > 0) await waitForRevision(cache, clock, after, query)
  else if (!cache.reached(after)) {
    await cache.refresh()
    if (!cache.reached(after)) return failingStream(watchOfTheFuture(after, cache.revision))
  }
  if (after && !fromState) {
    try {
      await refuseFormerNamespace(parts, selection.scope.namespace, after)
    } catch (error) {
      if (!isStorageError(error, 'compacted')) throw error
      return failingStream(watchExpired(after, cache.revision))
    }
  }

  const bookmarks = query.allowWatchBookmarks === true
  const remote = type.conversion?.remote !== undefined
  const request: WatchRequest = {
    type,
    scope: selection.scope,
    matches: remote ? undefined : selection.matches,
    labels: selection.labels,
    bookmarks,
    limits: parts.watchLimits ?? defaultSessionLimits,
    turns: parts.turns,
    signal: end.signal,
    ...(query.flow === undefined ? {} : { flow: query.flow }),
  }
  const markEnd = bookmarks && query.sendInitialEvents === true
  const { view } = query
  const open = (): Watch => {
    const from = after || cache.revision
    if (!view) return fromState ? watchState(cache, request, markEnd) : watchAfter(cache, request, from)
    const viewed = { ...request, view }
    return fromState ? watchViewState(cache, viewed, markEnd) : watchViewAfter(cache, viewed, from)
  }
  const watch = remote ? new ConvertedWatch(open(), type, selection.matches) : open()
  return new TimedWatch(watch, parts, query, { end, endPermit, after: after ?? 0 })
}

function failingStream(error: unknown): Stream<readonly RegistryEvent[]> {
  const stream = new Channel<readonly RegistryEvent[]>({ limit: 1 })
  stream.close(error)
  return stream
}

/** Ends a watch in time, and words its faults. */
class TimedWatch implements Stream<readonly RegistryEvent[]> {
  readonly #watch: Watch
  readonly #parts: RegistryParts
  readonly #after: Revision
  readonly #release: () => void

  constructor(
    watch: Watch,
    parts: RegistryParts,
    query: WatchQuery,
    { end, endPermit, after }: { end: AbortController; endPermit: (() => void) | undefined; after: Revision },
  ) {
    this.#watch = watch
    this.#parts = parts
    this.#after = after
    const { signal, timeoutMs } = query
    const stop = (): void => end.abort(clientLeft)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    const timers =
      timeoutMs === undefined
        ? []
        : [
            parts.clock.after(Math.max(0, timeoutMs - bookmarkBeforeEndMs), () => this.#bookmark()),
            parts.clock.after(timeoutMs, stop),
          ]
    const release = (): void => {
      signal.removeEventListener('abort', stop)
      endPermit?.()
      for (const timer of timers) timer.cancel()
    }
    this.#release = release
  }

  [Symbol.asyncIterator](): AsyncIterator<readonly RegistryEvent[]> {
    const events = this.#watch[Symbol.asyncIterator]()
    return {
      next: async () => {
        try {
          const next = await events.next()
          if (next.done) this.#release()
          return next
        } catch (e) {
          this.#release()
          throw await this.#worded(e)
        }
      },
      return: async () => {
        await this[Symbol.asyncDispose]()
        return { value: undefined, done: true }
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#release()
    await this.#watch[Symbol.asyncDispose]()
  }

  #bookmark(): void {
    this.#watch.bookmark(this.#parts.cache.revision)
  }

  async #worded(error: unknown): Promise<unknown> {
    if (error instanceof StreamOverflow) return watchTooSlow(error.behind)
    if (!isStorageError(error, 'compacted')) return fromStorage(error)
    return watchExpired(this.#after, await this.#oldest())
  }

  /**
   * Where a watch can begin. What the store kept says nothing if only this process has forgotten, or no answer comes.
   */
  async #oldest(): Promise<Revision> {
    const { cache, storage } = this.#parts
    const kept = await storage.compactedRevision().catch(() => cache.revision)
    return kept > this.#after ? kept : cache.revision
  }
}
