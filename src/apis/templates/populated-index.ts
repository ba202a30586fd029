/**
 * What is there of what templates made: a small entry per object with a template label, kept true by one watch per
 * templated kind. It notices drift without reading anything. Whether an object is ours says the applied record, which
 * the index joins to it (`applied-records.ts`).
 *
 * An entry carries a digest of what the object says. A change that leaves the digest as it is (status, managed fields:
 * a quota's `used` moves with every pod) is not drift, and what was applied once and still says the same is not applied
 * again.
 */
import { type Clock, sleep } from '../../base/clock.ts'
import type { Client, ServedKind } from '../../client/client.ts'
import { Informer } from '../../client/informer.ts'
import type { GroupVersionResource } from '../../kube/gvk.ts'
import { nameOf, uidOf } from '../../kube/metadata.ts'
import { findStatusError } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { AppliedObject, AppliedRecords, RecordListener } from './applied-records.ts'
import { heldDigest } from './held-config.ts'
import { Holdings } from './holdings.ts'
import { contentDigest, isMarked } from './marks.ts'
import {
  believed,
  type MarkedObjects,
  objectPlace,
  type PopulatedChanges,
  type PopulatedObject,
  type PopulatedObjects,
  type Written,
} from './populated-objects.ts'
import { templateNameLabel } from './types.ts'

export interface PopulatedIndexDeps extends PopulatedChanges {
  readonly client: Client
  readonly clock: Clock
  readonly onError: (error: unknown) => void
  /** What says which objects are ours. Absent where it can't be read: then what is marked as ours is believed. */
  readonly records?: Pick<AppliedRecords, 'of'>
  /** Another way to the digests of an object, of whatever it knows. */
  readonly digests?: {
    of(object: KubeObject, kind: ServedKind): Pick<PopulatedObject, 'digest' | 'held' | 'unplaced'> | undefined
  }
}

interface Change {
  readonly next: KubeObject | undefined
  readonly old: KubeObject | undefined
}

const groupResource = (r: GroupVersionResource): string => `${r.group}/${r.resource}`
interface Watched {
  readonly informer: Informer
  /** Settles when it has been listed once, or the server refused to. */
  readonly answered: Promise<void>
}

/** Namespaces looked at before other work has a turn. */
const lookedAtOnce = 100

/**
 * The server says that it can't be told, which may be so for long (no right to it, a webhook that converts it is down,
 * one damaged object) and must keep nothing else waiting. What it says of too many requests it says of all.
 */
export function isRefusal(error: unknown): boolean {
  const code = findStatusError(error)?.code
  return code !== undefined && code !== 429
}

export class PopulatedIndex implements PopulatedObjects {
  readonly #deps: PopulatedIndexDeps
  /** namespace → `group/resource/name` → object */
  readonly #byNamespace = new Map<string, Map<string, PopulatedObject>>()
  readonly holdings: Holdings
  readonly recorded: RecordListener
  readonly #watched = new Map<string, Watched>()
  /** Objects that we are writing, with what the watch said of them meanwhile: at most a few events each. */
  readonly #writing = new Map<string, Change[]>()

  constructor(deps: PopulatedIndexDeps) {
    this.#deps = deps
    this.holdings = new Holdings(deps.onLeft)
    this.recorded = this.holdings.changed.bind(this.holdings)
  }

  /** The watches begin as kinds are asked for. */
  async run(): Promise<void> {}

  async watchKind(kind: ServedKind, signal: AbortSignal): Promise<boolean> {
    const key = groupResource(kind)
    const watched = this.#watched.get(key) ?? this.#follow(kind, signal)
    this.#watched.set(key, watched)
    await watched.answered
    return watched.informer.synced
  }

  #follow(kind: ServedKind, signal: AbortSignal): Watched {
    let refused: () => void = () => {}
    const refusal = new Promise<void>((resolve) => {
      refused = resolve
    })
    const informer: Informer = new Informer({
      client: this.#deps.client,
      clock: this.#deps.clock,
      resource: kind,
      labelSelector: templateNameLabel,
      keep: (object) => this.#kept(kind, object),
      onChange: (next, old) => this.#seen(kind, next, old),
      onError: (error) => {
        if (isRefusal(error)) refused()
        this.#deps.onError(error)
      },
    })
    void informer.run(signal)
    return { informer, answered: Promise.race([informer.whenSynced(), refusal]) }
  }

  /** The watches tell of each object, whatever was recorded of it. */
  recordsRead(): void {}

  find(resource: GroupVersionResource, namespace: string, name: string): PopulatedObject | undefined {
    return this.#byNamespace.get(namespace)?.get(`${groupResource(resource)}/${name}`)
  }

  claimsIn(namespace: string): readonly AppliedObject[] {
    if (this.#deps.records !== undefined) return this.#deps.records.of(namespace)
    return [...this.livesIn(namespace)].flatMap(believed)
  }

  async *marked(kinds: ReadonlySet<string>): AsyncIterable<MarkedObjects> {
    let looked = 0
    for (const [namespace, lives] of [...this.#byNamespace]) {
      if (++looked % lookedAtOnce === 0) await sleep(this.#deps.clock, 0)
      const objects = [...lives.values()].flatMap(believed)
      yield { namespace, objects: objects.filter(({ apiVersion, kind }) => kinds.has(`${apiVersion}/${kind}`)) }
    }
  }

  livesIn(namespace: string): Iterable<PopulatedObject> {
    return this.#byNamespace.get(namespace)?.values() ?? []
  }

  mustAsk(namespace: string): boolean {
    for (const { held } of this.livesIn(namespace)) if (held !== undefined) return true
    return false
  }

  writing(kind: ServedKind, namespace: string, name: string): Written {
    const place = objectPlace(kind, namespace, name)
    const meanwhile: Change[] = []
    this.#writing.set(place, meanwhile)
    return (written) => {
      this.#writing.delete(place)
      if (written !== undefined) {
        const { resourceVersion } = written.object.metadata
        // Mostly the watch was faster, and has it ready.
        const seen = meanwhile.find((change) => change.next?.metadata.resourceVersion === resourceVersion)?.next
        this.#put(kind, seen ?? this.#entryOf(kind, written.object), written.config, written.extended)
      }
      for (const { next, old } of meanwhile) this.#seen(kind, next, old)
    }
  }

  upToDate({ held: _, ...object }: PopulatedObject, config: string): void {
    const key = `${groupResource(object.resource)}/${object.name}`
    this.#byNamespace.get(object.namespace)?.set(key, { ...object, applied: config })
  }

  /** What we did the record tells; what is not as it says, the object itself must. */
  #kept(kind: ServedKind, object: KubeObject): KubeObject {
    const { namespace = '', uid } = object.metadata
    const name = nameOf(object.metadata)
    const entry = this.#entryOf(kind, object)
    if (this.#deps.digests !== undefined) return entry
    const isKnown =
      this.#writing.has(objectPlace(kind, namespace, name)) ||
      this.find(kind, namespace, name)?.uid === uid ||
      this.#recordedConfig(entry) !== undefined
    return isKnown || !isMarked(object) ? entry : { ...entry, held: heldDigest(object, kind) }
  }

  #entryOf(kind: ServedKind, object: KubeObject): KubeObject {
    const digests = this.#deps.digests?.of(object, kind) ?? { digest: contentDigest(object) }
    return { ...entryOf(object), ...digests }
  }

  /** What was applied to this very object, if it still says what it said then. */
  #recordedConfig({ metadata, digest }: KubeObject): string | undefined {
    const { namespace = '', uid } = metadata
    const claim = this.#deps.records?.of(namespace).find((o) => o.uid === uid)
    return claim?.content === digest ? claim?.digest : undefined
  }

  #seen(kind: ServedKind, next: KubeObject | undefined, old: KubeObject | undefined): void {
    const { namespace = '', name = '', uid, resourceVersion = '' } = (next ?? old)?.metadata ?? {}
    const meanwhile = this.#writing.get(objectPlace(kind, namespace, name))
    if (meanwhile !== undefined) {
      meanwhile.push({ next, old })
      return
    }
    const known = this.find(kind, namespace, name)
    if (next === undefined) {
      if (known === undefined || known.uid !== uid) return
      this.#drop(namespace, `${groupResource(kind)}/${name}`)
      this.#deps.onDrift(namespace)
      return
    }
    if (known !== undefined && !isNewer(resourceVersion, known.revision)) return
    const same = known !== undefined && known.uid === uid && known.digest === next['digest']
    const recorded = same ? known.applied : this.#recordedConfig(next)
    this.#put(kind, next, recorded, same ? known.extended : undefined)
    if (same) return
    if (recorded === undefined || known !== undefined) this.#deps.onDrift(namespace)
    else this.#deps.onRecorded(namespace)
  }

  #put(
    kind: ServedKind,
    { metadata, digest, isMarked, held, unplaced }: KubeObject,
    applied: string | undefined,
    extended: string | undefined,
  ): void {
    const { namespace = '', resourceVersion = '', labels } = metadata
    const name = nameOf(metadata)
    const uid = uidOf(metadata)
    const objects = this.#byNamespace.get(namespace) ?? new Map<string, PopulatedObject>()
    this.#byNamespace.set(namespace, objects)
    const key = `${groupResource(kind)}/${name}`
    const object: PopulatedObject = {
      resource: kind,
      kind: kind.kind,
      namespace,
      name,
      uid,
      revision: resourceVersion,
      template: labels?.[templateNameLabel] ?? '',
      isMarked: isMarked === true,
      digest: String(digest),
      ...(applied === undefined ? {} : { applied }),
      ...(typeof held === 'string' ? { held } : {}),
      ...(extended === undefined ? {} : { extended }),
      ...(unplaced === undefined ? {} : { unplaced: unplaced as NonNullable<PopulatedObject['unplaced']> }),
    }
    const old = objects.get(key)
    objects.set(key, object)
    this.#believe(namespace, object, old)
  }

  #drop(namespace: string, key: string): void {
    const objects = this.#byNamespace.get(namespace)
    const old = objects?.get(key)
    if (objects === undefined || old === undefined) return
    objects.delete(key)
    if (objects.size === 0) this.#byNamespace.delete(namespace)
    this.#believe(namespace, undefined, old)
  }

  /** Without a record the marks are counted. */
  #believe(namespace: string, next: PopulatedObject | undefined, old: PopulatedObject | undefined): void {
    if (this.#deps.records !== undefined) return
    this.holdings.changed(namespace, next ? believed(next) : [], old ? believed(old) : [])
  }
}

/** Resource versions are decimal numbers in every server of today (KEP-5504); anything else counts as newer. */
function isNewer(candidate: string, known: string): boolean {
  if (!/^\d+$/.test(candidate) || !/^\d+$/.test(known)) return candidate !== known
  return candidate.length === known.length ? candidate > known : candidate.length > known.length
}

/** What is kept of an object beside its digests: about 300 bytes, whatever its size. */
function entryOf(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = object
  const { name, namespace, uid, resourceVersion, labels } = metadata
  const template = labels?.[templateNameLabel]
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(template === undefined ? {} : { labels: { [templateNameLabel]: template } }),
    },
    isMarked: isMarked(object),
  }
}
