/**
 * What a watcher is told. Events of one change are shared by all watchers that see it the same way, so whatever is made
 * of an event (frames, table rows) is made once, through `memo`.
 */
import type { Revision } from '../storage/storage.ts'
import type { ObjectVersion, StoredObject } from './stored-object.ts'

export type WatchEvent = ObjectEvent | BookmarkEvent

export class ObjectEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  /** For DELETED: the last state that the watcher could see, under the revision of the change that took it away. */
  readonly stored: StoredObject
  readonly before?: ObjectVersion
  /** Who has counted it last of those that wait (`behind.ts`). */
  countedBy: object | undefined
  #memo: Map<string, unknown> | undefined

  /** @param before kept only for types that a webhook converts: selectors are looked at after that */
  constructor(type: 'ADDED' | 'MODIFIED' | 'DELETED', stored: StoredObject, before?: ObjectVersion) {
    this.type = type
    this.stored = stored
    if (before !== undefined) this.before = before
  }

  /** Makes a thing of this event once, for all watchers that ask under the same key. */
  memo<T>(key: string, make: () => T): T {
    this.#memo ??= new Map()
    const known = this.#memo.get(key)
    if (known !== undefined) return known as T
    const made = make()
    this.#memo.set(key, made)
    return made
  }
}

export interface BookmarkEvent {
  readonly type: 'BOOKMARK'
  /** Everything up to it was sent. */
  readonly revision: Revision
  /** Marks the end of `sendInitialEvents`. */
  readonly initialEventsEnd: boolean
}
