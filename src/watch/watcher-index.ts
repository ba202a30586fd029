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
  /** Sessions that follow names of their own choice, whatever their scope says. */
  readonly #choices = new Map<WatchSession, Set<string>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** How many sessions are offered a change of the object; of one that has no name yet, at least so many. */
  watching(namespace: string, name: string): number {
    if (this.#byPlace.size === 0) return this.#everywhere.size
    const at = (place: string): number => this.#byPlace.get(place)?.size ?? 0
    if (namespace === '') return this.#everywhere.size + at(name)
    return this.#everywhere.size + at(`${namespace}/`) + at(`${namespace}/${name}`)
  }

  add(session: WatchSession): void {
    this.#size++
    const place = placeOf(session.scope, !session.type.namespaced)
    if (place === undefined) this.#everywhere.add(session)
    else this.#addAt(place, session)
  }

  /**
   * From now on `session`, of all of a cluster-scoped type, is offered changes of these names only; undefined = all.
   */
  choose(session: WatchSession, names: readonly string[] | undefined): void {
    if (!this.#everywhere.delete(session) && !this.#choices.has(session)) return
    for (const name of this.#choices.get(session) ?? []) this.#removeAt(name, session)
    if (names === undefined) {
      this.#choices.delete(session)
      this.#everywhere.add(session)
      return
    }
    this.#choices.set(session, new Set(names))
    for (const name of names) this.#addAt(name, session)
  }

  /** Adds or takes away one name, where the session has chosen some. */
  rechoose(session: WatchSession, name: string, wanted: boolean): void {
    const names = this.#choices.get(session)
    if (!names) return
    if (wanted) {
      names.add(name)
      this.#addAt(name, session)
    } else if (names.delete(name)) this.#removeAt(name, session)
  }

  remove(session: WatchSession): void {
    const names = this.#choices.get(session)
    if (names) {
      for (const name of names) this.#removeAt(name, session)
      this.#choices.delete(session)
      this.#size--
      return
    }
    const place = placeOf(session.scope, !session.type.namespaced)
    if (place === undefined ? this.#everywhere.delete(session) : this.#removeAt(place, session)) this.#size--
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
    yield* this.#choices.keys()
    for (const there of this.#byPlace.values())
      for (const session of there) if (!this.#choices.has(session)) yield session
  }

  #addAt(place: string, session: WatchSession): void {
    const there = this.#byPlace.get(place)
    if (there) there.add(session)
    else this.#byPlace.set(place, new Set([session]))
  }

  #removeAt(place: string, session: WatchSession): boolean {
    const there = this.#byPlace.get(place)
    if (!there?.delete(session)) return false
    if (there.size === 0) this.#byPlace.delete(place)
    return true
  }

  #offerAt(place: string, events: SharedEvents): void {
    const there = this.#byPlace.get(place)
    if (there) for (const session of there) session.deliver(events)
  }
}
