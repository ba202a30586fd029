/**
 * One version of one object: its bytes as stored, and the parsed form on demand. Versions are immutable; what changes
 * is which one is current.
 */
import type { ResourceType } from '../kube/resource-type.ts'
import { asStored, encodeStored, metadataEnd, parseStored, parseStoredMetadata } from '../kube/stored-form.ts'
import type { KubeObject, ObjectMeta } from '../kube/types.ts'
import { damageOf, noteMark } from '../storage/damaged-value.ts'
import { type Revision, StorageError } from '../storage/storage.ts'
import type { ParsedPool } from './parsed-pool.ts'

/** A version seen as an object of one served type. */
export interface StoredObject {
  readonly type: ResourceType
  readonly namespace: string
  readonly name: string
  /** Of the change; the object's resourceVersion. 0 for a dry-run create. */
  readonly revision: Revision
  /** As `type` shows it: JSON without TypeMeta and without resourceVersion; always begins with `{"metadata":{`. */
  readonly bytes: Uint8Array
  /** Parsed once, complete with apiVersion, kind and resourceVersion. Shared: never change it. */
  readonly object: KubeObject
  /** Of `object`, without parsing the rest where that is not at hand. */
  readonly metadata: ObjectMeta
  /** As they are in the store, whatever `type` shows. */
  readonly storedBytes: Uint8Array
  /** As `object`, but not remembered: for those who look at many objects once. */
  parsedOnce(): KubeObject
}

/** What the cache holds per object. Small: there may be a million. */
export class ObjectVersion {
  /** Key within its storage name: `namespace/name` or `name`. */
  readonly key: string
  /** '' for cluster-scoped objects. */
  readonly namespace: string
  readonly revision: Revision
  readonly bytes: Uint8Array
  readonly #pool: ParsedPool | undefined
  /** The last type it was looked at as; nearly always the only one. */
  #view: TypedVersion | undefined

  /** `pool` remembers parsed forms for a while; without one they live as long as the version. */
  constructor(key: string, namespace: string, revision: Revision, bytes: Uint8Array, pool?: ParsedPool) {
    this.key = key
    this.namespace = namespace
    this.revision = revision
    this.bytes = bytes
    this.#pool = pool
  }

  get name(): string {
    return this.namespace === '' ? this.key : this.key.slice(this.namespace.length + 1)
  }

  /** What is wrong with what is stored; undefined: it is sound. */
  get damage(): string | undefined {
    return damageOf(this.bytes)
  }

  /** @throws StorageError code=damaged where what is stored is not what was written */
  as(type: ResourceType): StoredObject {
    const view = this.#view
    if (view !== undefined && view.type === type) return view
    if (this.bytes[0] === noteMark && this.damage !== undefined) throw new StorageError('damaged', this.damage)
    const made = new TypedVersion(type, this, this.#pool)
    this.#view = made
    return made
  }
}

export class TypedVersion implements StoredObject {
  readonly type: ResourceType
  readonly version: ObjectVersion
  readonly #pool: ParsedPool | undefined
  #object: KubeObject | undefined
  /** Parsed alone, where nothing else was asked for. */
  #metadata: ObjectMeta | undefined
  /** Only for types that do not show what is stored. */
  #converted: Uint8Array | undefined
  readonly #isGiven: boolean

  /** `object`: the parsed form, where the maker has it at hand. */
  constructor(type: ResourceType, version: ObjectVersion, pool?: ParsedPool, object?: KubeObject) {
    this.type = type
    this.version = version
    this.#pool = pool
    this.#object = object
    this.#isGiven = object !== undefined
  }

  /** True = somebody else must convert it before a client may see it. */
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

  get object(): KubeObject {
    if (this.#object === undefined) {
      const { bytes, revision } = this.version
      const announced = this.#pool?.announced(bytes, this.type)
      this.#object = announced ? asStored(announced, this.type, revision) : parseStored(bytes, this.type, revision)
      this.#pool?.keep(this)
    }
    return this.#object
  }

  get metadata(): ObjectMeta {
    if (this.#object !== undefined || this.type.conversion !== undefined) return this.object.metadata
    if (this.#metadata === undefined) {
      const { bytes, revision } = this.version
      const sizeBytes = metadataEnd(bytes)
      this.#metadata = parseStoredMetadata(bytes, sizeBytes, revision)
      const forget = (): void => {
        this.#metadata = undefined
      }
      this.#pool?.keep({ sizeBytes, forget })
    }
    return this.#metadata
  }

  /** What the pool counts. */
  get sizeBytes(): number {
    return this.bytes.byteLength
  }

  parsedOnce(): KubeObject {
    return this.#object ?? parseStored(this.version.bytes, this.type, this.version.revision)
  }

  /** Called by the pool: parsed again when next asked for. */
  forget(): void {
    this.#object = undefined
    this.#converted = undefined
  }
}
