/**
 * What one change looks like to watchers. The rule is a transition of 'can see it':
 *
 *   before \ after   sees it            does not
 *   saw it           MODIFIED           DELETED (previous content, new revision)
 *   did not          ADDED              nothing
 *
 * Each of the three events is made at most once per served type, and shared.
 */
import type { ResourceType } from '../kube/resource-type.ts'
import type { ObjectChange } from './change-window.ts'
import { ObjectVersion, type StoredObject } from './stored-object.ts'
import { ObjectEvent } from './watch-event.ts'

/** Must depend on the object alone. */
export type Matches = (stored: StoredObject) => boolean

interface EventsOfType {
  readonly type: ResourceType
  added?: ObjectEvent
  modified?: ObjectEvent
  deleted?: ObjectEvent
}

export class SharedEvents {
  readonly change: ObjectChange
  #last: EventsOfType | undefined
  #others: EventsOfType[] | undefined

  constructor(change: ObjectChange) {
    this.change = change
  }

  /** undefined = this watcher is not concerned. */
  eventFor(type: ResourceType, matches: Matches | undefined): ObjectEvent | undefined {
    const { next, old } = this.change
    const sees = next !== undefined && (matches === undefined || matches(next.as(type)))
    const saw = old !== undefined && (matches === undefined || matches(old.as(type)))
    if (!sees && !saw) return undefined
    const events = this.#of(type)
    const before = type.conversion?.remote === undefined ? undefined : old
    if (!sees) {
      events.deleted ??= new ObjectEvent('DELETED', this.#gone().as(type), before)
      return events.deleted
    }
    if (saw) {
      events.modified ??= new ObjectEvent('MODIFIED', (next as ObjectVersion).as(type), before)
      return events.modified
    }
    events.added ??= new ObjectEvent('ADDED', (next as ObjectVersion).as(type))
    return events.added
  }

  #gone(): ObjectVersion {
    const { old, revision } = this.change
    const { key, bytes } = old as ObjectVersion
    return ObjectVersion.of(key, revision, bytes)
  }

  #of(type: ResourceType): EventsOfType {
    if (this.#last?.type === type) return this.#last
    if (this.#last === undefined) {
      this.#last = { type }
      return this.#last
    }
    this.#others ??= []
    const known = this.#others.find((e) => e.type === type)
    if (known) return known
    const made: EventsOfType = { type }
    this.#others.push(made)
    return made
  }
}
