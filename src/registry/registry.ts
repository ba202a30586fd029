/**
 * The registry: create, read, update, delete, list and watch for every kind, with upstream's semantics. What differs by
 * kind is its `Strategy`; what other objects have a say is admission. Callers are already authorized.
 */
import type { Caller, Decision, DecisionView, PendingScope } from '../admission/admission.ts'
import type { Eventual } from '../base/eventual.ts'
import type { Stream } from '../base/stream.ts'
import type { Slice } from '../base/turns.ts'
import type { NameView } from '../kube/name-view.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { KubeObject, Unvalidated } from '../kube/types.ts'
import type { UserInfo } from '../kube/user.ts'
import type { Revision } from '../storage/storage.ts'
import type { ObjectVersion, StoredObject } from '../watch/stored-object.ts'
import type { WatchEvent } from '../watch/watch-event.ts'
import type { WatchPermit } from './watch-permits.ts'

export type { ObjectVersion, StoredObject } from '../watch/stored-object.ts'

/** Who writes what where, and how. */
export interface WriteScope {
  readonly type: ResourceType
  /** '' for cluster-scoped types. */
  readonly namespace: string
  /** '' on create. */
  readonly name: string
  /** '' for the main resource. */
  readonly subresource: string
  readonly user: UserInfo
  readonly dryRun: boolean
  /** Never empty: from `fieldManager`, else the User-Agent (SEMANTICS 12.2). */
  readonly fieldManager: string
  /** Of the request, from its query or body; admission is told their kind by the operation. Absent = it gives none. */
  readonly options?: Readonly<Record<string, unknown>> | undefined
  readonly warn: (text: string) => void
  /** For the audit log; absent where there is none. The first value of a key stays. */
  readonly annotate?: (key: string, value: string) => void
  /** On the wall clock: when the client waits no more. Absent = as long as it takes. */
  readonly deadlineMs?: number
  readonly caller: Caller
  /** Asked between two passes over it in place of the caller's: read it by `sliceOf`. */
  readonly ownSlice?: Slice | undefined
  /** One of those that a deletecollection deletes. */
  readonly ofCollection?: boolean | undefined
  /** Of what admission adds to another create. */
  readonly pendingScope?: PendingScope
}

export interface Preconditions {
  readonly uid?: string
  readonly resourceVersion?: string
}

export interface ReadOptions {
  /** As in the query; '' or absent = most recent. */
  readonly resourceVersion?: string
  /** The cache has caught up with the store since the request came: it need not be asked again. */
  readonly caughtUp?: boolean
  /** Aborts when the client waits no more: the read ends as soon as it can. */
  readonly signal?: AbortSignal
  /** Goes around a wait for a revision that is not there yet, or a webhook: the reader gives up its place meanwhile. */
  readonly outside?: <T>(wait: Promise<T>) => Promise<T>
}

export interface ListQuery extends ReadOptions {
  /** '' = all namespaces, or a cluster-scoped type. */
  readonly namespace: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersionMatch?: string
  /** Objects it rejects do not exist for this caller. Must depend on the object alone. */
  readonly visible?: (object: KubeObject) => boolean
  /** Names that it does not see do not exist for this caller. For cluster-scoped types. */
  readonly view?: NameView
  /** Looking at the objects goes on in it. */
  readonly slice?: Slice
}

export interface ListPage {
  readonly revision: Revision
  readonly items: readonly StoredObject[]
  readonly continue?: string
  readonly remainingItemCount?: number
}

export interface WatchQuery extends ReadOptions {
  readonly namespace: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly resourceVersionMatch?: string
  readonly sendInitialEvents?: boolean
  readonly allowWatchBookmarks?: boolean
  readonly visible?: (object: KubeObject) => boolean
  /** Coming into view is ADDED, going out of it DELETED. For cluster-scoped types. */
  readonly view?: NameView
  /** The stream ends cleanly after so long, with a last bookmark shortly before. Absent = until `signal` aborts. */
  readonly timeoutMs?: number
  /** The stream ends cleanly when it aborts. */
  readonly signal: AbortSignal
  /** Whose watch it is. */
  readonly flow?: string
  /** Absent = whatever becomes of the namespace. */
  readonly permit?: WatchPermit | undefined
}

export type RegistryEvent = WatchEvent

/**
 * Makes the next state from the current one. May be called again after a lost race, so it
 * must not change its argument or anything else. What it answers is handed over: it shares no part that can be changed
 * with the current state, or with what it answers another time.
 */
/** `slice`: where what there is is large, to be asked between two passes over it. */
export type Transform = (current: KubeObject, slice?: Slice | undefined) => Eventual<KubeObject | Unvalidated>

export interface UpdateOptions {
  readonly preconditions?: Preconditions
  /** PUT on a createOnUpdate type, or apply: what is made if it is missing. Without it a missing object is NotFound. */
  readonly whenMissing?: () => Eventual<KubeObject | Unvalidated>
  /** Server-side apply has computed managedFields itself; otherwise the registry tracks the change as an Update. */
  readonly ownsManagedFields?: boolean
}

export interface UpdateResult {
  readonly stored: StoredObject
  readonly created: boolean
  /** True if this write cleared the last finalizer of an object being deleted: it is gone. */
  readonly removed: boolean
}

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: string
  readonly orphanDependents?: boolean
  readonly preconditions?: Preconditions
  /** Admission has been asked about what this is a part of (an eviction): only what is decided at commit is left. */
  readonly isAdmitted?: boolean
}

export interface DeleteResult {
  readonly stored: StoredObject
  readonly removed: boolean
  /** Known without reading `stored`, whose metadata may be large. */
  readonly uid: string | undefined
}

/** All methods throw `StatusError` worded as upstream words it. */
export interface Registry {
  get(type: ResourceType, namespace: string, name: string, options?: ReadOptions): Eventual<StoredObject>
  list(type: ResourceType, query: ListQuery): Promise<ListPage>
  /** Errors before the stream starts throw here; later ones (Expired, ...) are thrown by the stream. */
  watch(type: ResourceType, query: WatchQuery): Promise<Stream<readonly RegistryEvent[]>>
  /** Takes `object` over (decoded and defaulted): the caller must not touch it afterwards. */
  create(scope: WriteScope, object: KubeObject | Unvalidated): Promise<StoredObject>
  /**
   * Asks admission about a create that is answered and not kept by itself (tokens, bindings, evictions), or about a
   * connection. Answers what admission made of the object.
   */
  admit(scope: WriteScope, object: KubeObject | Unvalidated, operation?: 'CREATE' | 'CONNECT'): Promise<Unvalidated>
  update(scope: WriteScope, transform: Transform, options?: UpdateOptions): Promise<UpdateResult>
  delete(scope: WriteScope, options: DeleteOptions): Promise<DeleteResult>
  /** Answers the items as listed before deletion. */
  deleteCollection(scope: WriteScope, query: ListQuery, options: DeleteOptions): Promise<ListPage>
  /**
   * Writes records of the server, which are no objects of the API: `decide` follows the rules of
   * `AdmissionPlugin.decide`, and may be called several times. Nothing is written where it answers undefined.
   */
  writeRecords(decide: (view: DecisionView) => Decision | undefined): Promise<void>
}

/** How objects of one type are shown as another type, which keeps nothing: see `projection.ts`. */
export interface Projection {
  /** Whose objects are shown. Its labels, names and pages are those of the list. */
  readonly source: ResourceType
  /** How the namespace sees them; undefined = it sees none. Asked anew for each request. */
  viewOf(namespace: string): ProjectionView | undefined
}

export interface ProjectionView {
  sees(source: KubeObject): boolean
  /** Of one that it sees, without what says its kind. It shares nothing with the source that it changes. */
  show(source: KubeObject): KubeObject
}

export type Projections = ReadonlyMap<ResourceType, Projection>

/**
 * Synchronous reads of the watch cache for admission, authorization and indices. Everything acknowledged by this
 * process is visible. `subscribe` calls back inside the application of a change, before anyone can see its answer.
 */
export interface Lister {
  find<T extends KubeObject>(type: ResourceType<T>, namespace: string, name: string): StoredObject<T> | undefined
  /** Ascending by name; '' = all namespaces. */
  list<T extends KubeObject>(type: ResourceType<T>, namespace: string): Iterable<StoredObject<T>>
  /**
   * First called for everything that exists (`old` undefined), then for each change (`next` undefined = removed);
   * `revision` is that of the change.
   */
  subscribe<T extends KubeObject>(
    type: ResourceType<T>,
    listener: (next: StoredObject<T> | undefined, old: StoredObject<T> | undefined, revision: Revision) => void,
  ): () => void
  /** As `subscribe`, for changes alone: what exists is not looked at. */
  follow<T extends KubeObject>(
    type: ResourceType<T>,
    listener: (next: StoredObject<T> | undefined, old: StoredObject<T> | undefined, revision: Revision) => void,
  ): () => void
  /** Resource types that have objects in the namespace, with their number: O(types present), not O(types). */
  contentOf(namespace: string): readonly { readonly type: ResourceType; readonly count: number }[]
  /** Catches up with the store: what was acknowledged anywhere before the call is visible after it. */
  refresh(): Promise<void>
}

/** The watch cache by what is stored, for those that follow all types or what no type serves. */
export interface StoreView {
  /** Of everything that has been stored. */
  storageNames(): Iterable<string>
  /** '' = in all namespaces. */
  count(storageName: string, namespace: string): number
  /** Ascending by key; '' = all namespaces. */
  versions(storageName: string, namespace: string): readonly ObjectVersion[]
  /** Of one type, in steps of so many, in all namespaces or one; see `TypeCache.glances`. */
  glances(storageName: string, step: number, namespace?: string): Generator<readonly ObjectVersion[]>
  /**
   * After a look at all of a type, which leaves out what is damaged.
   * @throws StorageError code=damaged where one has been left out
   */
  checkSound(storageName: string): void
  find(storageName: string, namespace: string, name: string): ObjectVersion | undefined
  /** As `find`, for callers that look once: what has to be fetched for it is not kept. */
  glance(storageName: string, namespace: string, name: string): ObjectVersion | undefined
  /** What the cache shows: every change up to here. */
  readonly revision: Revision
  /** Calls back as `Lister.subscribe` does, for all types, and only for changes. */
  follow(
    listener: (storageName: string, next: ObjectVersion | undefined, old: ObjectVersion | undefined) => void,
  ): () => void
  /** Of one storage name; as `Lister.follow`. */
  followOne(
    storageName: string,
    listener: (next: ObjectVersion | undefined, old: ObjectVersion | undefined) => void,
  ): () => void
  /** When the cache shows the change. */
  applied(revision: Revision): Promise<void>
  refresh(): Promise<void>
  /** Ends the watches of these objects, because they are shown otherwise from now on; clients begin new ones. */
  endWatches(storageName: string): void
}
