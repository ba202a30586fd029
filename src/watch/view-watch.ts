/**
 * Watches of clients that see a part of a cluster-scoped type, as their rights come and go. An object that comes into
 * view is ADDED, one that goes out of view DELETED: what the watcher holds is at each revision what a list would show.
 *
 * Such an event has the resourceVersion that the object has, which is older than the change of rights: a client must
 * be able to use it for an update. So a bookmark of the change of rights follows, for watches that asked for bookmarks,
 * and they resume behind it. Who did not, and resumes from the older one, is told everything since then again: each
 * object's story in order, so it ends where the present is.
 *
 * Resuming replays both stories, of objects and of rights, merged by revision. Where either is forgotten, or every
 * object came or went at once, the watch is `compacted` (410): the client lists again.
 */
import type { NameView } from '../kube/name-view.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { type Revision, StorageError } from '../storage/storage.ts'
import type { ObjectChange } from './change-window.ts'
import { pieceLength, statePieces, type WatchRequest } from './open-watch.ts'
import { type Matches, SharedEvents } from './shared-events.ts'
import type { ObjectVersion } from './stored-object.ts'
import { spanOf, type TypeCache } from './type-cache.ts'
import type { WatchCache } from './watch-cache.ts'
import { ObjectEvent, type WatchEvent } from './watch-event.ts'
import type { WatchSession } from './watch-session.ts'

export interface ViewRequest extends WatchRequest {
  readonly view: NameView
}

/** All of `objects` that is in view now, in key order. */
export function inView(objects: TypeCache, view: NameView): Iterable<ObjectVersion> {
  const names = view.names()
  if (names === undefined) return objects.snapshot(spanOf('')).values
  // Names are ASCII, so UTF-16 order is key order.
  return [...names].sort().flatMap((name) => objects.find('', name) ?? [])
}

/** ADDED for all in view, then what changes. `markEnd` puts a bookmark between the two. */
export function watchViewState(cache: WatchCache, request: ViewRequest, markEnd: boolean): WatchSession {
  const { type, scope, view, matches } = request
  const objects = cache.type(type.storageName)
  const versions =
    scope.name === ''
      ? inView(objects, view)
      : [objects.find('', scope.name)].filter((v) => v !== undefined).filter((v) => view.sees(v.name))
  const end: readonly WatchEvent[] = markEnd
    ? [{ type: 'BOOKMARK', revision: cache.revision, initialEventsEnd: true }]
    : []
  return open(cache, request, cache.revision, statePieces(versions, type, matches, end))
}

/** What changes after `after`, of objects and of the view. */
export function watchViewAfter(cache: WatchCache, request: ViewRequest, after: Revision): WatchSession {
  const objects = cache.type(request.type.storageName)
  const missed = after >= cache.revision ? [] : replay(objects, request, after)
  const session = open(cache, request, Math.max(after, cache.revision), pieces(missed ?? []))
  if (!missed) session.close(new StorageError('compacted', 'what the watcher could see since then is forgotten'))
  return session
}

function open(
  cache: WatchCache,
  request: ViewRequest,
  after: Revision,
  backlog: Iterator<readonly WatchEvent[]>,
): WatchSession {
  const { type, scope, view, matches } = request
  const objects = cache.type(type.storageName)
  let unfollow = (): void => undefined
  const session = cache.open({
    ...request,
    // Whom changes are offered to follows the view already; this is the lock on the door.
    matches: (stored) => view.sees(stored.name) && (!matches || matches(stored)),
    after,
    backlog,
    onClose: () => unfollow(),
  })
  if (session.closed) return session
  if (scope.name === '') objects.watchers.choose(session, view.names())
  let told = false
  const tell = (version: ObjectVersion | undefined, gained: boolean, revision: Revision): void => {
    // One that is newer than the change of rights is another object of that name.
    if (!version || version.revision > revision || (scope.name !== '' && version.name !== scope.name)) return
    // The object came with the right to it: its own event is about to be offered.
    if (gained && version.revision === revision) return
    const stored = version.as(type)
    if (matches && !matches(stored)) return
    session.tell(new ObjectEvent(gained ? 'ADDED' : 'DELETED', stored), revision)
    told = true
  }
  unfollow = view.follow({
    changed({ name, gained, revision, concerns }) {
      if (name !== '') {
        objects.watchers.rechoose(session, name, gained)
        tell(objects.find('', name), gained, revision)
        return
      }
      objects.watchers.choose(session, scope.name === '' ? view.names() : undefined)
      for (const version of objects.collect(spanOf('')).values) {
        if (concerns(version.name)) tell(version, gained, revision)
      }
    },
    settled(revision) {
      if (told) session.bookmark(revision)
      told = false
    },
  })
  return session
}

/** What the watcher missed; undefined = it is not known any more. Read at once: later rights must not decide. */
function replay(objects: TypeCache, request: ViewRequest, after: Revision): readonly WatchEvent[] | undefined {
  const { type, scope, view, matches, bookmarks } = request
  const past = objects.history.since <= after ? view.past(after) : undefined
  if (!past) return undefined
  const changes = objects.history.after(after)
  const world = new PastObjects(objects, changes)
  const turned = new Map<string, boolean>()
  const sees = (name: string): boolean => turned.get(name) ?? past.sees(name)
  const wanted = (name: string): boolean => scope.name === '' || name === scope.name
  const events: WatchEvent[] = []
  let next = 0
  /** `turning` comes into view or leaves it at `revision`: where its own change is the cause, one event tells it. */
  const objectsUntil = (revision: Revision, turning?: string): void => {
    for (let change = changes[next]; change && change.revision <= revision; change = changes[++next]) {
      const name = world.pass(change)
      const isTurning = name === turning && change.revision === revision && change.next !== undefined
      const isOffered = wanted(name) && sees(name) && !isTurning
      const event = isOffered ? new SharedEvents(change).eventFor(type, matches) : undefined
      if (event) events.push(event)
    }
  }
  for (const [i, { name, gained, revision }] of past.changes.entries()) {
    objectsUntil(revision, name)
    turned.set(name, gained)
    const event = wanted(name) ? viewEvent(world.find(name), gained, type, matches) : undefined
    if (event) events.push(event)
    const told = events[events.length - 1]
    if (bookmarks && past.changes[i + 1]?.revision !== revision && told && told.type !== 'BOOKMARK') {
      events.push({ type: 'BOOKMARK', revision, initialEventsEnd: false })
    }
  }
  objectsUntil(Number.POSITIVE_INFINITY)
  return events
}

function viewEvent(
  version: ObjectVersion | undefined,
  gained: boolean,
  type: ResourceType,
  matches: Matches | undefined,
): WatchEvent | undefined {
  const stored = version?.as(type)
  if (!stored || (matches && !matches(stored))) return undefined
  return new ObjectEvent(gained ? 'ADDED' : 'DELETED', stored)
}

/** The objects of a type as they were, on the way from some revision to the present. */
class PastObjects {
  readonly #objects: TypeCache
  /** Of each that changed on the way, what it is at this point. */
  readonly #now = new Map<string, ObjectVersion | undefined>()

  constructor(objects: TypeCache, changes: readonly ObjectChange[]) {
    this.#objects = objects
    for (const change of changes) {
      const { name } = (change.next ?? change.old) as ObjectVersion
      if (!this.#now.has(name)) this.#now.set(name, change.old)
    }
  }

  find(name: string): ObjectVersion | undefined {
    return this.#now.has(name) ? this.#now.get(name) : this.#objects.find('', name)
  }

  /** Goes past a change; answers whose it was. */
  pass(change: ObjectChange): string {
    const { name } = (change.next ?? change.old) as ObjectVersion
    this.#now.set(name, change.next)
    return name
  }
}

function* pieces(events: readonly WatchEvent[]): Generator<readonly WatchEvent[]> {
  for (let from = 0; from < events.length; from += pieceLength) yield events.slice(from, from + pieceLength)
}
