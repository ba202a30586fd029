/**
 * How our own code reads and writes the API: the same calls whether the server is in this process (`loopback.ts`) or
 * any cluster on the network (`remote.ts`). Controllers and templates know nothing else of the world.
 */

import type { Stream } from '../base/stream.ts'
import type { GroupVersionResource } from '../kube/gvk.ts'
import type { Resource } from '../kube/resource.ts'
import type { KubeList, KubeObject, Status, WatchEventType } from '../kube/types.ts'
import type { OnWarning } from './warnings.ts'

/** Where an object lives. Cluster-scoped ones have no namespace. */
export interface ObjectRef {
  readonly namespace?: string
  readonly name: string
}

export interface ListOptions {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: string
  readonly includeUninitialized?: boolean
  /** Objects without what they hold (PartialObjectMetadata); a server that has no such form of a kind refuses it. */
  readonly metadataOnly?: boolean
  readonly signal?: AbortSignal
}

export interface WatchOptions {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly resourceVersion?: string
  readonly allowWatchBookmarks?: boolean
  readonly sendInitialEvents?: boolean
  readonly includeUninitialized?: boolean
  readonly metadataOnly?: boolean
  readonly signal: AbortSignal
}

export interface WriteOptions {
  readonly dryRun?: boolean
  /** Fields that are unknown, or there twice, are refused, as kubectl has them refused; else they are warned of. */
  readonly isStrict?: boolean
  readonly fieldManager?: string
  readonly subresource?: string
  readonly includeUninitialized?: boolean
  readonly signal?: AbortSignal
  /** Told of what the server warns of here, instead of who is told of all warnings. */
  readonly onWarning?: OnWarning
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string
  readonly force?: boolean
  /** Refuse with AlreadyExists if the object exists. One request on Borough, two on other servers. */
  readonly mustBeAbsent?: boolean
}

export interface DeleteOptions {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly gracePeriodSeconds?: number
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly dryRun?: boolean
  readonly signal?: AbortSignal
  /** As for other writes. */
  readonly onWarning?: OnWarning
  /** Of a collection: what tells all that went, and is as large, is not parsed. The list that is returned is empty. */
  readonly isAnswerUnread?: boolean
}

export interface WatchEvent<T extends KubeObject = KubeObject> {
  readonly type: Exclude<WatchEventType, 'ERROR'>
  /** For BOOKMARK only metadata is meaningful. */
  readonly object: T
}

export interface Reader {
  /** @throws StatusError */
  get<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options?: { readonly signal?: AbortSignal },
  ): Promise<T>
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<KubeList<T>>
}

export interface Writer {
  create(resource: GroupVersionResource, object: KubeObject, options?: WriteOptions): Promise<KubeObject>
  update(resource: GroupVersionResource, object: KubeObject, options?: WriteOptions): Promise<KubeObject>
  /** JSON merge patch. */
  patch(resource: GroupVersionResource, ref: ObjectRef, patch: object, options?: WriteOptions): Promise<KubeObject>
  /** Server-side apply. */
  apply(resource: GroupVersionResource, object: KubeObject, options: ApplyOptions): Promise<KubeObject>
  delete(resource: GroupVersionResource, ref: ObjectRef, options?: DeleteOptions): Promise<KubeObject | Status>
  deleteCollection(resource: GroupVersionResource, list: ListOptions, options?: DeleteOptions): Promise<KubeList>
}

export interface Watcher {
  /** Ends when the server ends it; throws StatusError (Expired, ...) for an ERROR event. */
  watch(resource: GroupVersionResource, options: WatchOptions): Stream<WatchEvent>
}

/** One kind of the server, as discovery describes it. */
export interface ServedKind extends GroupVersionResource {
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
  /** `ns`, `deploy` */
  readonly shortNames?: readonly string[]
  /** `log`, `exec`, as far as discovery names them. */
  readonly subresources?: readonly string[]
}

export interface Discovery {
  /** The resource that serves a kind, or undefined. */
  findKind(apiVersion: string, kind: string): Promise<ServedKind | undefined>
  /**
   * Everything served, each resource in the version its group prefers of those that have it. A group that does not
   * answer (the API service behind it is down) hides nothing but itself. Throws only if the list of groups can't be
   * had.
   */
  kinds(): Promise<ServedKinds>
}

export interface ServedKinds {
  readonly kinds: readonly ServedKind[]
  /** `group/version` that is announced and did not answer: what it serves is not among `kinds`. */
  readonly unavailable: readonly { readonly apiVersion: string; readonly error: unknown }[]
}

export interface Client extends Reader, Writer, Watcher {
  readonly discovery: Discovery
  /** Any request: for review kinds and sub-resources. `body` is sent as JSON; the answer is parsed JSON. */
  request(method: string, path: string, body?: unknown, options?: { readonly signal?: AbortSignal }): Promise<unknown>
}
