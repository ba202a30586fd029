/**
 * What templates have put where: a small record per populated object, kept true by one watch per templated kind that
 * selects on the template label. It finds leftovers to prune and notices drift without reading anything.
 */
import type { Clock } from '../../base/clock.ts'
import type { Client, ServedKind } from '../../client/client.ts'
import { Informer } from '../../client/informer.ts'
import type { GroupVersionResource } from '../../kube/gvk.ts'
import type { KubeObject } from '../../kube/types.ts'
import { templateNameLabel } from './types.ts'

export interface PopulatedObject {
  readonly resource: GroupVersionResource
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** resourceVersion as last seen or written. */
  readonly revision: string
  readonly template: string
}

export interface PopulatedIndexDeps {
  readonly client: Client
  readonly clock: Clock
  /** Somebody other than us changed or removed a populated object. */
  readonly onDrift: (namespace: string) => void
  readonly onError: (error: unknown) => void
}

const groupResource = (r: GroupVersionResource): string => `${r.group}/${r.resource}`

export class PopulatedIndex {
  readonly #deps: PopulatedIndexDeps
  /** namespace → `group/resource/name` → object */
  readonly #byNamespace = new Map<string, Map<string, PopulatedObject>>()
  readonly #watched = new Map<string, Promise<void>>()

  constructor(deps: PopulatedIndexDeps) {
    this.#deps = deps
  }

  /** Watches a kind from now on; resolves when what exists of it is known. */
  watchKind(kind: ServedKind, signal: AbortSignal): Promise<void> {
    const key = groupResource(kind)
    const known = this.#watched.get(key)
    if (known) return known
    const informer = new Informer({
      client: this.#deps.client,
      clock: this.#deps.clock,
      resource: kind,
      labelSelector: templateNameLabel,
      keep: ({ apiVersion, kind: k, metadata }) => ({
        ...(apiVersion === undefined ? {} : { apiVersion }),
        ...(k === undefined ? {} : { kind: k }),
        metadata: stub(metadata),
      }),
      onChange: (next, old) => this.#seen(kind, next, old),
      onError: this.#deps.onError,
    })
    void informer.run(signal)
    const synced = informer.whenSynced()
    this.#watched.set(key, synced)
    return synced
  }

  find(resource: GroupVersionResource, namespace: string, name: string): PopulatedObject | undefined {
    return this.#byNamespace.get(namespace)?.get(`${groupResource(resource)}/${name}`)
  }

  inNamespace(namespace: string): PopulatedObject[] {
    return [...(this.#byNamespace.get(namespace)?.values() ?? [])]
  }

  /** Namespaces that hold objects of a template. */
  *namespacesOf(template: string): Iterable<string> {
    for (const [namespace, objects] of this.#byNamespace) {
      for (const o of objects.values()) {
        if (o.template !== template) continue
        yield namespace
        break
      }
    }
  }

  /** We wrote it: the watch will tell us so too, and that is not drift. */
  applied(kind: ServedKind, object: KubeObject): void {
    this.#put(kind, object)
  }

  forgot({ resource, namespace, name }: PopulatedObject): void {
    this.#drop(namespace, `${groupResource(resource)}/${name}`)
  }

  #seen(kind: ServedKind, next: KubeObject | undefined, old: KubeObject | undefined): void {
    if (next === undefined) {
      const { namespace = '', name = '', uid } = old?.metadata ?? {}
      const known = this.find(kind, namespace, name)
      if (known === undefined || known.uid !== uid) return
      this.#drop(namespace, `${groupResource(kind)}/${name}`)
      this.#deps.onDrift(namespace)
      return
    }
    const { namespace = '', name = '', resourceVersion = '' } = next.metadata
    const known = this.find(kind, namespace, name)
    if (known !== undefined && !isNewer(resourceVersion, known.revision)) return
    this.#put(kind, next)
    this.#deps.onDrift(namespace)
  }

  #put(kind: ServedKind, object: KubeObject): void {
    const { namespace = '', name = '', uid = '', resourceVersion = '', labels } = object.metadata
    const objects = this.#byNamespace.get(namespace) ?? new Map<string, PopulatedObject>()
    this.#byNamespace.set(namespace, objects)
    objects.set(`${groupResource(kind)}/${name}`, {
      resource: { group: kind.group, version: kind.version, resource: kind.resource },
      kind: kind.kind,
      namespace,
      name,
      uid,
      revision: resourceVersion,
      template: labels?.[templateNameLabel] ?? '',
    })
  }

  #drop(namespace: string, key: string): void {
    const objects = this.#byNamespace.get(namespace)
    objects?.delete(key)
    if (objects?.size === 0) this.#byNamespace.delete(namespace)
  }
}

/** Resource versions are decimal numbers in every server of today (KEP-5504); anything else counts as newer. */
function isNewer(candidate: string, known: string): boolean {
  if (!/^\d+$/.test(candidate) || !/^\d+$/.test(known)) return candidate !== known
  return candidate.length === known.length ? candidate > known : candidate.length > known.length
}

function stub({ name, namespace, uid, resourceVersion, labels }: KubeObject['metadata']): KubeObject['metadata'] {
  const template = labels?.[templateNameLabel]
  return {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(template === undefined ? {} : { labels: { [templateNameLabel]: template } }),
  }
}
