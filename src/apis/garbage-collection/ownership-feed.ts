/**
 * Ownership as the garbage collector hears of it, from the watch cache. It is told of every change of every object, so
 * it looks at bytes first: only objects that name owners, or that a deletion waits on, are ever parsed.
 */

import { restBetween } from '../../base/rest-between.ts'
import { parseApiVersion } from '../../kube/gvk.ts'
import type { ResourceType, ResourceTypes } from '../../kube/resource-type.ts'
import type { KubeObject, OwnerReference } from '../../kube/types.ts'
import type { ObjectVersion, StoreView } from '../../registry/registry.ts'
import {
  foregroundFinalizer,
  type OwnershipFacts,
  type OwnershipFeed,
  type OwnershipListener,
  orphanFinalizer,
} from './types.ts'

const ownersMark = Buffer.from('"ownerReferences":[')
const deletionMark = Buffer.from('"deletionTimestamp":"')
const waitMarks = [Buffer.from(`"${orphanFinalizer}"`), Buffer.from(`"${foregroundFinalizer}"`)]

/** Objects that are looked at in one step. */
const stepObjects = 200

export function ownershipFeed(stored: StoreView, types: ResourceTypes): OwnershipFeed {
  const subscriptions = new Set<Subscription>()
  return {
    subscribe(listener) {
      const subscription = new Subscription(stored, types, listener)
      subscriptions.add(subscription)
      return () => {
        subscription.stop()
        subscriptions.delete(subscription)
      }
    },
    async told() {
      for (const subscription of subscriptions) await subscription.told()
    },
    isPresent(owner, namespace) {
      const gv = parseApiVersion(owner.apiVersion)
      const type = gv && types.findKind({ ...gv, kind: owner.kind })
      const found = type && stored.find(type.storageName, type.namespaced ? namespace : '', owner.name)
      return type !== undefined && found?.as(type).metadata.uid === owner.uid
    },
    async refresh() {
      await stored.refresh()
    },
  }
}

class Subscription {
  readonly #stored: StoreView
  readonly #types: ResourceTypes
  readonly #listener: OwnershipListener
  /** Storage name → its type if it is followed, undefined if it is known not to be. */
  readonly #known = new Map<string, ResourceType | undefined>()
  readonly #stops: readonly (() => void)[]
  /** Types whose objects are still to be told. */
  readonly #untold: { readonly storageName: string; readonly type: ResourceType }[] = []
  #telling: Promise<void> = Promise.resolve()
  #isTelling = false
  #stopped = false

  constructor(stored: StoreView, types: ResourceTypes, listener: OwnershipListener) {
    this.#stored = stored
    this.#types = types
    this.#listener = listener
    this.#followTypes()
    this.#stops = [
      stored.follow((storageName, next, old) => this.#changed(storageName, next, old)),
      types.onChange(() => this.#followTypes()),
    ]
  }

  /** Where the store could not be read it is tried again. */
  async told(): Promise<void> {
    do {
      this.#tellOn()
      await this.#telling
    } while (this.#isTelling || this.#untold.length > 0)
  }

  stop(): void {
    this.#stopped = true
    for (const stop of this.#stops) stop()
  }

  #followTypes(): void {
    for (const [storageName, type] of this.#known) {
      if (type !== undefined && this.#types.findStorage(storageName) !== undefined) continue
      this.#known.delete(storageName)
      if (type === undefined) continue
      for (const version of this.#objectsOf(storageName))
        if (isMarked(version)) this.#listener.left(uidOf(version, type))
    }
    for (const storageName of this.#stored.storageNames()) this.#typeOf(storageName)
  }

  /** Begins to follow the type if it is served and was not followed. Undefined if it cannot be collected. */
  #typeOf(storageName: string): ResourceType | undefined {
    const known = this.#known.get(storageName)
    if (known !== undefined || this.#known.has(storageName)) return known
    const served = this.#types.findStorage(storageName)
    const type = served && isCollectable(served) ? served : undefined
    this.#known.set(storageName, type)
    if (type === undefined) return undefined
    this.#untold.push({ storageName, type })
    this.#tellOn()
    return type
  }

  #tellOn(): void {
    if (this.#isTelling || this.#untold.length === 0) return
    this.#isTelling = true
    this.#telling = this.#tell().finally(() => {
      this.#isTelling = false
    })
    this.#telling.then(
      () => this.#tellOn(),
      // Who waits for it is told; then it is tried again.
      () => undefined,
    )
  }

  /** The first step at once: for most stores it is the only one. */
  async #tell(): Promise<void> {
    for (let next = this.#untold[0]; next !== undefined; [next] = this.#untold) {
      const { storageName, type } = next
      const rest = restBetween()
      for (const step of this.#stored.glances(storageName, stepObjects)) {
        if (this.#stopped || this.#known.get(storageName) !== type) break
        for (const version of step) this.#see(version, type)
        if (step.length === stepObjects) await rest()
      }
      this.#untold.shift()
    }
  }

  #objectsOf(storageName: string): readonly ObjectVersion[] {
    return this.#stored.versions(storageName, '')
  }

  #changed(storageName: string, next: ObjectVersion | undefined, old: ObjectVersion | undefined): void {
    const type = this.#typeOf(storageName)
    if (type === undefined) return
    if (next === undefined) {
      if (old !== undefined) this.#listener.removed(old.namespace, () => uidOf(old, type))
    } else if (!this.#see(next, type) && old !== undefined && isMarked(old)) this.#listener.left(uidOf(next, type))
  }

  /** False if there is nothing to tell. */
  #see(version: ObjectVersion, type: ResourceType): boolean {
    if (!isMarked(version)) return false
    const facts = factsOf(version, type)
    if (facts !== undefined) this.#listener.seen(facts)
    return facts !== undefined
  }
}

/** Events are too many and too short-lived; upstream leaves them out as well. */
function isCollectable(type: ResourceType): boolean {
  return type.stored && type.resource !== 'events' && type.verbs.includes('delete')
}

/** May it have owners or await anything? Never false for one that has. By its bytes where the object is not at hand. */
function isMarked(version: ObjectVersion): boolean {
  const { written } = version
  if (written !== undefined) {
    const { metadata } = written
    return (metadata.ownerReferences?.length ?? 0) > 0 || awaitedBy(metadata) !== undefined
  }
  const { bytes } = version
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  return text.includes(ownersMark) || (text.includes(deletionMark) && waitMarks.some((mark) => text.includes(mark)))
}

const uidOf = (version: ObjectVersion, type: ResourceType): string => version.as(type).metadata.uid ?? ''

function factsOf(version: ObjectVersion, type: ResourceType): OwnershipFacts | undefined {
  const { metadata } = version.as(type)
  const owners = (metadata.ownerReferences ?? []).map(ownerOf)
  const awaits = awaitedBy(metadata)
  if (owners.length === 0 && awaits === undefined) return undefined
  const { namespace, name } = version
  return { resource: type, namespace, name, uid: metadata.uid ?? '', owners, ...(awaits ? { awaits } : {}) }
}

/** A copy: the parsed object must not live as long as the graph. */
const ownerOf = ({ apiVersion, kind, name, uid, blockOwnerDeletion }: OwnerReference): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid,
  ...(blockOwnerDeletion ? { blockOwnerDeletion } : {}),
})

function awaitedBy({ deletionTimestamp, finalizers = [] }: KubeObject['metadata']): OwnershipFacts['awaits'] {
  if (deletionTimestamp === undefined) return undefined
  if (finalizers.includes(orphanFinalizer)) return 'orphan'
  return finalizers.includes(foregroundFinalizer) ? 'foreground' : undefined
}
