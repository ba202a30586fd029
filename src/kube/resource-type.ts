/**
 * A served resource: everything generic code must know about a kind. Built-in ones come from the catalogue, custom
 * ones from their CRD; clients can't tell the difference.
 */

import type { Eventual } from '../base/eventual.ts'
import { apiVersionOf, type GroupVersionKind } from './gvk.ts'
import type { Resource } from './resource.ts'
import type { Schema } from './schema/schema.ts'
import type { JsonValue, KubeObject } from './types.ts'

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch'

export interface Subresource {
  readonly name: string
  readonly verbs: readonly Verb[]
  /** What its bodies are; differs from the parent's for `scale`, `eviction`, `token`, `binding`. */
  readonly kind: GroupVersionKind
  /** `scale` of a custom resource: where its numbers are. Built-in kinds have them at `.spec.replicas` and so on. */
  readonly scale?: ScalePaths
}

/** Plain member paths: `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  /** Of a selector in its text form. */
  readonly labelSelectorPath?: string
}

/** One printer column, as in a CRD's additionalPrinterColumns; built-in tables compute their cells in code. */
export interface Column {
  readonly name: string
  readonly type: string
  readonly format?: string
  readonly description?: string
  /** 0 = always shown, 1 = with `-o wide`. */
  readonly priority?: number
  readonly jsonPath?: string
  /** What is shown of the value. Default, and where it answers undefined: as upstream shows one of its type. */
  readonly textOf?: (value: JsonValue) => string | undefined
}

/** Between what is stored and what a type shows of it. Neither changes its argument. */
export interface Conversion {
  toStored(object: KubeObject): KubeObject
  fromStored(object: KubeObject): KubeObject
  /** apiVersion that is written with what is stored. Absent = none is. */
  readonly storedVersion?: string
  /** apiVersion of what is in the store without one. Absent = the type's own. */
  readonly unmarkedVersion?: string
  /** A webhook converts. Then the two above leave objects as they are. */
  readonly remote?: RemoteConversion
}

/** All answers are private or never changed. @throws StatusError */
export interface RemoteConversion {
  /**
   * As the type shows what the store holds: complete with TypeMeta, which says in which version. In their order. At
   * once where it is remembered.
   */
  shown(stored: readonly KubeObject[]): Eventual<readonly KubeObject[]>
  /** As the type shows an object of another version that is not (or not yet) stored like that. */
  from(object: KubeObject): Promise<KubeObject>
  /** An object of this type in the version that is stored. */
  stored(object: KubeObject): Promise<KubeObject>
}

/** @typeParam T what TypeScript knows of its objects: carried over from the name by which the type was looked up */
export interface ResourceType<T extends KubeObject = KubeObject> extends Resource<T>, GroupVersionKind {
  readonly listKind: string
  readonly singular: string
  readonly namespaced: boolean
  /** What is served. */
  readonly verbs: readonly Verb[]
  /** What discovery names, where that is less than what is served. */
  readonly advertisedVerbs?: readonly Verb[]
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly subresources: ReadonlyMap<string, Subresource>
  readonly schema: Schema
  /** `configmaps`, `widgets.ex.io`: the path element of its keys. Types that share it share their objects. */
  readonly storageName: string
  /** For types whose fields differ from the stored form: a second version, another group's view of events. */
  readonly conversion?: Conversion
  /** False for review kinds, which answer and are not kept, and for kinds that show what another type keeps. */
  readonly stored: boolean
  readonly custom: boolean
  /** Of several versions of a custom kind, the one that objects are stored in. */
  readonly isStorageVersion?: boolean
  /** Of a custom kind: every version that its definition has, served or not, by name. */
  readonly versions?: ReadonlyMap<string, ResourceType>
  readonly columns?: readonly Column[]
  /** Of a custom kind: what field selectors may name besides metadata. `spec.color` */
  readonly selectableFields?: readonly string[]
  /** Sent with every answer. */
  readonly deprecationWarning?: string
}

/** The one registry of what is served, changing while CRDs come and go. */
export interface ResourceTypes {
  find<T extends KubeObject = KubeObject>(resource: Resource<T>): ResourceType<T> | undefined
  findKind(gvk: GroupVersionKind): ResourceType | undefined
  /** The version that discovery prefers. */
  findPreferred(group: string, resource: string): ResourceType | undefined
  /** All served types, every version, in discovery order. */
  all(): Iterable<ResourceType>
  /** The type that owns a storage name: the version that is stored, if that is known, else the preferred one. */
  findStorage(storageName: string): ResourceType | undefined
  /** True if any type of the group is served. */
  hasGroup(group: string): boolean
  /** Called after each change. */
  onChange(listener: () => void): () => void
}

/** A type that this server can't do without. */
export function requiredType<T extends KubeObject>(
  types: Pick<ResourceTypes, 'find'>,
  resource: Resource<T>,
): ResourceType<T> {
  const type = types.find(resource)
  if (type === undefined) throw new Error(`the catalogue lacks ${resource.resource} in ${apiVersionOf(resource)}`)
  return type
}
