/**
 * The three ways a watch begins: with the present state, after a revision the window still covers, and after an older
 * one that the store must tell about first. All three end in a live session and neither repeat nor skip a change.
 */
import type { Stream } from '../base/stream.ts'
import type { Turns } from '../base/turns.ts'
import type { LabelSelector } from '../kube/label-selector.ts'
import { objectsPrefixOf, parseObjectKey, relativeKey } from '../kube/object-key.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { type ChangeBatch, endOfCommit, prefixSpan, type Revision, StorageError } from '../storage/storage.ts'
import type { ObjectChange } from './change-window.ts'
import { type Matches, SharedEvents } from './shared-events.ts'
import { ObjectVersion } from './stored-object.ts'
import { spanOf, type TypeCache } from './type-cache.ts'
import type { WatchCache } from './watch-cache.ts'
import { ObjectEvent, type WatchEvent } from './watch-event.ts'
import type { WatchScope } from './watch-scope.ts'
import type { SessionLimits, WatchSession } from './watch-session.ts'

export interface WatchRequest {
  readonly type: ResourceType
  readonly scope: WatchScope
  readonly matches?: Matches | undefined
  /** What `matches` asks of labels, among other things. */
  readonly labels?: LabelSelector
  readonly bookmarks: boolean
  readonly limits: SessionLimits
  readonly turns: Turns
  readonly signal: AbortSignal
  readonly flow?: string
}

export interface Watch extends Stream<readonly WatchEvent[]> {
  /** Everything up to `revision` was sent; says nothing while that is not yet true of this watch. */
  bookmark(revision: Revision): void
}

/**
 * Events per piece of a backlog, and stored bytes that are looked at for one. Frames of a whole piece are there at
 * once.
 */
export const pieceLength = 500
const pieceBytes = 256 * 1024

/** Gathers events until there are enough for a piece, or enough was looked at. */
class Piece {
  #events: WatchEvent[] = []
  #sizeBytes = 0

  get isEmpty(): boolean {
    return this.#events.length === 0
  }

  get isFull(): boolean {
    return this.#events.length >= pieceLength || this.#sizeBytes >= pieceBytes
  }

  /** `event` undefined = it was looked at in vain. */
  add(event: WatchEvent | undefined, sizeBytes: number): void {
    if (event !== undefined) this.#events.push(event)
    this.#sizeBytes += sizeBytes
  }

  take(): readonly WatchEvent[] {
    const events = this.#events
    this.#events = []
    this.#sizeBytes = 0
    return events
  }
}

/** ADDED for all that exists, then what changes. `markEnd` puts a bookmark between the two. */
export function watchState(cache: WatchCache, request: WatchRequest, markEnd: boolean): WatchSession {
  const { type, scope, matches } = request
  checkSound(cache, request)
  const objects = cache.type(type.storageName)
  const one = scope.name === '' ? undefined : objects.find(scope.namespace, scope.name)
  const versions =
    scope.name === '' || (scope.namespace === '' && type.namespaced) ? stateOf(objects, request) : one ? [one] : []
  const end: readonly WatchEvent[] = markEnd
    ? [{ type: 'BOOKMARK', revision: cache.revision, initialEventsEnd: true }]
    : []
  return cache.open({ ...request, after: cache.revision, backlog: statePieces(versions, type, matches, end) })
}

function stateOf(objects: TypeCache, { type, scope, labels }: WatchRequest): Iterable<ObjectVersion> {
  const span = spanOf(scope.namespace)
  const isShownAsStored = type.conversion?.remote === undefined
  const selected = labels !== undefined && isShownAsStored ? objects.select(span, labels) : undefined
  return selected ?? objects.snapshot(span).values
}

/** Only what changes after `after`. */
export function watchAfter(cache: WatchCache, request: WatchRequest, after: Revision): Watch {
  checkSound(cache, request)
  return cache.type(request.type.storageName).history.since <= after
    ? watchFromWindow(cache, request, after)
    : new Replay(cache, request, after)
}

/** @throws StorageError code=damaged: nothing that is damaged is passed over in silence */
function checkSound({ damaged }: WatchCache, { type, scope }: WatchRequest): void {
  if (damaged.size === 0) return
  const { namespace, name } = scope
  const key = relativeKey(namespace, name)
  const one = name !== '' && (namespace !== '' || !type.namespaced)
  const damage = damaged.find(type.storageName, one ? { start: key, end: `${key}\0` } : spanOf(namespace))
  if (damage !== undefined) throw new StorageError('damaged', damage)
}

function watchFromWindow(cache: WatchCache, request: WatchRequest, after: Revision): WatchSession {
  const { type, scope, matches } = request
  const missed = after >= cache.revision ? [] : cache.type(type.storageName).history.after(after)
  const backlog = missed.length > 0 ? changePieces(missed, type, scope, matches) : undefined
  return cache.open({ ...request, after: Math.max(after, cache.revision), backlog })
}

export function* statePieces(
  versions: Iterable<ObjectVersion>,
  type: ResourceType,
  matches: Matches | undefined,
  end: readonly WatchEvent[],
): Generator<readonly WatchEvent[]> {
  const piece = new Piece()
  for (const version of versions) {
    const stored = version.as(type)
    piece.add(!matches || matches(stored) ? new ObjectEvent('ADDED', stored) : undefined, version.sizeBytes)
    if (piece.isFull) yield piece.take()
  }
  for (const event of end) piece.add(event, 0)
  if (!piece.isEmpty) yield piece.take()
}

function* changePieces(
  changes: Iterable<ObjectChange>,
  type: ResourceType,
  scope: WatchScope,
  matches: Matches | undefined,
): Generator<readonly WatchEvent[]> {
  const piece = new Piece()
  for (const change of changes) {
    if (!inScope(change, scope)) continue
    piece.add(new SharedEvents(change).eventFor(type, matches), (change.next ?? change.old)?.sizeBytes ?? 0)
    if (piece.isFull) yield piece.take()
  }
  if (!piece.isEmpty) yield piece.take()
}

function inScope(change: ObjectChange, scope: WatchScope): boolean {
  const version = change.next ?? change.old
  if (!version) return false
  if (scope.namespace !== '' && version.namespace !== scope.namespace) return false
  return scope.name === '' || version.name === scope.name
}

/**
 * Reads the changes that the window has dropped (or that happened before this process began) from the store, until it
 * has come so far that the window covers the rest; from there on it is a live session.
 */
class Replay implements Watch {
  readonly #events: AsyncGenerator<readonly WatchEvent[]>
  #live: WatchSession | undefined
  readonly #stop = new AbortController()

  constructor(cache: WatchCache, request: WatchRequest, after: Revision) {
    this.#events = this.#run(cache, request, after)
  }

  bookmark(revision: Revision): void {
    this.#live?.bookmark(revision)
  }

  [Symbol.asyncIterator](): AsyncIterator<readonly WatchEvent[]> {
    return {
      next: () => this.#events.next(),
      return: async () => {
        await this[Symbol.asyncDispose]()
        return { value: undefined, done: true }
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // First the signal: a generator that waits for the store only returns when the store answers.
    this.#stop.abort()
    await this.#events.return(undefined)
  }

  async *#run(cache: WatchCache, request: WatchRequest, after: Revision): AsyncGenerator<readonly WatchEvent[]> {
    const stop = (): void => this.#stop.abort()
    request.signal.addEventListener('abort', stop, { once: true })
    if (request.signal.aborted) stop()
    try {
      const { type, scope, matches } = request
      const { history } = cache.type(type.storageName)
      const span = prefixSpan(objectsPrefixOf(type.storageName, scope.namespace))
      let position = after
      for await (const batch of cache.storage.watch(span, after, this.#stop.signal)) {
        yield* changePieces(versionsOf(batch), type, scope, matches)
        position = Math.max(position, reachedBy(batch))
        if (position >= history.since) break
      }
      if (!this.#stop.signal.aborted) {
        this.#live = watchFromWindow(cache, { ...request, signal: this.#stop.signal }, position)
        yield* this.#live
      }
    } finally {
      request.signal.removeEventListener('abort', stop)
    }
  }
}

function* versionsOf(batch: ChangeBatch): Generator<ObjectChange> {
  if (batch.type === 'progress') return
  for (const { key, revision, value, previous } of batch.changes) {
    const place = parseObjectKey(key)
    if (!place) continue
    const { relative } = place
    yield {
      revision,
      next: value && ObjectVersion.of(relative, revision, value),
      old: previous && ObjectVersion.of(relative, previous.revision, previous.value),
    }
  }
}

function reachedBy(batch: ChangeBatch): Revision {
  if (batch.type === 'progress') return batch.revision
  const last = batch.changes[batch.changes.length - 1]
  return last ? endOfCommit(last.revision) : 0
}
