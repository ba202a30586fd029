/**
 * Changes of namespaced objects by this process that are queued and not yet shown by the cache. Where no other process
 * writes to the store, these and the cache are all that can be in a namespace.
 */

import type { ContentChange, QueuedChange } from '../admission/admission.ts'
import { Link, LinkedList } from '../base/linked-list.ts'
import type { Ticket } from '../storage/storage.ts'

interface ChangedObject {
  readonly key: string
  /** undefined = it is removed. */
  readonly value: Uint8Array | undefined
  readonly change: ContentChange
}

/** What one transaction changes. */
export class Queued extends Link {
  readonly ticket: Ticket
  readonly objects: readonly ChangedObject[]

  constructor(ticket: Ticket, objects: readonly ChangedObject[]) {
    super()
    this.ticket = ticket
    this.objects = objects
  }
}

export class QueuedContent {
  /** Not by namespace: every write comes and goes, and only a new quota asks what is there. */
  readonly #queued = new LinkedList<Queued>()

  /** Called in the same synchronous section as `commit`. */
  queued(ticket: Ticket, objects: readonly ChangedObject[]): Queued {
    const queued = new Queued(ticket, objects)
    this.#queued.add(queued)
    return queued
  }

  /** The cache shows it, or never will. */
  settled(queued: Queued): void {
    this.#queued.remove(queued)
  }

  /**
   * Without what the cache shows already; `shown` says what it shows of a key. undefined = one key has several changes:
   * what they come to is not known before they are done.
   */
  of(namespace: string, shown: (key: string) => Uint8Array | undefined): readonly QueuedChange[] | undefined {
    const changes: QueuedChange[] = []
    const keys = new Set<string>()
    for (const { ticket, objects } of this.#queued) {
      for (const { key, value, change } of objects) {
        if (change.namespace !== namespace) continue
        if (keys.has(key)) return undefined
        keys.add(key)
        if (!sameBytes(shown(key), value)) changes.push({ key, expect: { asLeftBy: ticket }, change })
      }
    }
    return changes
  }
}

const sameBytes = (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && Buffer.compare(a, b) === 0)
