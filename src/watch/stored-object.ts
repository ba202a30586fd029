/**
 * One version of one object: its bytes as stored, and the parsed form on demand. Versions are immutable; what changes
 * is which one is current.
 */
import { andThen, type Eventual } from '../base/eventual.ts'
import { runInSlices } from '../base/resumable.ts'
import type { Slice } from '../base/turns.ts'
import type { Labels } from '../kube/label-selector.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import {
  asStored,
  encodeStored,
  metadataEnd,
  parseStored,
  parseStoredMetadata,
  parsingStored,
} from '../kube/stored-form.ts'
import { noLabels, storedLabels } from '../kube/stored-labels.ts'
import type { KubeObject, ObjectMeta } from '../kube/types.ts'
import type { Slot } from '../slabs/byte-slabs.ts'
import { RecordView } from '../slabs/read-epoch.ts'
import { damageOf, noteMark } from '../storage/damaged-value.ts'
import { type Revision, StorageError } from '../storage/storage.ts'
import type { ParsedPool } from './parsed-pool.ts'

/** A version seen as an object of one served type. @typeParam T what TypeScript knows of its objects */
export interface StoredObject<T extends KubeObject = KubeObject> {
  readonly type: ResourceType
  readonly namespace: string
  readonly name: string
  /** Of the change; the object's resourceVersion. 0 for a dry-run create. */
  readonly revision: Revision
  /** As `type` shows it: JSON without TypeMeta and without resourceVersion; always begins with `{"metadata":{`. */
  readonly bytes: Uint8Array
  /** `object` costs no parsing. */
  readonly isAtHand: boolean
  /** Parsed once, complete with apiVersion, kind and resourceVersion. Shared: never change it. */
  readonly object: T
  /** `object`, which is parsed in slices where it is not at hand. */
  read(slice: Slice): Eventual<T>
  /** Of `object`, without parsing the rest where that is not at hand. */
  readonly metadata: ObjectMeta
  /** Of `metadata`, where that takes neither a copy of the bytes nor much parsing. undefined: ask `metadata`. */
  readonly labelsAtHand: Labels | undefined
  /** As they are in the store, whatever `type` shows. */
  readonly storedBytes: Uint8Array
  /** Of `bytes`; costs no copy where `type` shows what is stored. */
  readonly sizeBytes: number
  /** Of `storedBytes`, without a copy. */
  readonly storedSizeBytes: number
  /** Copies `bytes` from `from` on; answers how many that were. */
  copyTo(target: Uint8Array, at: number, from: number): number
  /** As `object`, but not remembered: for readers that look at many objects once. */
  parsedOnce(): T
}

/** What a version is made of. Of what the cache holds only a view: `bytes` copies. */
export interface VersionRecord {
  readonly key: string
  readonly revision: Revision
  readonly bytes: Uint8Array
  readonly sizeBytes: number
  readonly firstByte: number | undefined
  copyTo(target: Uint8Array, at: number, from: number): number
}

/** Who remembers versions as long as they are parsed. */
export interface VersionHome {
  readonly pool: ParsedPool
  /** Something of it is parsed: the next lookup should find this one. */
  keep(version: ObjectVersion): void
  forget(version: ObjectVersion): void
}

/** Small, and made anew for most who ask: what is remembered of a version is parsed forms, see `ParsedPool`. */
export class ObjectVersion {
  readonly revision: Revision
  readonly home: VersionHome | undefined
  #slot: Slot = 0
  #record: VersionRecord
  #key: string | undefined
  #sizeBytes = -1
  /** The last type it was looked at as; nearly always the only one. */
  #view: TypedVersion | undefined

  /** `home` remembers parsed forms for a while; without one they live as long as the version. */
  constructor(record: VersionRecord, home?: VersionHome) {
    this.#record = record
    this.revision = record.revision
    this.home = home
  }

  static of(key: string, revision: Revision, bytes: Uint8Array, home?: VersionHome): ObjectVersion {
    return new ObjectVersion(new OwnRecord(key, revision, bytes), home)
  }

  /** Key within its storage name: `namespace/name` or `name`. */
  get key(): string {
    this.#key ??= this.#record.key
    return this.#key
  }

  /** Where it was remembered last; 0 = nowhere. */
  get slot(): Slot {
    return this.#slot
  }

  /** '' for cluster-scoped objects. */
  get namespace(): string {
    return this.key.slice(0, Math.max(0, this.key.indexOf('/')))
  }

  get name(): string {
    return this.key.slice(this.key.indexOf('/') + 1)
  }

  /** As stored. Mostly a copy: ask once. */
  get bytes(): Uint8Array {
    return this.#record.bytes
  }

  get sizeBytes(): number {
    if (this.#sizeBytes < 0) this.#sizeBytes = this.#record.sizeBytes
    return this.#sizeBytes
  }

  /** Of `bytes`, without a copy. */
  get firstByte(): number | undefined {
    return this.#record.firstByte
  }

  /** Copies the bytes from `from` on; answers how many that were. */
  copyTo(target: Uint8Array, at: number, from: number): number {
    return this.#record.copyTo(target, at, from)
  }

  /** Where the bytes are not this version's own: then they need not be copied for it. undefined: ask the bytes. */
  get labels(): Labels | undefined {
    const head = this.#record instanceof OwnRecord ? undefined : this.home?.pool.head
    return head && storedLabels(head, this.copyTo(head, 0, 0))
  }

  /** It is remembered under its slot by who replaces it: see `detach`. */
  hold(slot: Slot): void {
    this.#slot = slot
    if (this.#record instanceof RecordView) this.#record.hold()
  }

  /** Not remembered any more, and perhaps still in use. */
  release(): void {
    if (this.#record instanceof RecordView) this.#record.release()
  }

  /** It is about to be replaced, and lives on: with bytes of its own. */
  detach(): VersionRecord {
    if (!(this.#record instanceof OwnRecord)) {
      const bytes = Buffer.allocUnsafeSlow(this.sizeBytes)
      this.copyTo(bytes, 0, 0)
      this.#record = new OwnRecord(this.key, this.revision, bytes)
    }
    return this.#record
  }

  /** What this process is storing: the object of these bytes, where it is at hand. */
  get written(): KubeObject | undefined {
    return this.#record instanceof OwnRecord ? this.home?.pool.written(this.#record.bytes) : undefined
  }

  /** It is being stored by this process, which has the object. */
  isAnnounced(type: ResourceType): boolean {
    return this.#record instanceof OwnRecord && this.home?.pool.announced(this.#record.bytes, type) !== undefined
  }

  /** What is wrong with what is stored; undefined: it is sound. */
  get damage(): string | undefined {
    return this.firstByte === noteMark ? damageOf(this.bytes) : undefined
  }

  /**
   * What is stored under a type was validated as an object of it.
   * @throws StorageError code=damaged where what is stored is not what was written
   */
  as<T extends KubeObject>(type: ResourceType<T>): StoredObject<T> {
    let view = this.#view
    if (view === undefined || view.type !== type) {
      const { damage } = this
      if (damage !== undefined) throw new StorageError('damaged', damage)
      view = new TypedVersion(type, this)
      this.#view = view
    }
    return view as StoredObject as StoredObject<T>
  }
}

class OwnRecord implements VersionRecord {
  readonly key: string
  readonly revision: Revision
  readonly bytes: Uint8Array

  constructor(key: string, revision: Revision, bytes: Uint8Array) {
    this.key = key
    this.revision = revision
    this.bytes = bytes
  }

  get sizeBytes(): number {
    return this.bytes.byteLength
  }

  get firstByte(): number | undefined {
    return this.bytes[0]
  }

  copyTo(target: Uint8Array, at: number, from: number): number {
    return copyBytes.call(this.bytes, target, at, from)
  }
}

/** Works on every Uint8Array, without a view of the part as `set` would need. */
const copyBytes: (this: Uint8Array, target: Uint8Array, targetStart: number, sourceStart: number) => number =
  Buffer.alloc(0).copy

export class TypedVersion implements StoredObject {
  readonly type: ResourceType
  readonly version: ObjectVersion
  #object: KubeObject | undefined
  /** Parsed alone, where nothing else was asked for. */
  #metadata: ObjectMeta | undefined
  /** Only for types that do not show what is stored. */
  #converted: Uint8Array | undefined
  readonly #isGiven: boolean

  /** `object`: the parsed form, where the maker has it at hand. */
  constructor(type: ResourceType, version: ObjectVersion, object?: KubeObject) {
    this.type = type
    this.version = version
    this.#object = object
    this.#isGiven = object !== undefined
  }

  /** True = a webhook must convert it before a client may see it. */
  get isRaw(): boolean {
    return this.type.conversion?.remote !== undefined && !this.#isGiven
  }

  get namespace(): string {
    return this.version.namespace
  }

  get name(): string {
    return this.version.name
  }

  get revision(): Revision {
    return this.version.revision
  }

  get bytes(): Uint8Array {
    if (!this.type.conversion) return this.version.bytes
    if (this.isRaw) throw new Error(`${this.version.key} has not been converted to ${this.type.version}`)
    this.#converted ??= encodeStored(this.object)
    return this.#converted
  }

  get storedBytes(): Uint8Array {
    return this.version.bytes
  }

  get isAtHand(): boolean {
    return this.#object !== undefined || this.version.isAnnounced(this.type)
  }

  get object(): KubeObject {
    if (this.#object === undefined) {
      const { bytes, revision } = this.version
      const { home } = this.version
      const announced = home?.pool.announced(bytes, this.type)
      this.#keep(announced ? asStored(announced, this.type, revision) : parseStored(bytes, this.type, revision))
    }
    return this.#object as KubeObject
  }

  read(slice: Slice): Eventual<KubeObject> {
    if (this.isAtHand) return this.object
    const { bytes, revision } = this.version
    return andThen(runInSlices(parsingStored(bytes, this.type, revision), slice), (object) => {
      if (this.#object === undefined) this.#keep(object)
      return this.object
    })
  }

  #keep(object: KubeObject): void {
    this.#object = object
    const { home } = this.version
    home?.pool.keep(this)
    home?.keep(this.version)
  }

  get metadata(): ObjectMeta {
    if (this.#object !== undefined || this.type.conversion !== undefined) return this.object.metadata
    if (this.#metadata === undefined) {
      const { bytes, revision } = this.version
      const sizeBytes = metadataEnd(bytes)
      this.#metadata = parseStoredMetadata(bytes, sizeBytes, revision)
      const { home } = this.version
      const forget = (): void => {
        this.#metadata = undefined
        if (this.#object === undefined) home?.forget(this.version)
      }
      home?.pool.keep({ sizeBytes, forget })
      home?.keep(this.version)
    }
    return this.#metadata
  }

  get labelsAtHand(): Labels | undefined {
    if (this.type.conversion !== undefined) return undefined
    const parsed = this.#object?.metadata ?? this.#metadata
    return parsed === undefined ? this.version.labels : (parsed.labels ?? noLabels)
  }

  get sizeBytes(): number {
    return this.type.conversion ? this.bytes.byteLength : this.version.sizeBytes
  }

  get storedSizeBytes(): number {
    return this.version.sizeBytes
  }

  copyTo(target: Uint8Array, at: number, from: number): number {
    return this.type.conversion ? copyBytes.call(this.bytes, target, at, from) : this.version.copyTo(target, at, from)
  }

  parsedOnce(): KubeObject {
    return this.#object ?? parseStored(this.version.bytes, this.type, this.version.revision)
  }

  /** Called by the pool: parsed again when next asked for. */
  forget(): void {
    this.#object = undefined
    this.#converted = undefined
    if (this.#metadata === undefined) this.version.home?.forget(this.version)
  }
}
