/**
 * All current objects of one storage name, by key and in key order, with their recent changes and whoever follows them.
 * Changes are applied synchronously, in revision order, by `WatchCache` alone.
 */
import { OrderedMap } from '../base/ordered-map.ts'
import { relativeKey } from '../kube/object-key.ts'
import { noteMark } from '../storage/damaged-value.ts'
import { type Revision, StorageError } from '../storage/storage.ts'
import { type ChangeWindow, type ObjectChange, TypeHistory } from './change-window.ts'
import { CollectionSizes } from './collection-sizes.ts'
import type { DamagedObjects } from './damaged-objects.ts'
import type { ContentIndex } from './namespace-content.ts'
import type { ParsedPool } from './parsed-pool.ts'
import { ObjectVersion } from './stored-object.ts'
import type { WatchScope } from './watch-scope.ts'
import { WatcherIndex } from './watcher-index.ts'

export type ChangeListener = (
  next: ObjectVersion | undefined,
  old: ObjectVersion | undefined,
  /** Of the change, also where it is a removal. */
  revision: Revision,
) => void

/** A change of any object. `storageName` says of what. */
export type AnyChangeListener = (
  storageName: string,
  next: ObjectVersion | undefined,
  old: ObjectVersion | undefined,
) => void

/** Above every key: the last code point, which no name may hold. */
const pastAllKeys = '\u{10ffff}'

/** Half-open, in relative keys. */
export interface KeySpan {
  readonly start: string
  readonly end: string
}

/** All objects of a namespace, or all there are. */
export function spanOf(namespace: string): KeySpan {
  return namespace === '' ? { start: '', end: pastAllKeys } : { start: `${namespace}/`, end: `${namespace}0` }
}

const isWithin = ({ namespace, name }: WatchScope, version: ObjectVersion): boolean =>
  (namespace === '' || namespace === version.namespace) && (name === '' || name === version.name)

export interface CacheParts {
  readonly window: ChangeWindow
  readonly content: ContentIndex
  readonly pool: ParsedPool
  readonly damaged: DamagedObjects
  /** Told of every change, of whatever type. */
  readonly followers: ReadonlySet<AnyChangeListener>
  /** A listener threw. The others, and the cache, go on. */
  readonly onFault: (error: unknown) => void
}

export class TypeCache {
  readonly storageName: string
  readonly history: TypeHistory
  readonly watchers: WatcherIndex
  readonly sizes: CollectionSizes = new CollectionSizes()
  readonly #pool: ParsedPool
  readonly #window: ChangeWindow
  readonly #content: ContentIndex
  readonly #damaged: DamagedObjects
  readonly #onFault: (error: unknown) => void
  readonly #followers: ReadonlySet<AnyChangeListener>
  readonly #byKey = new Map<string, ObjectVersion>()
  readonly #ordered = new OrderedMap<ObjectVersion>()
  readonly #listeners = new Set<ChangeListener>()
  /** Of what is damaged now: the version before. undefined = followers have heard of none. */
  readonly #lastSound = new Map<string, ObjectVersion | undefined>()
  #lastChange: Revision

  /** `since`: the revision from which on this cache sees every change. */
  constructor(storageName: string, since: Revision, parts: CacheParts) {
    this.storageName = storageName
    this.#pool = parts.pool
    this.history = new TypeHistory(since)
    this.watchers = new WatcherIndex()
    this.#window = parts.window
    this.#content = parts.content
    this.#damaged = parts.damaged
    this.#onFault = parts.onFault
    this.#followers = parts.followers
    this.#lastChange = since
  }

  get size(): number {
    return this.#byKey.size
  }

  /** The cache is as it was at any revision from here to the present. */
  get lastChange(): Revision {
    return this.#lastChange
  }

  find(namespace: string, name: string): ObjectVersion | undefined {
    return this.#byKey.get(relativeKey(namespace, name))
  }

  findKey(relative: string): ObjectVersion | undefined {
    return this.#byKey.get(relative)
  }

  /** In key order, at most `limit`. */
  collect(
    span: KeySpan,
    limit: number = Number.POSITIVE_INFINITY,
  ): { readonly values: ObjectVersion[]; readonly more: boolean } {
    return this.#ordered.collect(span.start, span.end, limit)
  }

  count(span: KeySpan): number {
    return this.#ordered.count(span.start, span.end)
  }

  /**
   * Tells everything there is, then each change, inside its application. Of a damaged object nothing is told, and what
   * was told of it before stands: it can't be used, but it was not deleted.
   */
  subscribe(listener: ChangeListener): () => void {
    for (const version of this.#ordered.collect('', pastAllKeys, Number.POSITIVE_INFINITY).values) {
      if (version.bytes[0] !== noteMark) listener(version, undefined, version.revision)
    }
    const own: ChangeListener = (next, old, revision) => listener(next, old, revision)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  /** First filling, before anyone looks: no change is told. */
  load(key: string, revision: Revision, bytes: Uint8Array): void {
    const version = this.#version(key, revision, bytes, undefined)
    this.#byKey.set(key, version)
    this.#ordered.set(key, version)
    this.sizes.change(version.namespace, bytes.length)
    if (bytes[0] === noteMark) this.#damaged.set(this.storageName, key, version.damage)
  }

  /** A change that was applied before is ignored: a watch that is resumed may tell its last commit again. */
  apply(key: string, revision: Revision, bytes: Uint8Array | undefined): void {
    const old = this.#byKey.get(key)
    if (old !== undefined && old.revision >= revision) return
    if (bytes === undefined && old === undefined) return
    let next: ObjectVersion | undefined
    if (bytes === undefined) {
      this.#byKey.delete(key)
      this.#ordered.delete(key)
      if (old && old.namespace !== '') this.#content.remove(this.storageName, old.namespace)
    } else {
      next = this.#version(key, revision, bytes, old)
      this.#byKey.set(next.key, next)
      this.#ordered.set(next.key, next)
    }
    this.#lastChange = revision
    this.sizes.change((next ?? old)?.namespace ?? '', (bytes?.length ?? 0) - (old?.bytes.length ?? 0))
    const change: ObjectChange = { revision, next, old }
    this.#window.record(this.history, change)
    if (next?.bytes[0] === noteMark || old?.bytes[0] === noteMark) this.#tellOfDamage(key, change)
    else this.#tell(change)
  }

  /**
   * Watches that cover what is damaged end with it. Once it is sound, or gone, that is told as a change of the version
   * that was told last.
   */
  #tellOfDamage(key: string, { revision, next, old }: ObjectChange): void {
    const damage = next?.damage
    this.#damaged.set(this.storageName, key, damage)
    if (next !== undefined && damage !== undefined) {
      if (old?.damage === undefined) this.#lastSound.set(key, old)
      const error = new StorageError('damaged', damage)
      for (const session of [...this.watchers.all()]) if (isWithin(session.scope, next)) session.close(error)
      return
    }
    const told = this.#lastSound.get(key)
    this.#lastSound.delete(key)
    if (next !== undefined || told !== undefined) this.#tell({ revision, next, old: told })
  }

  #tell(change: ObjectChange): void {
    const { revision, next, old } = change
    for (const listener of this.#listeners) {
      try {
        listener(next, old, revision)
      } catch (e) {
        this.#onFault(e)
      }
    }
    for (const follower of this.#followers) {
      try {
        follower(this.storageName, next, old)
      } catch (e) {
        this.#onFault(e)
      }
    }
    this.watchers.offer(change)
  }

  #version(key: string, revision: Revision, bytes: Uint8Array, old: ObjectVersion | undefined): ObjectVersion {
    // Strings of the old version are used again: the maps then hold one key per object, not one per version.
    if (old) return new ObjectVersion(old.key, old.namespace, revision, bytes, this.#pool)
    const slash = key.indexOf('/')
    const namespace = slash < 0 ? '' : this.#content.add(this.storageName, key.slice(0, slash)).name
    return new ObjectVersion(key, namespace, revision, bytes, this.#pool)
  }
}
