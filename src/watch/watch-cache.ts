/**
 * The present state of the store, in memory: one storage watch over all objects, spread over one cache per type.
 *
 * Everything that is read here was durable before. A change is applied synchronously (cache, window, listeners, watch
 * sessions) in revision order; then writers that wait for that revision go on. It knows keys and bytes, not kinds.
 *
 * When the storage watch breaks it is resumed where it stopped. When the history in between is gone, everything is
 * read again: listeners are told the differences, watch sessions are ended with `compacted` and start anew.
 */
import { Backoff } from '../base/backoff.ts'
import { type Clock, sleep } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { sliceMs } from '../base/turns.ts'
import { objectsPrefixOf, parseObjectKey } from '../kube/object-key.ts'
import { ByteSlabs } from '../slabs/byte-slabs.ts'
import {
  type Change,
  type Entry,
  endOfCommit,
  isStorageError,
  type Revision,
  type Storage,
  StorageError,
} from '../storage/storage.ts'
import { Beginnings } from './beginnings.ts'
import { Bookmarks } from './bookmarks.ts'
import { type CacheMemory, cacheMemory } from './cache-memory.ts'
import { ChangeWindow, defaultWindowLimits, type WindowLimits } from './change-window.ts'
import { DamagedObjects } from './damaged-objects.ts'
import { Deliveries } from './deliveries.ts'
import { defaultIndexedFrom } from './label-index.ts'
import {
  loadObjects,
  readObjects,
  objectsSpan as span,
  type ValueSource,
  valuesOf,
  withoutValues,
} from './load-objects.ts'
import { ContentIndex } from './namespace-content.ts'
import { ParsedPool } from './parsed-pool.ts'
import { applyDifferences } from './reload-objects.ts'
import { type AnyChangeListener, TypeCache } from './type-cache.ts'
import { type SessionOptions, WatchSession } from './watch-session.ts'

export interface WatchCacheOptions {
  readonly storage: Storage
  readonly clock: Clock
  readonly log: Log
  readonly window?: WindowLimits
  /** Budget for keeping objects parsed, counted in stored bytes. */
  readonly parsedBytes?: number
  /** Types with fewer objects have no indices of labels. */
  readonly indexedFrom?: number
}

const loadTries = 5
/** How long what the store says it holds may be on its way here. */
const catchUpMs = 10_000
const defaultParsedBytes = 4 * 1024 * 1024

interface Waiter {
  readonly revision: Revision
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class WatchCache implements AsyncDisposable {
  readonly storage: Storage
  readonly damaged: DamagedObjects
  readonly #clock: Clock
  readonly #beginnings = new Beginnings()
  readonly #log: Log
  readonly #window: ChangeWindow
  /** What this process is about to store, and has the object of, is announced here. */
  readonly pool: ParsedPool
  readonly #indexedFrom: number
  readonly #slabs = new ByteSlabs()
  readonly #content = new ContentIndex(this.#slabs)
  readonly #types = new Map<string, TypeCache>()
  readonly #followers = new Set<AnyChangeListener>()
  readonly #stop = new AbortController()
  #waiters: Waiter[] = []
  readonly #deliveries: Deliveries
  /** Sessions have something to be handed when the current batch is applied. */
  #hasQueued = false
  readonly #bookmarks: Bookmarks
  /** Nothing up to here is still to come: the end of the last commit applied, or progress heard of. */
  #revision: Revision = 0
  #loadedAt: Revision = 0
  /** Where the values are of what was loaded without. */
  #opened: ValueSource = withoutValues
  #refreshing: Promise<Revision> | undefined
  #nextRefresh: Promise<Revision> | undefined
  #running: Promise<void> = Promise.resolve()

  private constructor(options: WatchCacheOptions) {
    this.storage = options.storage
    this.#clock = options.clock
    this.#log = options.log
    this.damaged = new DamagedObjects(options.log)
    this.#deliveries = new Deliveries({ now: () => options.clock.monotonic() })
    const { clock } = options
    this.#bookmarks = new Bookmarks({ clock, revision: () => this.#revision, onMarked: () => this.#handOut() })
    this.#window = new ChangeWindow(options.window ?? defaultWindowLimits, options.clock)
    this.#indexedFrom = options.indexedFrom ?? defaultIndexedFrom
    this.pool = new ParsedPool(options.parsedBytes ?? defaultParsedBytes)
  }

  /** Resolves when everything stored is in memory. */
  static async start(options: WatchCacheOptions): Promise<WatchCache> {
    for (let tries = 1; ; tries++) {
      const cache = new WatchCache(options)
      try {
        await cache.#load()
      } catch (e) {
        // The revision being read was forgotten between two pages: a newer one is read from the beginning.
        if (tries < loadTries && isStorageError(e, 'compacted')) continue
        throw e
      }
      cache.#running = cache.#run()
      return cache
    }
  }

  /** What the cache shows: the end of a commit, with everything up to it applied. */
  get revision(): Revision {
    return this.#revision
  }

  /** True where it is known without asking that `refresh` would change nothing. */
  get isFresh(): boolean {
    const { ownRevision } = this.storage
    return ownRevision !== undefined && ownRevision <= this.#revision
  }

  /** True when every change up to `revision` is visible here. */
  reached(revision: Revision): boolean {
    return revision <= this.#revision
  }

  /** Resolves once `reached(revision)`. Rejects when the signal aborts or the cache is closed. */
  applied(revision: Revision, signal?: AbortSignal): Promise<void> {
    if (revision <= this.#revision) return Promise.resolve()
    if (this.#stop.signal.aborted) return Promise.reject(closed())
    if (signal !== undefined) return this.#appliedUnlessAborted(revision, signal)
    return new Promise((resolve, reject) => this.#waiters.push({ revision, resolve, reject }))
  }

  #appliedUnlessAborted(revision: Revision, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason)
    let abort: () => void
    const applied = new Promise<void>((resolve, reject) => {
      const waiter: Waiter = { revision, resolve, reject }
      abort = () => {
        this.#waiters = this.#waiters.filter((w) => w !== waiter)
        reject(signal.reason)
      }
      signal.addEventListener('abort', abort, { once: true })
      this.#waiters.push(waiter)
    })
    return applied.finally(() => signal.removeEventListener('abort', abort))
  }

  /**
   * Catches up with the store: whatever was acknowledged anywhere before the call is visible afterwards. Calls share
   * one question to the store, but never one that was asked before they came.
   */
  refresh(): Promise<Revision> {
    if (this.isFresh) return Promise.resolve(this.#revision)
    if (this.#refreshing === undefined) {
      const running = this.#refresh().finally(() => {
        this.#refreshing = undefined
      })
      this.#refreshing = running
      return running
    }
    if (this.#nextRefresh === undefined) {
      const again = (): Promise<Revision> => {
        this.#nextRefresh = undefined
        return this.refresh()
      }
      this.#nextRefresh = this.#refreshing.then(again, again)
    }
    return this.#nextRefresh
  }

  memory(): CacheMemory {
    return cacheMemory(this.#types.values(), this.#slabs, this.#content.indexBytes, this.pool.sizeBytes)
  }

  /** Never undefined: a storage name without objects has an empty cache. */
  type(storageName: string): TypeCache {
    const known = this.#types.get(storageName)
    if (known) return known
    const made = new TypeCache(storageName, this.#loadedAt, {
      window: this.#window,
      content: this.#content,
      pool: this.pool,
      damaged: this.damaged,
      slabs: this.#slabs,
      fetch: (name, key, revision) => this.#opened.valueAt(objectsPrefixOf(name) + key, revision),
      fetchSpan: (name, span) => valuesOf(this.#opened, name, span),
      indexedFrom: this.#indexedFrom,
      isClosed: () => this.#stop.signal.aborted,
      followers: this.#followers,
      onFault: (error) =>
        this.#log.error({ error, storageName }, 'a listener failed; what it keeps may be out of date'),
    })
    this.#types.set(storageName, made)
    return made
  }

  /** Calls back for every change from now on, inside its application, whatever the type. */
  follow(listener: AnyChangeListener): () => void {
    this.#followers.add(listener)
    return () => this.#followers.delete(listener)
  }

  /** Storage names that have objects, or had. */
  storageNames(): Iterable<string> {
    return this.#types.keys()
  }

  /** Storage names that have objects in the namespace, with their number. */
  contentOf(namespace: string): ReadonlyMap<string, number> {
    return this.#content.find(namespace)
  }

  /** Of one type. */
  countIn(storageName: string, namespace: string): number {
    return this.#content.contentOf(storageName, namespace).count
  }

  /**
   * Begins a session now: what comes after `options.after` and is not yet applied will be delivered. Synchronous, so
   * that nothing can happen between reading the cache for its backlog and this call.
   */
  open(options: Omit<SessionOptions, 'onQueued' | 'onClose'> & { readonly onClose?: () => void }): WatchSession {
    const { watchers } = this.type(options.type.storageName)
    const place = this.#deliveries.enter(options.flow ?? '')
    const session: WatchSession = new WatchSession({
      ...options,
      ...(options.flow === undefined ? {} : { place: this.#beginnings.place(options.flow) }),
      onQueued: (s) => {
        place.add(s)
        this.#hasQueued = true
      },
      onClose: (s) => {
        this.#deliveries.leave(place, s)
        watchers.remove(s)
        this.#bookmarks.remove(s)
        options.onClose?.()
      },
    })
    if (this.#stop.signal.aborted) session.close()
    if (session.closed) return session
    watchers.add(session)
    if (session.bookmarks) this.#bookmarks.add(session)
    return session
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.#bookmarks.stop()
    await this.#running
    for (const waiter of this.#waiters) waiter.reject(closed())
    this.#waiters = []
    for (const cache of this.#types.values()) for (const session of [...cache.watchers.all()]) session.close()
  }

  async #refresh(): Promise<Revision> {
    const revision = await this.storage.currentRevision()
    if (revision > this.#revision) await this.#arrival(revision)
    return this.#revision
  }

  /** @throws StorageError code=unavailable when the watch of the store is silent for too long. */
  async #arrival(revision: Revision): Promise<void> {
    const late = new AbortController()
    const timer = this.#clock.after(catchUpMs, () =>
      late.abort(new StorageError('unavailable', `the changes up to ${revision} have not arrived in ${catchUpMs} ms`)),
    )
    try {
      await this.applied(revision, late.signal)
    } finally {
      timer.cancel()
    }
  }

  async #load(): Promise<void> {
    this.#revision = await loadObjects(this.storage, this.#stop.signal, (revision, values) => {
      this.#loadedAt = revision
      this.#opened = values
      return (storageName) => this.type(storageName)
    })
  }

  async #run(): Promise<void> {
    const backoff = new Backoff<string>(10, 5000)
    let isLost = false
    while (!this.#stop.signal.aborted) {
      try {
        for await (const batch of this.storage.watch(span, this.#revision, this.#stop.signal)) {
          const changes = batch.type === 'changes' ? batch.changes : []
          for (let next = this.#apply(changes, 0); next < changes.length; next = this.#apply(changes, next)) {
            await socketsServed()
            if (this.#stop.signal.aborted) return
          }
          if (batch.type === 'progress') this.#advance(batch.revision)
          if (isLost) backoff.forget('watch')
          isLost = false
        }
        if (this.#stop.signal.aborted) return
        throw new StorageError('unavailable', 'the storage watch ended')
      } catch (e) {
        if (this.#stop.signal.aborted) return
        isLost = true
        await this.#recover(e, backoff)
      }
    }
  }

  async #recover(cause: unknown, backoff: Backoff<string>): Promise<void> {
    try {
      if (isStorageError(cause, 'compacted')) {
        this.#log.warn({ revision: this.#revision }, 'missed changes that the store has forgotten: reading everything')
        await this.#reload()
        return
      }
      // A cut for being slow is resumed at once; what else breaks a watch may need time.
      if (isStorageError(cause, 'overflow')) return
      throw cause
    } catch (e) {
      if (this.#stop.signal.aborted) return
      const waitMs = backoff.next('watch')
      this.#log.warn({ error: e, waitMs }, 'lost the storage watch: trying again')
      await sleep(this.#clock, waitMs, this.#stop.signal)
    }
  }

  /**
   * Answers where to go on, when others have had their turn: commits are many where many write at once, and each change
   * is offered to all who watch. Only between two commits: what readers see is always the end of one.
   */
  #apply(changes: readonly Change[], from: number): number {
    const until = this.#clock.monotonic() + sliceMs
    let to = from
    for (let change = changes[to]; change !== undefined; ) {
      this.#applyChange(change)
      const end = endOfCommit(change.revision)
      change = changes[++to]
      // A commit is never split between batches, so nothing of the last one is still to come.
      if (change !== undefined && (change.revision <= end || this.#clock.monotonic() < until)) continue
      this.#advance(end)
      break
    }
    return to
  }

  #applyChange(change: Change): void {
    const place = parseObjectKey(change.key)
    if (place) this.type(place.storageName).apply(place.relative, change.revision, change.value)
  }

  #advance(revision: Revision): void {
    this.#revision = Math.max(this.#revision, revision)
    if (this.#hasQueued) this.#handOut()
    if (this.#waiters.length === 0) return
    const waiters = this.#waiters
    this.#waiters = []
    for (const waiter of waiters) {
      if (waiter.revision <= this.#revision) waiter.resolve()
      else this.#waiters.push(waiter)
    }
  }

  #handOut(): void {
    this.#hasQueued = false
    this.#deliveries.start()
  }

  async #reload(): Promise<void> {
    const { revision, entries } = await readObjects(this.storage, this.#stop.signal)
    const present = new Map<string, Entry>()
    for await (const page of entries) for (const entry of page) present.set(entry.key, entry)
    const gone = new StorageError('compacted', 'the changes since the watch last heard are forgotten')
    for (const cache of this.#types.values()) for (const session of [...cache.watchers.all()]) session.close(gone)
    this.#window.clear()
    this.#loadedAt = revision
    applyDifferences(this, { revision, present })
    for (const cache of this.#types.values()) cache.history.restart(revision)
    this.#window.clear()
    this.#advance(revision)
  }
}

const socketsServed = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const closed = (): StorageError => new StorageError('closed', 'the watch cache is closed')
