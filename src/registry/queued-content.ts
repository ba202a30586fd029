/**
 * Changes of namespaced objects by this process that are queued and not yet shown by the cache. Where no other process
 * writes to the store, these and the cache are all that can be in a namespace.
 */
import type { ContentChange, QueuedChange } from '../admission/admission.ts'
import type { Ticket } from '../storage/storage.ts'

interface ChangedObject {
  readonly key: string
  /** undefined = it is removed. */
  readonly value: Uint8Array | undefined
  readonly change: ContentChange
}

interface Queued extends ChangedObject {
  readonly ticket: Ticket
}

export class QueuedContent {
  readonly #byNamespace = new Map<string, Set<Queued>>()
  readonly #byTicket = new Map<number, readonly Queued[]>()

  /** Called in the same synchronous section as `commit`. */
  queued(ticket: Ticket, objects: readonly ChangedObject[]): void {
    const queued: Queued[] = []
    for (const { key, value, change } of objects) {
      if (change.namespace === '') continue
      const one = { ticket, key, value, change }
      queued.push(one)
      const all = this.#byNamespace.get(change.namespace)
      if (all) all.add(one)
      else this.#byNamespace.set(change.namespace, new Set([one]))
    }
    if (queued.length > 0) this.#byTicket.set(ticket.id, queued)
  }

  /** The cache shows it, or never will. */
  settled(ticket: Ticket): void {
    for (const one of this.#byTicket.get(ticket.id) ?? []) {
      const { namespace } = one.change
      const all = this.#byNamespace.get(namespace)
      all?.delete(one)
      if (all?.size === 0) this.#byNamespace.delete(namespace)
    }
    this.#byTicket.delete(ticket.id)
  }

  /**
   * Without what the cache shows already; `shown` says what it shows of a key. undefined = one key has several changes:
   * what they come to is not known before they are done.
   */
  of(namespace: string, shown: (key: string) => Uint8Array | undefined): readonly QueuedChange[] | undefined {
    const queued = [...(this.#byNamespace.get(namespace) ?? [])]
    if (new Set(queued.map(({ key }) => key)).size < queued.length) return undefined
    return queued
      .filter(({ key, value }) => !sameBytes(shown(key), value))
      .map(({ ticket, key, change }) => ({ key, expect: { asLeftBy: ticket }, change }))
  }
}

const sameBytes = (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && Buffer.compare(a, b) === 0)
