/**
 * All current objects of one storage name, by key and in key order, with their recent changes and their followers.
 * Changes are applied synchronously, in revision order, by `WatchCache` alone.
 */
import { bytesLess } from '../base/key-order.ts'
import type { LabelSelector } from '../kube/label-selector.ts'
import { relativeKey } from '../kube/object-key.ts'
import type { ByteSlabs, Slot } from '../slabs/byte-slabs.ts'
import { type PackedKeys, type PackedPart, RecordMap } from '../slabs/record-map.ts'
import { damageOf, noteMark } from '../storage/damaged-value.ts'
import { type Entry, type Revision, StorageError } from '../storage/storage.ts'
import { type ChangeWindow, type ObjectChange, TypeHistory } from './change-window.ts'
import type { DamagedObjects } from './damaged-objects.ts'
import { LabelIndexes, type Labelled, stepObjects } from './label-index.ts'
import { MissingValues } from './missing-values.ts'
import type { ContentIndex } from './namespace-content.ts'
import type { ParsedPool } from './parsed-pool.ts'
import { SharedSnapshots, sharedFrom, type TakenNote } from './shared-snapshots.ts'
import { ObjectVersion, type VersionHome } from './stored-object.ts'
import { type Noted, VersionSnapshot, type Versions } from './version-snapshot.ts'
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
  /** What holds the bytes of all types. */
  readonly slabs: ByteSlabs
  /** Of an object that was loaded without its bytes. */
  readonly fetch: (storageName: string, key: string, revision: Revision) => Uint8Array
  /** What is stored of a type, by the key within it. */
  readonly fetchSpan: (storageName: string, span: KeySpan) => Iterable<Entry>
  /** Types with fewer objects have no indices of labels. */
  readonly indexedFrom: number
  readonly isClosed: () => boolean
  /** Told of every change, of whatever type. */
  readonly followers: ReadonlySet<AnyChangeListener>
  /** A listener threw. The others, and the cache, go on. */
  readonly onFault: (error: unknown) => void
}

/** Fewer versions are made at once. */
const fewVersions = 256
/** Of a stored object, where nothing is known of it. */
const typicalBytes = 600

const namespaceOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf('/')))

export class TypeCache implements VersionHome {
  readonly storageName: string
  readonly history: TypeHistory
  readonly watchers: WatcherIndex
  readonly pool: ParsedPool
  readonly #window: ChangeWindow
  readonly #content: ContentIndex
  readonly #damaged: DamagedObjects
  readonly #onFault: (error: unknown) => void
  readonly #followers: ReadonlySet<AnyChangeListener>
  readonly #records: RecordMap
  readonly #openLabels: () => LabelIndexes
  /** Made for the first list that selects by labels. */
  #labels: LabelIndexes | undefined
  readonly #missing: MissingValues
  /** Present versions of which something is parsed. */
  readonly #parsed = new Map<Slot, ObjectVersion>()
  #snapshots: SharedSnapshots | undefined
  readonly #listeners = new Set<ChangeListener>()
  /** Of what is damaged now: the version before. undefined = followers have heard of none. */
  readonly #lastSound = new Map<string, ObjectVersion | undefined>()
  #lastChange: Revision

  /** `since`: the revision from which on this cache sees every change. */
  constructor(storageName: string, since: Revision, parts: CacheParts) {
    this.storageName = storageName
    this.pool = parts.pool
    this.#records = new RecordMap(parts.slabs, (key, revision, keeps) => {
      const bytes = parts.fetch(storageName, key, revision)
      if (keeps) this.#fetched(key, bytes)
      else if (bytes[0] === noteMark) this.#noteDamage(key, bytes)
      return bytes
    })
    const { isClosed, onFault, indexedFrom } = parts
    const labelled = { size: () => this.size, steps: () => this.#labelledSteps(), isClosed, onFault }
    const openLabels = (): LabelIndexes => new LabelIndexes(labelled, indexedFrom)
    this.#openLabels = openLabels
    this.#missing = new MissingValues(
      this.#records,
      (span) => parts.fetchSpan(storageName, span),
      (key, bytes) => this.#fetched(key, bytes),
    )
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
    return this.#records.size
  }

  /** Of the indices of labels, outside the heap. */
  get labelIndexBytes(): number {
    return this.#labels?.sizeBytes ?? 0
  }

  get records(): Pick<RecordMap, 'size' | 'unfetched' | 'savedRecords' | 'valueBytes' | 'indexBytes'> {
    return this.#records
  }

  /** The cache is as it was at any revision from here to the present. */
  get lastChange(): Revision {
    return this.#lastChange
  }

  find(namespace: string, name: string): ObjectVersion | undefined {
    return this.findKey(relativeKey(namespace, name))
  }

  findKey(relative: string): ObjectVersion | undefined {
    const slot = this.#records.find(relative)
    return slot === 0 ? undefined : this.#versionAt(slot)
  }

  /** As `find`; what has to be fetched for it is not kept. */
  glance(namespace: string, name: string): ObjectVersion | undefined {
    const slot = this.#records.find(relativeKey(namespace, name))
    return slot === 0 ? undefined : (this.#parsed.get(slot) ?? this.#glanceAt(slot))
  }

  /** In key order, at most `limit`. */
  collect(
    span: KeySpan,
    limit: number = Number.POSITIVE_INFINITY,
  ): { readonly values: ObjectVersion[]; readonly more: boolean } {
    const { slots, more } = this.#records.slots(span.start, span.end, limit)
    const values = new Array<ObjectVersion>(slots.length)
    for (let i = 0; i < slots.length; i++) values[i] = this.#versionAt(slots[i] as Slot)
    return { values, more }
  }

  /** As `collect`, for readers that take what may be many one after the other. */
  snapshot(
    span: KeySpan,
    limit: number = Number.POSITIVE_INFINITY,
  ): { readonly values: Versions; readonly more: boolean } {
    const note = this.#snapshots?.find(span, limit) ?? this.#note(span, limit)
    const { noted, more, few } = note
    if (few !== undefined) return { values: few, more }
    const make = (slot: Slot, revision: Revision): ObjectVersion => {
      const parsed = this.#parsed.get(slot)
      return parsed?.revision === revision
        ? parsed
        : new ObjectVersion(this.#records.viewAt(slot, revision, note.epoch), this)
    }
    const comesTo = (of: Noted, from: number, to: number): void => this.#missing.fetchSome(of, from, to)
    return { values: new VersionSnapshot(noted, { make, comesTo }), more }
  }

  #note(span: KeySpan, limit: number): TakenNote {
    const { slots, more } = this.#records.slots(span.start, span.end, limit)
    const count = slots.length
    const noted: Noted = { slots, revisions: new Float64Array(count) }
    for (let i = 0; i < count; i++) noted.revisions[i] = this.#records.revisionOf(slots[i] as Slot)
    let few: ObjectVersion[] | undefined
    if (count <= fewVersions) {
      this.#missing.fetchSome(noted, 0, count)
      few = []
      for (let i = 0; i < count; i++) few.push(this.#versionAt(slots[i] as Slot))
    }
    const note = { noted, more, epoch: this.#records.epoch, few }
    if (count >= sharedFrom) (this.#snapshots ??= new SharedSnapshots()).share(span, limit, note)
    return note
  }

  /** What of a span may match a selector, in key order, where indices tell. undefined = use `collect`. */
  select(span: KeySpan, selector: LabelSelector): readonly ObjectVersion[] | undefined {
    // A list over something damaged fails, whatever it selects.
    if (this.#damaged.size > 0) return undefined
    this.#labels ??= this.#openLabels()
    const found = this.#labels.candidates(selector, this.count(span))
    if (found === undefined) return undefined
    const records = this.#records
    const keyed = Array.from(found, (slot) => ({ slot, key: records.keyOf(slot) }))
    return keyed
      .filter(({ key }) => !bytesLess(key, span.start) && bytesLess(key, span.end))
      .sort((a, b) => (bytesLess(a.key, b.key) ? -1 : 1))
      .map(({ slot }) => this.#versionAt(slot))
  }

  /**
   * All there is, for callers that look at each object once, in steps between which the cache changes: an object behind
   * the step that has been reached is met as it is then. What had to be fetched for it is not kept. Damaged objects are
   * left out, as in `subscribe`.
   */
  *glances(step: number, span: KeySpan = { start: '', end: pastAllKeys }): Generator<readonly ObjectVersion[]> {
    for (let { start } = span; ; ) {
      const { slots, more } = this.#records.slots(start, span.end, step)
      const missing = this.#missing.glance(slots)
      const seen = Array.from(slots, (slot) => this.#glanceAt(slot, missing))
      start = `${seen.at(-1)?.key ?? ''}\0`
      if (seen.length > 0) yield seen.filter((version) => version.firstByte !== noteMark)
      if (!more) return
    }
  }

  /**
   * How much there is; '' = in all namespaces, which is also where cluster-scoped objects are. Of values that were not
   * read yet the size is not known: they are taken to be as large as the others of the type.
   */
  sizeOf(namespace: string): { readonly objectCount: number; readonly totalBytes: number } {
    const { size, unfetched, valueBytes } = this.#records
    const meanBytes = size > unfetched ? valueBytes / (size - unfetched) : typicalBytes
    if (namespace === '') return { objectCount: size, totalBytes: Math.round(valueBytes + unfetched * meanBytes) }
    const { count, bytes } = this.#content.contentOf(this.storageName, namespace)
    return { objectCount: count, totalBytes: unfetched === 0 ? bytes : Math.max(bytes, Math.round(count * meanBytes)) }
  }

  count(span: KeySpan): number {
    return this.#records.count(span.start, span.end)
  }

  /**
   * Tells everything there is, then each change, inside its application. Of a damaged object nothing is told, and what
   * was told of it before stands: it can't be used, but it was not deleted.
   */
  subscribe(listener: ChangeListener): () => void {
    this.#missing.fetchAll(spanOf(''))
    for (const slot of this.#records.slots('', pastAllKeys, Number.POSITIVE_INFINITY).slots) {
      const version = this.#versionAt(slot)
      if (version.firstByte !== noteMark) listener(version, undefined, version.revision)
    }
    return this.follow(listener)
  }

  /** As `subscribe`, for changes alone: what exists is not looked at. */
  follow(listener: ChangeListener): () => void {
    const own: ChangeListener = (next, old, revision) => listener(next, old, revision)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  /** First filling, before any reader: no change is told. */
  load(key: string, revision: Revision, bytes: Uint8Array): void {
    this.#records.add(key, revision, bytes)
    this.#content.add(this.storageName, namespaceOf(key), bytes.length)
    if (bytes[0] === noteMark) this.#noteDamage(key, bytes)
  }

  /** As `load`; the bytes are fetched when they are asked for. */
  loadKeys(packed: PackedKeys, part: PackedPart): void {
    this.#records.addPacked(packed, part)
    this.#content.addPacked(this.storageName, packed, part)
  }

  #fetched(key: string, bytes: Uint8Array): void {
    this.#content.resize(this.storageName, namespaceOf(key), bytes.length)
    if (bytes[0] === noteMark) this.#noteDamage(key, bytes)
  }

  /** A change that was applied before is ignored: a watch that is resumed may tell its last commit again. */
  apply(key: string, revision: Revision, bytes: Uint8Array | undefined): void {
    const slot = this.#records.find(key)
    const old =
      slot === 0 ? undefined : (this.#parsed.get(slot) ?? new ObjectVersion(this.#records.heldView(slot), this))
    if (old === undefined ? bytes === undefined : old.revision >= revision) return
    this.#snapshots?.changed(key)
    const saved = old?.detach()
    this.#parsed.delete(slot)
    const next = bytes && ObjectVersion.of(key, revision, bytes, this)
    if (bytes === undefined) {
      this.#labels?.removed(slot)
      this.#records.remove(slot, saved)
      this.#content.remove(this.storageName, namespaceOf(key), saved?.sizeBytes ?? 0)
    } else if (saved !== undefined) {
      this.#records.update(slot, revision, bytes, saved)
      this.#labels?.changed({ slot, key, bytes })
      this.#content.resize(this.storageName, namespaceOf(key), bytes.length - saved.sizeBytes)
    } else {
      this.#records.add(key, revision, bytes)
      if (this.#labels?.isEmpty === false) this.#labels.changed({ slot: this.#records.find(key), key, bytes })
      this.#content.add(this.storageName, namespaceOf(key), bytes.length)
    }
    this.#lastChange = revision
    const change: ObjectChange = { revision, next, old }
    this.#window.record(this.history, change)
    if (next?.firstByte === noteMark || old?.firstByte === noteMark) this.#tellOfDamage(key, change)
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

  keep(version: ObjectVersion): void {
    const slot = this.#records.find(version.key)
    if (slot === 0 || !this.#records.holds(slot, version.revision)) return
    const other = this.#parsed.get(slot)
    if (other === version) return
    other?.release()
    version.hold(slot)
    this.#parsed.set(slot, version)
  }

  forget(version: ObjectVersion): void {
    if (this.#parsed.get(version.slot) !== version) return
    this.#parsed.delete(version.slot)
    version.release()
  }

  #versionAt(slot: Slot): ObjectVersion {
    return this.#parsed.get(slot) ?? new ObjectVersion(this.#records.view(slot), this)
  }

  *#labelledSteps(): Generator<readonly Labelled[]> {
    for (const step of this.glances(stepObjects)) {
      yield step.map(({ key, bytes }) => ({ slot: this.#records.find(key), key, bytes }))
    }
  }

  #glanceAt(slot: Slot, fetched?: ReadonlyMap<Revision, Uint8Array>): ObjectVersion {
    const revision = this.#records.revisionOf(slot)
    const bytes = fetched?.get(revision)
    if (bytes?.[0] === noteMark) this.#noteDamage(this.#records.keyOf(slot), bytes)
    return ObjectVersion.of(this.#records.keyOf(slot), revision, bytes ?? this.#records.glance(slot), this)
  }

  #noteDamage(key: string, bytes: Uint8Array): void {
    this.#damaged.set(this.storageName, key, damageOf(bytes))
  }
}
