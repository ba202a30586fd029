/**
 * Who depends on whom, by uid. Holds only objects that have owners or are waited for, not the owners themselves: most
 * objects of a cluster are neither.
 *
 * It decides *when* to look, never what to do: each change enqueues the uids whose situation may be different now.
 *
 *   a dependent came, or its owners changed    → it, if an owner is missing or is waiting for its dependents
 *   an object began to wait for its dependents → it, and all of them
 *   an object has gone                         → its dependents
 *   a dependent went, or let an owner go       → that owner, if it waits
 */
import type { OwnershipFacts, OwnershipFeed, OwnershipListener } from './types.ts'

/** Uids known to be gone for ever; saves one read per dependent of a deleted owner. */
const rememberedGone = 4096

export class OwnershipGraph implements OwnershipListener {
  readonly #isPresent: OwnershipFeed['isPresent']
  readonly #listeners = new Set<(uid: string) => void>()
  readonly #objects = new Map<string, OwnershipFacts>()
  /** Owner → its dependents. */
  readonly #dependents = new Map<string, Set<string>>()
  readonly #perNamespace = new Map<string, number>()
  readonly #gone = new Set<string>()

  constructor(isPresent: OwnershipFeed['isPresent']) {
    this.#isPresent = isPresent
  }

  /** Calls back with each uid whose situation may be different now. */
  onWork(listener: (uid: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  get size(): number {
    return this.#objects.size
  }

  find(uid: string): OwnershipFacts | undefined {
    return this.#objects.get(uid)
  }

  /** An object never depends on itself. */
  dependentsOf(uid: string): readonly OwnershipFacts[] {
    const found: OwnershipFacts[] = []
    for (const dependent of this.#dependents.get(uid) ?? []) {
      const facts = this.#objects.get(dependent)
      if (facts !== undefined && dependent !== uid) found.push(facts)
    }
    return found
  }

  /** True: no object with this uid exists or ever will. False: unknown. */
  isGone(uid: string): boolean {
    return this.#gone.has(uid)
  }

  seen(next: OwnershipFacts): void {
    const { uid } = next
    const old = this.#objects.get(uid)
    this.#objects.set(uid, next)
    if (old === undefined) this.#count(next.namespace, 1)
    const sameOwners = old !== undefined && JSON.stringify(old.owners) === JSON.stringify(next.owners)
    if (!sameOwners) {
      this.#relink(old, next)
      if (next.owners.some((owner) => this.#waits(owner.uid) || !this.#isPresent(owner, next.namespace))) {
        this.#enqueue(uid)
      }
    }
    if (next.awaits !== undefined && next.awaits !== old?.awaits) {
      this.#enqueue(uid)
      if (next.awaits === 'foreground') for (const dependent of this.dependentsOf(uid)) this.#enqueue(dependent.uid)
    }
  }

  left(uid: string): void {
    const old = this.#objects.get(uid)
    if (old === undefined) return
    this.#objects.delete(uid)
    this.#count(old.namespace, -1)
    this.#relink(old, undefined)
  }

  removed(namespace: string, uidOf: () => string): void {
    // Dependents live in the namespace of their owner, or anywhere if it has none.
    if (namespace === '' ? this.#objects.size === 0 : !this.#perNamespace.has(namespace)) return
    const uid = uidOf()
    this.#remember(uid)
    this.left(uid)
    for (const dependent of this.dependentsOf(uid)) this.#enqueue(dependent.uid)
  }

  #enqueue(uid: string): void {
    for (const listener of this.#listeners) listener(uid)
  }

  /** Brings the edges up to date and tells waiting owners that were let go. */
  #relink(old: OwnershipFacts | undefined, next: OwnershipFacts | undefined): void {
    const uid = (next ?? old)?.uid ?? ''
    const kept = new Set(next?.owners.map((owner) => owner.uid))
    for (const owner of old?.owners ?? []) {
      if (!kept.has(owner.uid)) this.#unlink(owner.uid, uid)
      if (this.#waits(owner.uid)) this.#enqueue(owner.uid)
    }
    for (const owner of kept) {
      const dependents = this.#dependents.get(owner)
      if (dependents) dependents.add(uid)
      else this.#dependents.set(owner, new Set([uid]))
    }
  }

  #unlink(owner: string, dependent: string): void {
    const dependents = this.#dependents.get(owner)
    dependents?.delete(dependent)
    if (dependents?.size === 0) this.#dependents.delete(owner)
  }

  #waits(uid: string): boolean {
    return this.#objects.get(uid)?.awaits === 'foreground'
  }

  #count(namespace: string, by: number): void {
    const count = (this.#perNamespace.get(namespace) ?? 0) + by
    if (count === 0) this.#perNamespace.delete(namespace)
    else this.#perNamespace.set(namespace, count)
  }

  #remember(uid: string): void {
    if (this.#gone.size >= rememberedGone) {
      for (const oldest of this.#gone) {
        this.#gone.delete(oldest)
        break
      }
    }
    this.#gone.add(uid)
  }
}
