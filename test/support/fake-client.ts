import { Channel, type Stream } from '../../src/base/stream.ts'
import type { Client, ListOptions, ObjectRef, ServedKinds, WatchEvent, WatchOptions } from '../../src/client/client.ts'
import type { GroupVersionResource } from '../../src/kube/gvk.ts'
import type { Resource } from '../../src/kube/resource.ts'
import { alreadyExists, conflict, notFound, objectModified } from '../../src/kube/status-error.ts'
import type { KubeList, KubeObject, Status } from '../../src/kube/types.ts'

/** A store in memory with the manners of an API server: resourceVersions, conflicts, list items without kind, watch. */
export class FakeClient implements Client {
  readonly #objects = new Map<string, KubeObject>()
  readonly #watchers = new Set<{ readonly prefix: string; readonly channel: Channel<WatchEvent> }>()
  #revision = 0
  /** `create clusterroles x`, ... */
  readonly writes: string[] = []

  readonly discovery = {
    findKind: async (): Promise<undefined> => undefined,
    kinds: async (): Promise<ServedKinds> => ({ kinds: [], unavailable: [] }),
  }

  async get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): Promise<T> {
    const found = this.#objects.get(keyOf(resource, ref))
    if (!found) throw notFound(resource, ref.name)
    return structuredClone(found) as T
  }

  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    const prefix = prefixOf(resource, options.namespace)
    const items = [...this.#objects].filter(([key]) => key.startsWith(prefix)).map(([, object]) => object)
    return {
      apiVersion: 'v1',
      kind: 'List',
      metadata: { resourceVersion: String(this.#revision) },
      items: items.map((object) => {
        const { apiVersion, kind, ...rest } = structuredClone(object)
        return rest as T
      }),
    }
  }

  async create(resource: GroupVersionResource, object: KubeObject): Promise<KubeObject> {
    const ref = refOf(object)
    if (this.#objects.has(keyOf(resource, ref))) throw alreadyExists(resource, ref.name)
    return this.#put('create', resource, object)
  }

  async update(resource: GroupVersionResource, object: KubeObject): Promise<KubeObject> {
    const ref = refOf(object)
    const old = this.#objects.get(keyOf(resource, ref))
    if (!old) throw notFound(resource, ref.name)
    if (object.kind === undefined) throw new Error(`an update of ${ref.name} without kind`)
    const { resourceVersion } = object.metadata
    if (resourceVersion !== undefined && resourceVersion !== old.metadata.resourceVersion) {
      throw conflict(resource, ref.name, objectModified)
    }
    return this.#put('update', resource, object)
  }

  async delete(resource: GroupVersionResource, ref: ObjectRef): Promise<KubeObject | Status> {
    const found = await this.get(resource, ref)
    this.#objects.delete(keyOf(resource, ref))
    this.#revision++
    found.metadata.resourceVersion = String(this.#revision)
    this.writes.push(`delete ${resource.resource} ${ref.name}`)
    this.#tell(keyOf(resource, ref), { type: 'DELETED', object: found })
    return found
  }

  watch(resource: GroupVersionResource, options: WatchOptions): Stream<WatchEvent> {
    const channel = new Channel<WatchEvent>({ limit: 10_000, onClose: () => this.#watchers.delete(watcher) })
    const watcher = { prefix: prefixOf(resource, options.namespace), channel }
    this.#watchers.add(watcher)
    options.signal.addEventListener('abort', () => channel.close(), { once: true })
    return channel
  }

  patch(): Promise<KubeObject> {
    throw new Error('not part of this fake')
  }

  apply(): Promise<KubeObject> {
    throw new Error('not part of this fake')
  }

  deleteCollection(): Promise<KubeList> {
    throw new Error('not part of this fake')
  }

  request(): Promise<unknown> {
    throw new Error('not part of this fake')
  }

  #put(verb: 'create' | 'update', resource: GroupVersionResource, object: KubeObject): KubeObject {
    const ref = refOf(object)
    const stored = structuredClone(object)
    stored.metadata.resourceVersion = String(++this.#revision)
    this.#objects.set(keyOf(resource, ref), stored)
    this.writes.push(`${verb} ${resource.resource} ${ref.name}`)
    this.#tell(keyOf(resource, ref), {
      type: verb === 'create' ? 'ADDED' : 'MODIFIED',
      object: structuredClone(stored),
    })
    return structuredClone(stored)
  }

  #tell(key: string, event: WatchEvent): void {
    for (const { prefix, channel } of this.#watchers) if (key.startsWith(prefix)) channel.push(event)
  }
}

const refOf = ({ metadata }: KubeObject): ObjectRef => ({
  name: metadata.name ?? '',
  ...(metadata.namespace ? { namespace: metadata.namespace } : {}),
})

const prefixOf = (r: GroupVersionResource, namespace?: string): string =>
  `${r.group}/${r.resource}/${namespace === undefined ? '' : `${namespace}/`}`

const keyOf = (r: GroupVersionResource, ref: ObjectRef): string => `${prefixOf(r, ref.namespace ?? '')}${ref.name}`
