/**
 * The garbage collector: removes what has lost all its owners, and lets go what waits for its dependents. Its keys are
 * uids. The graph says where to look; every decision is taken on what the API says now.
 * @see k8s.io/kubernetes/pkg/controller/garbagecollector v1.36
 */
import { setImmediate } from 'node:timers/promises'
import type { Client, DeleteOptions, ServedKind } from '../../client/client.ts'
import { findObject } from '../../client/find-object.ts'
import type { ControllerSpec, ObjectKey, Reconciler } from '../../controller/controller.ts'
import { keysOf } from '../../controller/source.ts'
import { apiVersionOf, parseApiVersion } from '../../kube/gvk.ts'
import { isConflict, isNotFound } from '../../kube/status-error.ts'
import type { KubeObject, OwnerReference } from '../../kube/types.ts'
import type { EventRecorder } from '../events/recorder.ts'
import { OwnershipGraph } from './graph.ts'
import { foregroundFinalizer, type OwnershipFacts, type OwnershipFeed, orphanFinalizer } from './types.ts'

export interface GarbageCollectorDeps {
  readonly client: Client
  readonly feed: OwnershipFeed
  readonly events: Pick<EventRecorder, 'record'>
}

export const garbageCollectorName = 'generic-garbage-collector'

const workers = 20
/** Dependents of one owner that are freed of it at the same time. */
const parallelOrphans = 8
/** Lost races against other writers of one object before the whole key is tried again later. */
const writeTries = 5

export function garbageCollector(deps: GarbageCollectorDeps): ControllerSpec {
  const { feed } = deps
  const graph = new OwnershipGraph((owner, namespace) => feed.isPresent(owner, namespace))
  return {
    name: garbageCollectorName,
    workers,
    sources: [
      keysOf((enqueue) => {
        const stopWork = graph.onWork((uid) => enqueue({ namespace: '', name: uid }))
        const stopFeed = feed.subscribe(graph)
        return () => {
          stopFeed()
          stopWork()
        }
      }),
    ],
    reconciler: new Collector(deps, graph),
  }
}

type Dangling = Readonly<OwnerReference>

interface Classified {
  readonly solid: readonly Readonly<OwnerReference>[]
  readonly dangling: readonly Dangling[]
  /** Owners that go as soon as this object has gone. */
  readonly waiting: readonly Readonly<OwnerReference>[]
}

class Collector implements Reconciler {
  readonly #deps: GarbageCollectorDeps
  readonly #graph: OwnershipGraph

  constructor(deps: GarbageCollectorDeps, graph: OwnershipGraph) {
    this.#deps = deps
    this.#graph = graph
  }

  async reconcile({ name: uid }: ObjectKey, signal: AbortSignal): Promise<undefined> {
    await this.#deps.feed.told()
    const facts = this.#graph.find(uid)
    const live = facts && (await this.#read(facts, signal))
    if (facts === undefined || live === undefined) return undefined
    const { deletionTimestamp, finalizers = [] } = live.metadata
    if (deletionTimestamp === undefined) await this.#collect(facts, live, signal)
    else if (finalizers.includes(orphanFinalizer)) await this.#orphanDependents(facts, signal)
    else if (finalizers.includes(foregroundFinalizer)) await this.#letGo(facts, signal)
    return undefined
  }

  /** The very object, or undefined if it has gone (another one of that name is not it). */
  async #read(
    { resource, namespace, name, uid }: OwnershipFacts,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    const live = await this.#find(resource, namespace, name, signal)
    return live?.metadata.uid === uid ? live : undefined
  }

  async #find(
    resource: OwnershipFacts['resource'],
    namespace: string,
    name: string,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    return findObject(this.#deps.client, resource, { name, ...(namespace ? { namespace } : {}) }, { signal })
  }

  async #collect(facts: OwnershipFacts, live: KubeObject, signal: AbortSignal): Promise<void> {
    const owners = live.metadata.ownerReferences ?? []
    const classified = owners.length > 0 ? await this.#classify(facts, live, owners, signal) : undefined
    if (classified === undefined) return
    const { solid, dangling, waiting } = classified
    if (solid.length > 0) {
      const lost = new Set([...dangling, ...waiting].map((owner) => owner.uid))
      if (lost.size > 0) await this.#rewriteOwners(facts, (refs) => refs.filter((ref) => !lost.has(ref.uid)), signal)
      return
    }
    const dependents = this.#graph.dependentsOf(facts.uid)
    if (waiting.length > 0 && dependents.length > 0) {
      // A cycle: a dependent below waits for its own dependents too. Waiting for each other must end.
      const circle = dependents.some((dependent) => dependent.awaits === 'foreground')
      const unblocked = circle ? await this.#rewriteOwners(facts, withoutBlocking, signal) : live
      if (unblocked !== undefined) await this.#remove(facts, unblocked, 'Foreground', signal)
      return
    }
    await this.#remove(facts, live, policyOf(live), signal)
  }

  /** Undefined if the object can never be collected. @throws Error while an owner's kind is not served */
  async #classify(
    facts: OwnershipFacts,
    live: KubeObject,
    owners: readonly OwnerReference[],
    signal: AbortSignal,
  ): Promise<Classified | undefined> {
    const solid: OwnerReference[] = []
    const dangling: OwnerReference[] = []
    const waiting: OwnerReference[] = []
    for (const [i, owner] of owners.entries()) {
      // An object may name thousands, and each is looked up by a request that is answered in the same turn.
      if (i > 0) await setImmediate()
      const kind = await this.#deps.client.discovery.findKind(owner.apiVersion, owner.kind)
      if (kind === undefined) throw new Error(`nobody serves ${owner.apiVersion} ${owner.kind}, the kind of an owner`)
      if (kind.namespaced && !facts.resource.namespaced) {
        await this.#reportInvalid(facts, live, owner)
        return undefined
      }
      const found = await this.#findOwner(facts, kind, owner, signal)
      if (found === undefined) {
        dangling.push(owner)
        await this.#reportElsewhere(facts, live, kind, owner, signal)
      } else if (awaitsDependents(found)) waiting.push(owner)
      else solid.push(owner)
    }
    return { solid, dangling, waiting }
  }

  async #findOwner(
    { namespace }: OwnershipFacts,
    kind: ServedKind,
    { name, uid }: OwnerReference,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    if (this.#graph.isGone(uid)) return undefined
    const found = await this.#find(kind, kind.namespaced ? namespace : '', name, signal)
    return found?.metadata.uid === uid ? found : undefined
  }

  /** Tells the author of a reference into another namespace why the object is about to go. */
  async #reportElsewhere(
    facts: OwnershipFacts,
    live: KubeObject,
    kind: ServedKind,
    owner: OwnerReference,
    signal: AbortSignal,
  ): Promise<void> {
    if (!kind.namespaced || this.#graph.isGone(owner.uid)) return
    const { items } = await this.#deps.client.list(kind, { fieldSelector: `metadata.name=${owner.name}`, signal })
    if (items.some((item) => item.metadata.uid === owner.uid)) await this.#reportInvalid(facts, live, owner)
  }

  async #reportInvalid(
    { resource, namespace }: OwnershipFacts,
    live: KubeObject,
    owner: OwnerReference,
  ): Promise<void> {
    const { apiVersion, kind, name, uid } = owner
    await this.#deps.events.record({
      object: { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: live.metadata },
      namespace: namespace || 'default',
      type: 'Warning',
      reason: 'OwnerRefInvalidNamespace',
      message:
        `ownerRef [${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}] does not exist ` +
        `in namespace ${JSON.stringify(namespace)}`,
    })
  }

  /** Only as it was judged: if it has changed since, the key comes again. */
  async #remove(
    { resource, namespace, name }: OwnershipFacts,
    judged: KubeObject,
    propagationPolicy: NonNullable<DeleteOptions['propagationPolicy']>,
    signal: AbortSignal,
  ): Promise<void> {
    const { uid, resourceVersion } = judged.metadata
    const preconditions = { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) }
    try {
      await this.#deps.client.delete(
        resource,
        { name, ...(namespace ? { namespace } : {}) },
        { propagationPolicy, preconditions, signal },
      )
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  async #orphanDependents(facts: OwnershipFacts, signal: AbortSignal): Promise<void> {
    await this.#deps.feed.refresh()
    const waiting = [...this.#graph.dependentsOf(facts.uid)]
    const free = async (): Promise<void> => {
      for (let dependent = waiting.pop(); dependent !== undefined; dependent = waiting.pop()) {
        await this.#rewriteOwners(dependent, (refs) => refs.filter((ref) => ref.uid !== facts.uid), signal)
      }
    }
    await Promise.all(Array.from({ length: Math.min(parallelOrphans, waiting.length) }, free))
    await this.#removeFinalizer(facts, orphanFinalizer, signal)
  }

  /** Lets an object go for which nothing has to go first. Otherwise the last such dependent brings the key again. */
  async #letGo(facts: OwnershipFacts, signal: AbortSignal): Promise<void> {
    await this.#deps.feed.refresh()
    const blocked = this.#graph.dependentsOf(facts.uid).some((dependent) => isBlockedBy(facts, dependent))
    if (!blocked) await this.#removeFinalizer(facts, foregroundFinalizer, signal)
  }

  #rewriteOwners(
    facts: OwnershipFacts,
    change: (owners: OwnerReference[]) => OwnerReference[],
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    return this.#patchMetadata(
      facts,
      ({ ownerReferences = [] }) => {
        const next = change(ownerReferences)
        const same = next.length === ownerReferences.length && next.every((ref, i) => ref === ownerReferences[i])
        return same ? undefined : { ownerReferences: next.length > 0 ? next : null }
      },
      signal,
    )
  }

  #removeFinalizer(facts: OwnershipFacts, finalizer: string, signal: AbortSignal): Promise<KubeObject | undefined> {
    return this.#patchMetadata(
      facts,
      ({ finalizers = [] }) =>
        finalizers.includes(finalizer) ? { finalizers: finalizers.filter((f) => f !== finalizer) } : undefined,
      signal,
    )
  }

  /** The object as it is then; undefined if it has gone. `change` answers undefined if there is nothing to do. */
  async #patchMetadata(
    facts: OwnershipFacts,
    change: (metadata: KubeObject['metadata']) => object | undefined,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    const { resource, namespace, name } = facts
    for (let tries = 1; ; tries++) {
      const live = await this.#read(facts, signal)
      const metadata = live && change(live.metadata)
      if (live === undefined || metadata === undefined) return live
      try {
        const patch = { metadata: { ...metadata, resourceVersion: live.metadata.resourceVersion } }
        return await this.#deps.client.patch(resource, { name, ...(namespace ? { namespace } : {}) }, patch, { signal })
      } catch (error) {
        if (isNotFound(error)) return undefined
        if (!isConflict(error) || tries === writeTries) throw error
      }
    }
  }
}

/**
 * A reference holds up only the owner that it names: in the namespace of the dependent, or cluster-scoped, and of that
 * kind and name. One that merely has the uid dangles, wherever it stands.
 */
function isBlockedBy({ resource, namespace, name, uid }: OwnershipFacts, dependent: OwnershipFacts): boolean {
  if (namespace !== '' && dependent.namespace !== namespace) return false
  return dependent.owners.some(
    (owner) =>
      owner.blockOwnerDeletion === true &&
      owner.uid === uid &&
      owner.name === name &&
      owner.kind === resource.kind &&
      parseApiVersion(owner.apiVersion)?.group === resource.group,
  )
}

const withoutBlocking = (owners: OwnerReference[]): OwnerReference[] =>
  owners.map((owner) => (owner.blockOwnerDeletion ? { ...owner, blockOwnerDeletion: false } : owner))

const awaitsDependents = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(foregroundFinalizer)

/** As the object's own finalizers say. */
function policyOf({ metadata }: KubeObject): NonNullable<DeleteOptions['propagationPolicy']> {
  if (metadata.finalizers?.includes(orphanFinalizer)) return 'Orphan'
  return metadata.finalizers?.includes(foregroundFinalizer) ? 'Foreground' : 'Background'
}
