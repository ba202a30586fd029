/**
 * `mirror-pod-controller`: shows the pods that files and a URL describe as mirror pods, in the namespace that belongs
 * to the cluster id, and removes what is described no more. A pod can't change much, so a changed one is made anew.
 *
 *   folder ─┐                                   ┌─ create, if it is not there
 *           ├─▶ wanted, by name ─▶ one by one ──┤  nothing, if its hash is the same
 *   URL ────┘   (the first of a name counts)    └─ remove, if it is another or wanted no more
 *
 * The namespace: the one labelled `borough.dev/cluster-id=<id>`, else the one that is called like it, which is made if
 * need be.
 */
import { aborted } from '../../base/aborted.ts'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { Client } from '../../client/client.ts'
import type { Informer } from '../../client/informer.ts'
import type { ControllerSpec, ObjectKey, Reconciler } from '../../controller/controller.ts'
import { Watches } from '../../controller/watches.ts'
import { findStatusError, isAlreadyExists, isConflict, isNotFound } from '../../kube/status-error.ts'
import { formatTime } from '../../kube/time.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { EventRecorder } from '../events/recorder.ts'
import { inItself } from '../namespaces/event-subject.ts'
import { type Namespace, namespaceResource } from '../namespaces/types.ts'
import { podResource } from '../pods/types.ts'
import { hashOf, type MirrorPod, mirrorPodOf, type SourceKind, sourceOf } from './manifest.ts'
import type { ManifestSource, Manifests } from './manifest-source.ts'

export const mirrorPodControllerName = 'mirror-pod-controller'
export const clusterIdLabel = 'borough.dev/cluster-id'

export interface MirrorPodDeps {
  readonly client: Client
  readonly clock: Clock
  readonly log: Log
  readonly events: EventRecorder
  readonly clusterId: string
  /** In this order: of two pods of one name, that of the earlier source counts. */
  readonly sources: readonly ManifestSource[]
  readonly onError: (error: unknown) => void
}

interface Wanted extends MirrorPod {
  readonly from: string
}

const workers = 4
/** A quota may have room again, an account may have come. */
const refusedRetryMs = 30_000
/** The namespace goes, and then is made again. */
const terminatingRetryMs = 500

export function mirrorPodController(deps: MirrorPodDeps): ControllerSpec {
  const watches = new Watches(deps)
  const pods = watches.on({ resource: podResource, fieldSelector: `spec.nodeName=${deps.clusterId}` }, (next, old) =>
    keyOf((next ?? old)?.metadata.name ?? ''),
  )
  const homes = watches.on(
    {
      resource: namespaceResource,
      labelSelector: `${clusterIdLabel}=${deps.clusterId}`,
      includeUninitialized: true,
    },
    () => mirror.wantedKeys(),
  )
  const mirror = new PodMirror(deps, pods, homes)
  return {
    name: mirrorPodControllerName,
    workers,
    sources: [
      watches,
      {
        async run(_enqueue, signal) {
          // What is there already must be known before anything is found missing.
          await Promise.race([Promise.all([pods.whenSynced(), homes.whenSynced()]), aborted(signal)])
          if (signal.aborted) return
          const follow = (source: ManifestSource): Promise<void> =>
            source.run((manifests) => watches.enqueue(mirror.read(source, manifests)), signal)
          await Promise.all(deps.sources.map(follow))
        },
      },
    ],
    reconciler: mirror,
  }
}

const keyOf = (name: string): ObjectKey | undefined => (name === '' ? undefined : { namespace: '', name })

type Outcome = { readonly requeueAfterMs: number } | undefined

class PodMirror implements Reconciler {
  readonly #deps: MirrorPodDeps
  readonly #pods: Informer
  readonly #homes: Informer
  readonly #faults: Faults
  readonly #read = new Map<SourceKind, Manifests>()
  #wanted: ReadonlyMap<string, Wanted> = new Map()

  constructor(deps: MirrorPodDeps, pods: Informer, homes: Informer) {
    this.#deps = deps
    this.#pods = pods
    this.#homes = homes
    this.#faults = new Faults(deps, () =>
      this.#wanted.size > 0 ? this.#home(new AbortController().signal) : Promise.resolve(deps.clusterId),
    )
  }

  wantedKeys(): ObjectKey[] {
    return [...this.#wanted.keys()].map((name) => ({ namespace: '', name }))
  }

  /** A source was read: answers the pods that may differ now. */
  read(source: ManifestSource, manifests: Manifests): ObjectKey[] {
    const { clusterId, clock, sources } = this.#deps
    this.#read.set(source.kind, manifests)
    const before = this.#wanted
    const found = sources.flatMap(({ kind }) => this.#read.get(kind)?.faults ?? [])
    const wanted = new Map<string, Wanted>()
    for (const { kind } of sources) {
      for (const { pod, from } of this.#read.get(kind)?.pods ?? []) {
        const mirror = mirrorPodOf(pod, kind, clusterId, formatTime(clock.now()))
        const first = wanted.get(mirror.name)
        if (first === undefined) wanted.set(mirror.name, { ...mirror, from })
        else {
          const problem = `pod ${pod.metadata.name} is described in ${first.from} already, and that one counts`
          found.push({ from, problem })
        }
      }
    }
    this.#wanted = wanted
    this.#faults.told(found)
    const present = this.#ours().map(({ metadata }) => metadata.name ?? '')
    return [...new Set([...before.keys(), ...wanted.keys(), ...present])].flatMap((name) => keyOf(name) ?? [])
  }

  async reconcile({ name }: ObjectKey, signal: AbortSignal): Promise<Outcome> {
    const want = this.#wanted.get(name)
    const present = this.#ours().filter((pod) => pod.metadata.name === name)
    const namespace = want && (await this.#home(signal))
    let isThere = false
    for (const pod of present) {
      const { namespace: its, deletionTimestamp } = pod.metadata
      if (want && its === namespace && hashOf(pod) === want.hash && deletionTimestamp === undefined) isThere = true
      else if (want || this.#isKnown(sourceOf(pod) ?? 'file')) await this.#remove(pod, signal)
    }
    if (want === undefined || namespace === undefined || isThere) return undefined
    return this.#create(want, namespace, signal)
  }

  #ours(): KubeObject[] {
    return [...this.#pods.values()].filter((pod) => sourceOf(pod) !== undefined)
  }

  /** Of a source that is read no more nothing is left; of one that could not be read yet, everything stays. */
  #isKnown(kind: SourceKind): boolean {
    const manifests = this.#read.get(kind)
    return !this.#deps.sources.some((s) => s.kind === kind) || (manifests !== undefined && manifests.unread !== true)
  }

  /** The namespace in which the pods are shown, made if need be. */
  async #home(signal: AbortSignal): Promise<string> {
    const { client, clusterId } = this.#deps
    const labelled = [...this.#homes.values()].filter((n) => n.metadata.deletionTimestamp === undefined)
    const names = labelled.map((n) => n.metadata.name ?? '').sort()
    const [first, ...others] = names
    if (first !== undefined) {
      const problem = `namespaces ${names.join(', ')} are all labelled ${clusterIdLabel}=${clusterId}: ${first} counts`
      this.#faults.one('the namespace of the cluster id', others.length > 0 ? problem : undefined)
      return first
    }
    try {
      await client.get(namespaceResource, { name: clusterId }, { signal })
    } catch (error) {
      if (!isNotFound(error)) throw error
      const metadata = { name: clusterId, labels: { [clusterIdLabel]: clusterId } }
      await client
        .create(namespaceResource, { metadata }, { includeUninitialized: true, signal })
        .catch((refusal: unknown) => {
          if (!isAlreadyExists(refusal)) throw refusal
        })
    }
    return clusterId
  }

  async #remove({ metadata }: KubeObject, signal: AbortSignal): Promise<void> {
    const { namespace = '', name = '', uid = '' } = metadata
    const options = { gracePeriodSeconds: 0, preconditions: { uid }, signal }
    try {
      await this.#deps.client.delete(podResource, { namespace, name }, options)
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  }

  async #create(want: Wanted, namespace: string, signal: AbortSignal): Promise<Outcome> {
    const { object, name, from } = want
    const about = `pod ${name} of ${from}`
    try {
      const metadata = { ...object.metadata, namespace }
      await this.#deps.client.create(podResource, { ...object, metadata }, { signal })
    } catch (error) {
      if (isAlreadyExists(error)) return this.#taken(want, namespace, { error, signal })
      const { code = 0, details } = findStatusError(error) ?? {}
      if (details?.causes?.some((c) => c.reason === 'NamespaceTerminating')) {
        return { requeueAfterMs: terminatingRetryMs }
      }
      if (code !== 400 && code !== 403 && code !== 422) throw error
      this.#faults.one(about, error instanceof Error ? error.message : String(error))
      return { requeueAfterMs: refusedRetryMs }
    }
    this.#faults.one(about, undefined)
    return undefined
  }

  /** A pod of that name is there. */
  async #taken(
    { name, hash, from }: Wanted,
    namespace: string,
    { error, signal }: { readonly error: unknown; readonly signal: AbortSignal },
  ): Promise<Outcome> {
    const there = await this.#deps.client.get(podResource, { namespace, name }, { signal })
    if (sourceOf(there) !== undefined) {
      // Ours: the watch is behind, and what comes next brings the name back.
      if (hashOf(there) === hash) return undefined
      throw error
    }
    const problem = `a pod of that name is in namespace ${namespace} already, and is not a mirror pod`
    this.#faults.one(`pod ${name} of ${from}`, problem)
    return { requeueAfterMs: refusedRetryMs }
  }
}

/** What is wrong with manifests: told once in the log and as an Event, and again when it changes. */
class Faults {
  readonly #deps: MirrorPodDeps
  /** Name of the namespace in which it is told; made, if pods are to be shown in it. */
  readonly #home: () => Promise<string>
  readonly #told = new Map<string, string>()
  #ofSources: ReadonlySet<string> = new Set()

  constructor(deps: MirrorPodDeps, home: () => Promise<string>) {
    this.#deps = deps
    this.#home = home
  }

  /** All that the sources complain of now. */
  told(faults: readonly { readonly from: string; readonly problem: string }[]): void {
    const now = new Set(faults.map((f) => f.from))
    for (const from of this.#ofSources) if (!now.has(from)) this.one(from, undefined)
    for (const { from, problem } of faults) this.one(from, problem)
    this.#ofSources = now
  }

  /** undefined = nothing is wrong any more. */
  one(from: string, problem: string | undefined): void {
    if (this.#told.get(from) === problem) return
    if (problem === undefined) {
      this.#told.delete(from)
      return
    }
    this.#told.set(from, problem)
    this.#deps.log.warn({ manifest: from, problem }, 'a manifest of pods can not be shown')
    void this.#record(`${from}: ${problem}`)
  }

  async #record(message: string): Promise<void> {
    const { client, events, onError } = this.#deps
    try {
      const about: Namespace = await client
        .get(namespaceResource, { name: await this.#home() })
        .catch((error: unknown) => {
          if (findStatusError(error) === undefined) throw error
          return client.get(namespaceResource, { name: 'default' })
        })
      await events.record({
        object: inItself(about),
        namespace: about.metadata.name ?? '',
        type: 'Warning',
        reason: 'FailedManifest',
        message,
      })
    } catch (error) {
      onError(error)
    }
  }
}
