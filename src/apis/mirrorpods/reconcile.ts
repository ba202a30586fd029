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
import { Informer } from '../../client/informer.ts'
import type { ControllerSpec, ObjectKey, Source } from '../../controller/controller.ts'
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
  const { client, clock, clusterId, sources } = deps
  const faults = new Faults(deps, () => (wanted.size > 0 ? home(running) : Promise.resolve(clusterId)))
  const read = new Map<SourceKind, Manifests>()
  let wanted = new Map<string, Wanted>()
  let enqueueName = (_name: string): void => {}
  let running: AbortSignal = new AbortController().signal

  const pods = new Informer({
    client,
    clock,
    resource: podResource,
    fieldSelector: `spec.nodeName=${clusterId}`,
    onError: deps.onError,
    onChange: (next, old) => enqueueName((next ?? old)?.metadata.name ?? ''),
  })
  const homes = new Informer({
    client,
    clock,
    resource: namespaceResource,
    labelSelector: `${clusterIdLabel}=${clusterId}`,
    includeUninitialized: true,
    onError: deps.onError,
    onChange() {
      for (const name of wanted.keys()) enqueueName(name)
    },
  })
  const ours = (): KubeObject[] => [...pods.values()].filter((pod) => sourceOf(pod) !== undefined)

  const changed = (source: ManifestSource, manifests: Manifests): void => {
    read.set(source.kind, manifests)
    const before = wanted
    const found = sources.flatMap(({ kind }) => read.get(kind)?.faults ?? [])
    wanted = new Map()
    for (const { kind } of sources) {
      for (const { pod, from } of read.get(kind)?.pods ?? []) {
        const mirror = mirrorPodOf(pod, kind, clusterId, formatTime(clock.now()))
        const first = wanted.get(mirror.name)
        if (first === undefined) wanted.set(mirror.name, { ...mirror, from })
        else
          found.push({
            from,
            problem: `pod ${pod.metadata.name} is described in ${first.from} already, and that one counts`,
          })
      }
    }
    faults.told(found)
    for (const name of new Set([...before.keys(), ...wanted.keys(), ...ours().map((p) => p.metadata.name ?? '')])) {
      enqueueName(name)
    }
  }

  /** Of a source that is read no more nothing is left; of one that could not be read yet, everything stays. */
  const isKnown = (kind: SourceKind): boolean => {
    const manifests = read.get(kind)
    return !sources.some((s) => s.kind === kind) || (manifests !== undefined && manifests.unread !== true)
  }

  const home = async (signal: AbortSignal): Promise<string> => {
    const labelled = [...homes.values()].filter((n) => n.metadata.deletionTimestamp === undefined)
    const names = labelled.map((n) => n.metadata.name ?? '').sort()
    const [first, ...others] = names
    if (first !== undefined) {
      const problem = `namespaces ${names.join(', ')} are all labelled ${clusterIdLabel}=${clusterId}: ${first} counts`
      faults.one('the namespace of the cluster id', others.length > 0 ? problem : undefined)
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

  const remove = async ({ metadata }: KubeObject, signal: AbortSignal): Promise<void> => {
    const { namespace = '', name = '', uid = '' } = metadata
    try {
      await client.delete(podResource, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid }, signal })
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  }

  const create = async (
    { object, name, hash, from }: Wanted,
    namespace: string,
    signal: AbortSignal,
  ): Promise<{ readonly requeueAfterMs: number } | undefined> => {
    const about = `pod ${name} of ${from}`
    try {
      await client.create(podResource, { ...object, metadata: { ...object.metadata, namespace } }, { signal })
    } catch (error) {
      const { code = 0, details } = findStatusError(error) ?? {}
      if (isAlreadyExists(error)) {
        const there = await client.get(podResource, { namespace, name }, { signal })
        if (sourceOf(there) !== undefined) {
          // Ours: the picture of what is there is behind, and what comes next brings the name back.
          if (hashOf(there) === hash) return undefined
          throw error
        }
        faults.one(about, `a pod of that name is in namespace ${namespace} already, and is not a mirror pod`)
        return { requeueAfterMs: refusedRetryMs }
      }
      if (details?.causes?.some((c) => c.reason === 'NamespaceTerminating'))
        return { requeueAfterMs: terminatingRetryMs }
      if (code !== 400 && code !== 403 && code !== 422) throw error
      faults.one(about, error instanceof Error ? error.message : String(error))
      return { requeueAfterMs: refusedRetryMs }
    }
    faults.one(about, undefined)
    return undefined
  }

  const reconcile = async (
    { name }: ObjectKey,
    signal: AbortSignal,
  ): Promise<{ readonly requeueAfterMs: number } | undefined> => {
    const want = wanted.get(name)
    const present = ours().filter((pod) => pod.metadata.name === name)
    const namespace = want && (await home(signal))
    let isThere = false
    for (const pod of present) {
      const { namespace: its, deletionTimestamp } = pod.metadata
      if (want && its === namespace && hashOf(pod) === want.hash && deletionTimestamp === undefined) isThere = true
      else if (want || isKnown(sourceOf(pod) ?? 'file')) await remove(pod, signal)
    }
    if (want === undefined || namespace === undefined || isThere) return undefined
    return create(want, namespace, signal)
  }

  const source: Source = {
    async run(enqueue, signal) {
      running = signal
      const informers = [pods.run(signal), homes.run(signal)]
      // What is there already must be known before anything is found missing.
      await Promise.race([Promise.all([pods.whenSynced(), homes.whenSynced()]), aborted(signal)])
      enqueueName = (name) => {
        if (name !== '') enqueue({ namespace: '', name })
      }
      for (const pod of ours()) enqueueName(pod.metadata.name ?? '')
      await Promise.all([...informers, ...sources.map((s) => s.run((manifests) => changed(s, manifests), signal))])
    },
  }

  return { name: mirrorPodControllerName, workers, sources: [source], reconciler: { reconcile } }
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
        .catch(() => client.get(namespaceResource, { name: 'default' }))
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
