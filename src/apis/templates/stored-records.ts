/**
 * Applied records in the store: `/registry/borough/applied/<namespace>`, read like objects from the watch cache.
 * Admission writes them with what they are about; the controller adds what no write of an object could carry.
 */
import type { DecidedWrite, DecisionView, Guard } from '../../admission/admission.ts'
import { restBetween } from '../../base/rest-between.ts'
import type { FeatureContext } from '../../feature/feature.ts'
import { recordType } from '../../feature/record-type.ts'
import { nameOf, uidOf } from '../../kube/metadata.ts'
import { objectKey } from '../../kube/object-key.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { encodeStored } from '../../kube/stored-form.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { ObjectVersion } from '../../registry/registry.ts'
import type { NamespaceLookup } from '../namespaces/lookup.ts'
import type { Namespace } from '../namespaces/types.ts'
import {
  type AppliedObject,
  type AppliedRecords,
  changedRecord,
  identityOfApplied,
  type RecordChange,
  type RecordListener,
  selectUnclaimed,
} from './applied-records.ts'
import type { RecordWriter } from './record-admission.ts'

const storageName = 'borough'
const folder = 'applied'
/** Records that are read in one step of a start. */
const stepRecords = 200
/** Beyond so many objects in a namespace each apply would write a large record: then it is written ahead, once. */
const mostTogether = 90

interface StoredRecord extends KubeObject {
  /** Of the namespace that it is about. */
  readonly namespaceUid: string
  readonly objects: readonly AppliedObject[]
}

export interface StoredRecordsParts extends Pick<FeatureContext, 'records' | 'stored'> {
  readonly namespaces: NamespaceLookup
}

const nothing: readonly AppliedObject[] = []

export class StoredRecords implements AppliedRecords, RecordWriter {
  readonly #parts: StoredRecordsParts
  /** Never served; only says where records lie and how they are read. */
  readonly #type: ResourceType<StoredRecord>
  /** namespace → identity → what is being applied by this process */
  readonly #announced = new Map<string, ReadonlyMap<string, AppliedObject>>()

  constructor(parts: StoredRecordsParts) {
    this.#parts = parts
    this.#type = recordType(parts.namespaces.type, storageName)
  }

  async follow(told: RecordListener, signal: AbortSignal): Promise<void> {
    await this.#parts.stored.refresh()
    if (signal.aborted) return
    /** Of what lies behind this key nothing has been told yet: it is met as it will be then. */
    let reached: string | undefined = ''
    const stop = this.#parts.stored.follow((changedName, next, old) => {
      const version = next ?? old
      if (changedName !== storageName || version?.namespace !== folder) return
      if (reached !== undefined && version.key > reached) return
      const { namespaceUid } = this.#recordOf(version)
      // Of a removal it is not known, and not asked for: nothing of it is left to compare.
      const record = { namespaceUid, revision: next?.revision ?? 0, isFirst: false }
      told(version.name, this.#objectsOf(next), this.#objectsOf(old), record)
    })
    signal.addEventListener('abort', stop, { once: true })
    const rest = restBetween()
    for (const step of this.#parts.stored.glances(storageName, stepRecords, folder)) {
      if (signal.aborted) return
      for (const version of step) {
        this.#tellFirst(version, told)
        reached = version.key
      }
      if (step.length === stepRecords) await rest()
    }
    reached = undefined
  }

  of(namespace: string): readonly AppliedObject[] {
    return this.#objectsOf(this.#find(namespace))
  }

  /** Whether something of it is recorded there. Nothing is parsed: a text in a record has no such quotes. */
  names(template: string, namespace: string): boolean {
    const bytes = this.#find(namespace)?.bytes
    return bytes !== undefined && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(namedIn(template))
  }

  async announce(namespace: Namespace, objects: readonly AppliedObject[]): Promise<void> {
    const name = nameOf(namespace.metadata)
    const ahead = selectUnclaimed(objects, this.of(name))
    if (this.of(name).length + ahead.length > mostTogether) {
      await this.#change(namespace, { applied: ahead, released: [] })
    } else this.#announced.set(name, new Map(objects.map((object) => [identityOfApplied(object), object])))
  }

  async settle(namespace: Namespace, change: RecordChange): Promise<void> {
    this.#announced.delete(nameOf(namespace.metadata))
    await this.#change(namespace, change)
  }

  /** Mostly it went with its namespace. */
  async release(namespace: string, uid: string): Promise<void> {
    for (;;) {
      if (this.#parts.namespaces.find(namespace)?.metadata.uid === uid) return
      const version = this.#find(namespace)
      if (version === undefined || this.#recordOf(version).namespaceUid !== uid) return
      const key = objectKey(storageName, folder, namespace)
      if (await this.#commit({ key, expect: version.revision, value: undefined })) return
    }
  }

  get isComplete(): boolean {
    return this.#parts.stored.find(storageName, '', folder) !== undefined
  }

  async complete(): Promise<void> {
    const value = encodeStored({ metadata: { name: folder } })
    await this.#commit({ key: objectKey(storageName, '', folder), expect: 'absent', value })
  }

  announced(namespace: string, identity: string): AppliedObject | undefined {
    return this.#announced.get(namespace)?.get(identity)
  }

  written(view: DecisionView, namespace: string, applied: readonly AppliedObject[]): DecidedWrite | undefined {
    const { metadata } = view.see(this.#parts.namespaces.type, '', namespace).object ?? { metadata: {} }
    const uid = uidOf(metadata)
    const seen = view.see(this.#type, folder, namespace)
    // One that a server before these records left behind, of another namespace of this name, is written over.
    const objects = changedRecord(objectsOf(seen.object, uid), { applied, released: [] }, true)
    if (objects === undefined) return undefined
    const object = recordOf(namespace, uid, objects)
    return { key: seen.key, expect: seen.expect, value: encodeStored(object), object, type: this.#type }
  }

  removed(view: DecisionView, namespace: string): DecidedWrite | undefined {
    const { key, expect, object } = view.see(this.#type, folder, namespace)
    return object === undefined ? undefined : { key, expect, value: undefined }
  }

  async #change(namespace: Namespace, change: RecordChange): Promise<void> {
    const { type, find } = this.#parts.namespaces
    const name = nameOf(namespace.metadata)
    const uid = uidOf(namespace.metadata)
    for (;;) {
      const there = this.#parts.stored.find(type.storageName, '', name)
      if (there === undefined || find(name)?.metadata.uid !== uid) return
      const version = this.#find(name)
      const record = version && this.#recordOf(version)
      const objects = changedRecord(objectsOf(record, uid), change, true)
      if (objects === undefined) return
      const expect = version?.revision ?? 'absent'
      if (objects.length === 0 && expect === 'absent') return
      const value = objects.length === 0 ? undefined : encodeStored(recordOf(name, uid, objects))
      const guard = { key: objectKey(type.storageName, '', name), expect: there.revision }
      if (await this.#commit({ key: objectKey(storageName, folder, name), expect, value }, guard)) return
    }
  }

  /** False = not as expected; either way the cache shows what is there now. */
  async #commit(write: DecidedWrite, ...guards: readonly Guard[]): Promise<boolean> {
    const { records, stored } = this.#parts
    const commit = await records.commit({ guards, writes: [write] }).done
    if (commit.ok) await stored.applied(commit.revision)
    else await stored.refresh()
    return commit.ok
  }

  #find(namespace: string): ObjectVersion | undefined {
    // A pass reads it once, and a start makes a pass over every namespace.
    return this.#parts.stored.glance(storageName, folder, namespace)
  }

  #tellFirst(version: ObjectVersion, told: RecordListener): void {
    const { objects, namespaceUid } = version.as(this.#type).parsedOnce()
    told(version.name, objects, nothing, { namespaceUid, revision: version.revision, isFirst: true })
  }

  #recordOf(version: ObjectVersion): StoredRecord {
    return version.as(this.#type).object
  }

  #objectsOf(version: ObjectVersion | undefined): readonly AppliedObject[] {
    return version === undefined ? nothing : this.#recordOf(version).objects
  }
}

/** As a record has it. */
const namedIn = (template: string): string => `"template":${JSON.stringify(template)}`

/** As far as it is about the namespace of this uid. */
const objectsOf = (record: StoredRecord | undefined, uid: string): readonly AppliedObject[] =>
  record?.namespaceUid === uid ? record.objects : nothing

const recordOf = (name: string, namespaceUid: string, objects: readonly AppliedObject[]): StoredRecord => ({
  metadata: { name },
  namespaceUid,
  objects,
})
