/**
 * A watch of a type that a webhook converts: takes what happened to stored objects, has it converted, and only then
 * looks at selectors. The session below is told to pass everything in scope on.
 */
import type { ResourceType } from '../kube/resource-type.ts'
import type { Revision } from '../storage/storage.ts'
import type { Watch } from '../watch/open-watch.ts'
import type { Matches } from '../watch/shared-events.ts'
import { type ObjectVersion, TypedVersion } from '../watch/stored-object.ts'
import { ObjectEvent, type WatchEvent } from '../watch/watch-event.ts'
import type { StoredObject } from './registry.ts'
import { toServedVersions } from './served-version.ts'

export class ConvertedWatch implements Watch {
  readonly #raw: Watch
  readonly #type: ResourceType
  readonly #matches: Matches | undefined

  constructor(raw: Watch, type: ResourceType, matches: Matches | undefined) {
    this.#raw = raw
    this.#type = type
    this.#matches = matches
  }

  bookmark(revision: Revision): void {
    this.#raw.bookmark(revision)
  }

  [Symbol.asyncIterator](): AsyncIterator<readonly WatchEvent[]> {
    const batches = this.#raw[Symbol.asyncIterator]()
    return {
      next: async () => {
        for (;;) {
          const next = await batches.next()
          if (next.done) return next
          const events = await this.#converted(next.value)
          if (events.length > 0) return { value: events, done: false }
        }
      },
      return: async () => {
        await this[Symbol.asyncDispose]()
        return { value: undefined, done: true }
      },
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#raw[Symbol.asyncDispose]() as Promise<void>
  }

  /** All of a batch in one question. */
  async #converted(batch: readonly WatchEvent[]): Promise<readonly WatchEvent[]> {
    const versions = new Set<ObjectVersion>()
    for (const event of batch) {
      if (event.type === 'BOOKMARK') continue
      const { next, old } = this.#sidesOf(event)
      if (next) versions.add(next)
      if (old) versions.add(old)
    }
    const asked = [...versions]
    const shown = await toServedVersions(this.#type, asked)
    const byVersion = new Map(asked.map((version, i) => [version, shown[i] as StoredObject]))
    const events: WatchEvent[] = []
    for (const event of batch) {
      const made = event.type === 'BOOKMARK' ? event : this.#eventOf(event, byVersion)
      if (made) events.push(made)
    }
    return events
  }

  /** What must be converted to tell an event: the state before only where it is shown, or a selector looks at it. */
  #sidesOf({ type, stored, before }: ObjectEvent): {
    next?: ObjectVersion | undefined
    old?: ObjectVersion | undefined
  } {
    if (type === 'DELETED') return { old: before }
    const next = stored instanceof TypedVersion ? stored.version : undefined
    return type === 'MODIFIED' && this.#matches ? { next, old: before } : { next }
  }

  #eventOf(event: ObjectEvent, shown: ReadonlyMap<ObjectVersion, StoredObject>): ObjectEvent | undefined {
    const { next, old } = this.#sidesOf(event)
    const after = next && shown.get(next)
    const before = old && shown.get(old)
    const visible = (o: StoredObject | undefined): boolean => o !== undefined && (this.#matches?.(o) ?? true)
    if (event.type === 'DELETED') return before && visible(before) ? gone(event, before) : undefined
    if (after === undefined) return undefined
    if (event.type === 'ADDED' || this.#matches === undefined) {
      return visible(after) ? new ObjectEvent(event.type, after) : undefined
    }
    if (visible(after)) return new ObjectEvent(visible(before) ? 'MODIFIED' : 'ADDED', after)
    return before && visible(before) ? gone(event, before) : undefined
  }
}

/** As it was, under the revision of the change that took it away. */
function gone({ stored }: ObjectEvent, before: StoredObject): ObjectEvent {
  const { revision, type } = stored
  const version = stored instanceof TypedVersion ? stored.version : undefined
  if (version === undefined) return new ObjectEvent('DELETED', before)
  const metadata = { ...before.object.metadata, resourceVersion: String(revision) }
  return new ObjectEvent('DELETED', new TypedVersion(type, version, { ...before.object, metadata }))
}
