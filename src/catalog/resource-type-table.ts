/**
 * The one registry of served types: built-in ones at start, custom ones as their CRDs come and go. Look-ups are a few
 * map reads; each change rebuilds the order of discovery, which need not be fast.
 */
import { append } from '../base/append.ts'
import type { GroupVersionKind, GroupVersionResource } from '../kube/gvk.ts'
import type { Resource } from '../kube/resource.ts'
import type { ResourceType, ResourceTypes } from '../kube/resource-type.ts'
import type { KubeObject } from '../kube/types.ts'
import { compareVersions } from '../kube/version-order.ts'
import { compareGroups } from './facts/groups.ts'

export interface ResourceTypeChange {
  readonly add?: Iterable<ResourceType>
  readonly remove?: Iterable<GroupVersionResource>
}

export interface MutableResourceTypes extends ResourceTypes {
  /**
   * Removals first, then additions; a type added twice replaces itself (the new version of a CRD). Listeners are called
   * once, after all of it, if anything was asked for.
   */
  change(change: ResourceTypeChange): void
}

type ByVersion = Map<string, Map<string, ResourceType>>

const compareTypes = (a: ResourceType, b: ResourceType): number =>
  compareGroups(a.group, b.group) ||
  compareVersions(a.version, b.version) ||
  (a.resource < b.resource ? -1 : a.resource > b.resource ? 1 : 0)

export class ResourceTypeTable implements MutableResourceTypes {
  /** group → version → resource, and the same by kind */
  readonly #byResource = new Map<string, ByVersion>()
  readonly #byKind = new Map<string, ByVersion>()
  #ordered: readonly ResourceType[] = []
  /** group → resource → type of the first version in discovery order */
  #preferred = new Map<string, Map<string, ResourceType>>()
  #byStorage = new Map<string, ResourceType>()
  readonly #listeners = new Set<() => void>()

  constructor(types: Iterable<ResourceType>) {
    this.#apply({ add: types })
  }

  find<T extends KubeObject = KubeObject>({ group, version, resource }: Resource<T>): ResourceType<T> | undefined {
    return this.#byResource.get(group)?.get(version)?.get(resource) as ResourceType<T> | undefined
  }

  findKind(gvk: GroupVersionKind): ResourceType | undefined {
    return this.#byKind.get(gvk.group)?.get(gvk.version)?.get(gvk.kind)
  }

  findPreferred(group: string, resource: string): ResourceType | undefined {
    return this.#preferred.get(group)?.get(resource)
  }

  all(): Iterable<ResourceType> {
    return this.#ordered
  }

  findStorage(storageName: string): ResourceType | undefined {
    return this.#byStorage.get(storageName)
  }

  hasGroup(group: string): boolean {
    return this.#preferred.has(group)
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  change(change: ResourceTypeChange): void {
    if (!this.#apply(change)) return
    for (const listener of [...this.#listeners]) listener()
  }

  #apply(change: ResourceTypeChange): boolean {
    let changed = false
    for (const gvr of change.remove ?? []) {
      const type = this.find(gvr)
      if (!type) continue
      changed = true
      this.#byResource.get(type.group)?.get(type.version)?.delete(type.resource)
      this.#byKind.get(type.group)?.get(type.version)?.delete(type.kind)
    }
    for (const type of change.add ?? []) {
      changed = true
      const old = this.find(type)
      if (old) this.#byKind.get(old.group)?.get(old.version)?.delete(old.kind)
      put(this.#byResource, type, type.resource)
      put(this.#byKind, type, type.kind)
    }
    if (changed) this.#order()
    return changed
  }

  #order(): void {
    const types: ResourceType[] = []
    for (const versions of this.#byResource.values()) {
      for (const resources of versions.values()) append(types, resources.values())
    }
    types.sort(compareTypes)
    this.#ordered = types
    this.#preferred = new Map()
    this.#byStorage = new Map()
    for (const type of types) {
      const group = this.#preferred.get(type.group) ?? new Map<string, ResourceType>()
      this.#preferred.set(type.group, group)
      if (!group.has(type.resource)) group.set(type.resource, type)
      if (type.stored && (type.isStorageVersion || !this.#byStorage.has(type.storageName))) {
        this.#byStorage.set(type.storageName, type)
      }
    }
  }
}

function put(table: Map<string, ByVersion>, type: ResourceType, name: string): void {
  const versions: ByVersion = table.get(type.group) ?? new Map()
  table.set(type.group, versions)
  const names = versions.get(type.version) ?? new Map<string, ResourceType>()
  versions.set(type.version, names)
  names.set(name, type)
}
