/**
 * What templates have put where: a small record per populated object, kept true by one watch per templated kind that
 * selects on the template label. It finds leftovers to prune and notices drift without reading anything.
 *
 * A record carries a digest of what the object says. A change that leaves the digest as it is (status, managed fields:
 * a quota's `used` moves with every pod) is not drift, and what was applied once and still says the same is not applied
 * again.
 */
import type { Clock } from '../../base/clock.ts'
import type { Client, ServedKind } from '../../client/client.ts'
import { Informer } from '../../client/informer.ts'
import { apiVersionOf, type GroupVersionResource } from '../../kube/gvk.ts'
import { findStatusError } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Births } from './births.ts'
import { digestOf } from './digest.ts'
import { heldDigest } from './held-config.ts'
import { templateFieldManager, templateNameLabel } from './types.ts'

export interface PopulatedObject {
  readonly resource: GroupVersionResource
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** resourceVersion as last seen or written. */
  readonly revision: string
  readonly template: string
  /** An Apply entry of ours is on it. The label alone proves nothing: anybody may set it. */
  readonly isOurs: boolean
  /** Of all that it says, status and bookkeeping left out. */
  readonly digest: string
  /** What we applied last (`Rendered.config`), if nothing changed since. */
  readonly applied?: string
  /** The same, as the object itself tells it: see `held-config.ts`. Only of what this process did not apply. */
  readonly held?: string
}

/** As `identityOf` says it of what is wanted. */
export const identityOfPopulated = ({ resource, kind, name }: PopulatedObject): string =>
  `${resource.group}/${kind}/${name}`

export interface PopulatedIndexDeps {
  readonly client: Client
  readonly clock: Clock
  /** Somebody other than us changed or removed a populated object. */
  readonly onDrift: (namespace: string) => void
  /** One was born with its namespace, in this process. */
  readonly onBorn?: (namespace: string) => void
  readonly onError: (error: unknown) => void
  /** What came into being with its namespace, in this process. */
  readonly births?: Births | undefined
}

/** Ends the time in which the watch is not listened to for one object. `applied`: what the server answered. */
export type Written = (written?: { readonly object: KubeObject; readonly config: string }) => void

interface Change {
  readonly next: KubeObject | undefined
  readonly old: KubeObject | undefined
}

const groupResource = (r: GroupVersionResource): string => `${r.group}/${r.resource}`
const placeOf = (r: GroupVersionResource, namespace: string, name: string): string =>
  `${groupResource(r)}/${namespace}/${name}`

interface Watched {
  readonly informer: Informer
  /** Settles when it has been listed once, or the server refused to. */
  readonly answered: Promise<void>
}

/** Said of this kind, and not likely to be otherwise in a moment. */
export function isRefusal(error: unknown): boolean {
  const code = findStatusError(error)?.code
  return code === 403 || code === 404 || code === 405 || code === 503
}

export class PopulatedIndex {
  readonly #deps: PopulatedIndexDeps
  /** namespace → `group/resource/name` → object */
  readonly #byNamespace = new Map<string, Map<string, PopulatedObject>>()
  /** template → what it made: how many objects per namespace, and per kind. */
  readonly #byTemplate = new Map<string, { readonly namespaces: Counter; readonly kinds: Counter }>()
  readonly #watched = new Map<string, Watched>()
  /** Objects that we are writing, with what the watch said of them meanwhile: at most a few events each. */
  readonly #writing = new Map<string, Change[]>()

  constructor(deps: PopulatedIndexDeps) {
    this.#deps = deps
  }

  /**
   * Watches a kind from now on. Resolves with true when what exists of it is known, with false when the server refuses
   * to say (no right to read it, an API that is gone or down): that must not keep other kinds waiting. Ask again then.
   */
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
      // What we did nobody else remembers; what others did before us, or at a birth, the object itself must tell.
      keep: (object) => (this.#isKnown(kind, object) ? stub(object) : withHeld(object, kind)),
      onChange: (next, old) => this.#seen(kind, next, old),
      onError: (error) => {
        if (isRefusal(error)) refused()
        this.#deps.onError(error)
      },
    })
    void informer.run(signal)
    return { informer, answered: Promise.race([informer.whenSynced(), refusal]) }
  }

  find(resource: GroupVersionResource, namespace: string, name: string): PopulatedObject | undefined {
    return this.#byNamespace.get(namespace)?.get(`${groupResource(resource)}/${name}`)
  }

  /** What templates made there. */
  oursIn(namespace: string): PopulatedObject[] {
    return [...(this.#byNamespace.get(namespace)?.values() ?? [])].filter((o) => o.isOurs)
  }

  /** Namespaces that hold objects which a template made. */
  namespacesOf(template: string): Iterable<string> {
    return this.#byTemplate.get(template)?.namespaces.keys() ?? []
  }

  holds(template: string, namespace: string): boolean {
    return this.#byTemplate.get(template)?.namespaces.has(namespace) ?? false
  }

  /** Kinds of which there are objects that a template made: `networking.k8s.io/v1/NetworkPolicy`. */
  kindsOf(template: string): Iterable<string> {
    return this.#byTemplate.get(template)?.kinds.keys() ?? []
  }

  /**
   * We are about to write it: until the answer is in hand, the watch can't be told from somebody else's change. Call
   * what comes back exactly once.
   */
  writing(kind: ServedKind, namespace: string, name: string): Written {
    const place = placeOf(kind, namespace, name)
    const meanwhile: Change[] = []
    this.#writing.set(place, meanwhile)
    return (written) => {
      this.#writing.delete(place)
      if (written !== undefined) {
        const { resourceVersion } = written.object.metadata
        // Mostly the watch was faster, and has it ready.
        const seen = meanwhile.find((change) => change.next?.metadata.resourceVersion === resourceVersion)?.next
        this.#put(kind, seen ?? stub(written.object), written.config)
      }
      for (const { next, old } of meanwhile) this.#seen(kind, next, old)
    }
  }

  /** Applying `config` would change nothing. */
  upToDate({ held: _, ...object }: PopulatedObject, config: string): void {
    const key = `${groupResource(object.resource)}/${object.name}`
    this.#byNamespace.get(object.namespace)?.set(key, { ...object, applied: config })
  }

  forgot({ resource, namespace, name }: PopulatedObject): void {
    this.#drop(namespace, `${groupResource(resource)}/${name}`)
  }

  #isKnown(kind: ServedKind, { metadata }: KubeObject): boolean {
    const { namespace = '', name = '', uid } = metadata
    if (this.#writing.has(placeOf(kind, namespace, name))) return true
    if (this.#deps.births?.configOf(metadata) !== undefined) return true
    return this.find(kind, namespace, name)?.uid === uid
  }

  #seen(kind: ServedKind, next: KubeObject | undefined, old: KubeObject | undefined): void {
    const { namespace = '', name = '', uid, resourceVersion = '' } = (next ?? old)?.metadata ?? {}
    const meanwhile = this.#writing.get(placeOf(kind, namespace, name))
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
    const born = this.#deps.births?.configOf(next.metadata)
    this.#deps.births?.forget(uid ?? '')
    this.#put(kind, next, same ? known.applied : born)
    if (same) return
    if (born === undefined) this.#deps.onDrift(namespace)
    else this.#deps.onBorn?.(namespace)
  }

  #put(kind: ServedKind, { metadata, digest, isOurs, held }: KubeObject, applied: string | undefined): void {
    const { namespace = '', name = '', uid = '', resourceVersion = '', labels } = metadata
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
      isOurs: isOurs === true,
      digest: String(digest),
      ...(applied === undefined ? {} : { applied }),
      ...(typeof held === 'string' ? { held } : {}),
    }
    const old = objects.get(key)
    objects.set(key, object)
    this.#count(object, 1)
    if (old !== undefined) this.#count(old, -1)
  }

  #drop(namespace: string, key: string): void {
    const objects = this.#byNamespace.get(namespace)
    const old = objects?.get(key)
    if (objects === undefined || old === undefined) return
    objects.delete(key)
    if (objects.size === 0) this.#byNamespace.delete(namespace)
    this.#count(old, -1)
  }

  #count({ isOurs, template, namespace, resource, kind }: PopulatedObject, step: 1 | -1): void {
    if (!isOurs) return
    const counted = this.#byTemplate.get(template) ?? { namespaces: new Map(), kinds: new Map() }
    this.#byTemplate.set(template, counted)
    add(counted.namespaces, namespace, step)
    add(counted.kinds, `${apiVersionOf(resource)}/${kind}`, step)
    if (counted.namespaces.size === 0) this.#byTemplate.delete(template)
  }
}

type Counter = Map<string, number>

function add(counter: Counter, key: string, step: number): void {
  const n = (counter.get(key) ?? 0) + step
  if (n === 0) counter.delete(key)
  else counter.set(key, n)
}

/** Resource versions are decimal numbers in every server of today (KEP-5504); anything else counts as newer. */
function isNewer(candidate: string, known: string): boolean {
  if (!/^\d+$/.test(candidate) || !/^\d+$/.test(known)) return candidate !== known
  return candidate.length === known.length ? candidate > known : candidate.length > known.length
}

/** Carries our label and an Apply entry of ours. */
export function isOurs({ metadata }: KubeObject): boolean {
  return (
    metadata.labels?.[templateNameLabel] !== undefined &&
    (metadata.managedFields ?? []).some((m) => m.manager === templateFieldManager && m.operation === 'Apply')
  )
}

function withHeld(object: KubeObject, kind: ServedKind): KubeObject {
  const held = isOurs(object) ? heldDigest(object, kind) : undefined
  return held === undefined ? stub(object) : { ...stub(object), held }
}

/** What is kept of an object: about 300 bytes, whatever its size. */
function stub(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, status: _status, ...content } = object
  const { name, namespace, uid, resourceVersion, labels, annotations, deletionTimestamp } = metadata
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
    isOurs: isOurs(object),
    digest: digestOf([labels, annotations, deletionTimestamp, content]),
  }
}
