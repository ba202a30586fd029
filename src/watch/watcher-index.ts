/**
 * The live sessions of one type, by what part of it they watch: a change costs the sessions that may want it, not all
 * there are. Ten thousand clients that each wait for their own namespace cost a map look-up per change.
 */
import type { ObjectChange } from './change-window.ts'
import { SharedEvents } from './shared-events.ts'
import type { WatchScope } from './watch-scope.ts'
import type { WatchSession } from './watch-session.ts'

function placeOf(scope: WatchScope, clusterScoped: boolean): string | undefined {
  if (scope.name !== '' && scope.namespace !== '') return `${scope.namespace}/${scope.name}`
  if (scope.name !== '' && clusterScoped) return scope.name
  // A trailing slash: no object has such a key.
  return scope.namespace === '' ? undefined : `${scope.namespace}/`
}

export class WatcherIndex {
  readonly #everywhere = new Set<WatchSession>()
  readonly #byPlace = new Map<string, Set<WatchSession>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(session: WatchSession): void {
    this.#size++
    const place = placeOf(session.scope, !session.type.namespaced)
    if (place === undefined) {
      this.#everywhere.add(session)
      return
    }
    const there = this.#byPlace.get(place)
    if (there) there.add(session)
    else this.#byPlace.set(place, new Set([session]))
  }

  remove(session: WatchSession): void {
    const place = placeOf(session.scope, !session.type.namespaced)
    const there = place === undefined ? this.#everywhere : this.#byPlace.get(place)
    if (!there?.delete(session)) return
    this.#size--
    if (place !== undefined && there.size === 0) this.#byPlace.delete(place)
  }

  offer(change: ObjectChange): void {
    if (this.#size === 0) return
    const events = new SharedEvents(change)
    for (const session of this.#everywhere) session.deliver(events)
    if (this.#byPlace.size === 0) return
    const { key, namespace } = (change.next ?? change.old) as NonNullable<ObjectChange['next']>
    this.#offerAt(key, events)
    if (namespace !== '') this.#offerAt(`${namespace}/`, events)
  }

  *all(): Iterable<WatchSession> {
    yield* this.#everywhere
    for (const there of this.#byPlace.values()) yield* there
  }

  #offerAt(place: string, events: SharedEvents): void {
    const there = this.#byPlace.get(place)
    if (there) for (const session of there) session.deliver(events)
  }
}
