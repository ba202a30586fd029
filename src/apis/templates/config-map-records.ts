/**
 * Applied records on a cluster that keeps none itself: one ConfigMap per namespace, in a namespace of the controller's
 * own where tenants may not write. A record is written ahead of the applies it tells of, and completed after them; so
 * a process that dies in between leaves entries without a uid, which are ours only where the object is marked as ours
 * too.
 */

import type { Clock } from '../../base/clock.ts'
import { parseJsonText } from '../../base/parse-json-text.ts'
import type { Client } from '../../client/client.ts'
import { findObject } from '../../client/find-object.ts'
import { Informer } from '../../client/informer.ts'
import { nameOf, uidOf } from '../../kube/metadata.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import {
  type AppliedObject,
  type AppliedRecords,
  changedRecord,
  type RecordChange,
  type RecordListener,
  selectUnclaimed,
} from './applied-records.ts'

export interface ConfigMapRecordsDeps {
  readonly client: Client
  readonly clock: Clock
  /** Where the ConfigMaps are. */
  readonly namespace: string
  readonly onError: (error: unknown) => void
}

const configMaps = { group: '', version: 'v1', resource: 'configmaps' } as const
/** The name of the namespace that a record is about, so that people find it. */
export const recordLabel = 'policy.borough.dev/applied-in'
/** By the uid of the namespace: one that is made again under its name has a record of its own. */
export const recordName = (namespaceUid: string): string => `applied-${namespaceUid}`
/**
 * There once everything that was applied before there were records is recorded. It carries the label, about nothing.
 */
export const completeName = 'applied-complete'

interface KnownRecord {
  /** Of the namespace. */
  readonly name: string
  readonly objects: readonly AppliedObject[]
  /** Of the ConfigMap; undefined = there is none. */
  readonly resourceVersion: string | undefined
}

const nothing: readonly AppliedObject[] = []
/** A conflict means that the former leader has not stopped yet, or that an administrator edited the ConfigMap. */
const tries = 5

export class ConfigMapRecords implements AppliedRecords {
  readonly #deps: ConfigMapRecordsDeps
  /** By the uid of the namespace. */
  readonly #records = new Map<string, KnownRecord>()
  /** Name → uids: two only for a moment, of a namespace that has gone and of the next of its name. */
  readonly #uids = new Map<string, ReadonlySet<string>>()
  #told: RecordListener = () => {}
  #isReading = false
  #isComplete = false

  constructor(deps: ConfigMapRecordsDeps) {
    this.#deps = deps
  }

  get isComplete(): boolean {
    return this.#isComplete
  }

  /** Reads them once: only this process writes them, and a write finds out where another one was faster. */
  async follow(told: RecordListener, signal: AbortSignal): Promise<void> {
    const { client, clock, namespace, onError } = this.#deps
    this.#told = told
    this.#isReading = true
    const read = new AbortController()
    const informer = new Informer({
      client,
      clock,
      resource: configMaps,
      namespace,
      labelSelector: recordLabel,
      onError,
      onChange: (configMap) => {
        if (configMap === undefined || read.signal.aborted) return
        if (configMap.metadata.name === completeName) this.#isComplete = true
        else this.#learn(configMap)
      },
    })
    const reading = informer.run(AbortSignal.any([signal, read.signal]))
    await Promise.race([informer.whenSynced(), reading])
    this.#isReading = false
    read.abort()
    await reading
  }

  of(namespace: string): readonly AppliedObject[] {
    const uids = [...(this.#uids.get(namespace) ?? [])]
    return uids.length === 1
      ? (this.#records.get(uids[0] ?? '')?.objects ?? nothing)
      : uids.flatMap((uid) => this.#records.get(uid)?.objects ?? nothing)
  }

  async announce(namespace: Namespace, objects: readonly AppliedObject[], signal: AbortSignal): Promise<void> {
    const applied = selectUnclaimed(objects, this.#records.get(uidOf(namespace.metadata))?.objects ?? nothing)
    await this.settle(namespace, { applied, released: [] }, signal)
  }

  async settle(namespace: Namespace, change: RecordChange, signal: AbortSignal): Promise<void> {
    const name = nameOf(namespace.metadata)
    const uid = uidOf(namespace.metadata)
    for (let left = tries; ; left--) {
      const known = this.#records.get(uid) ?? { name, objects: nothing, resourceVersion: undefined }
      const objects = changedRecord(known.objects, change)
      if (objects === undefined) return
      try {
        this.#set(uid, { name, objects, resourceVersion: await this.#write(uid, { ...known, objects }, signal) })
        return
      } catch (error) {
        const isOvertaken = isConflict(error) || isAlreadyExists(error) || isNotFound(error)
        if (!isOvertaken || left === 1) throw error
        await this.#read(uid, name, signal)
      }
    }
  }

  async release(_namespace: string, uid: string, signal: AbortSignal): Promise<void> {
    const known = this.#records.get(uid)
    if (known === undefined) return
    this.#set(uid, { ...known, objects: nothing, resourceVersion: undefined })
    if (known.resourceVersion !== undefined) await this.#remove(uid, signal)
  }

  async complete(signal: AbortSignal): Promise<void> {
    const metadata = { namespace: this.#deps.namespace, name: completeName, labels: { [recordLabel]: '' } }
    try {
      await this.#deps.client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata }, { signal })
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
    this.#isComplete = true
  }

  /** Answers its resourceVersion; a record of nothing is none. */
  async #write(uid: string, record: KnownRecord, signal: AbortSignal): Promise<string | undefined> {
    const { client, namespace } = this.#deps
    const { name, objects, resourceVersion } = record
    if (objects.length === 0) {
      if (resourceVersion !== undefined) await this.#remove(uid, signal)
      return undefined
    }
    const configMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        namespace,
        name: recordName(uid),
        labels: { [recordLabel]: name },
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      },
      data: { namespaceUid: uid, objects: JSON.stringify(objects) },
    }
    const write = resourceVersion === undefined ? client.create : client.update
    const { metadata } = await write.call(client, configMaps, configMap, { signal })
    return metadata.resourceVersion
  }

  async #remove(uid: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#deps.client.delete(configMaps, { ...this.#place(uid) }, { signal })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  async #read(uid: string, name: string, signal: AbortSignal): Promise<void> {
    const found = await findObject(this.#deps.client, configMaps, this.#place(uid), { signal })
    if (found === undefined)
      this.#set(uid, { name, objects: this.#records.get(uid)?.objects ?? nothing, resourceVersion: undefined })
    else this.#learn(found)
  }

  /** What cannot be read an administrator has spoilt: it says nothing, and stays until he mends or deletes it. */
  #learn(configMap: KubeObject): void {
    try {
      this.#set(...readRecord(configMap))
    } catch (error) {
      const message = `ConfigMap ${configMap.metadata.name} is no record of what templates made`
      this.#deps.onError(new Error(message, { cause: error }))
    }
  }

  #place(uid: string): { readonly namespace: string; readonly name: string } {
    return { namespace: this.#deps.namespace, name: recordName(uid) }
  }

  #set(uid: string, record: KnownRecord): void {
    const { name } = record
    const old = this.#records.get(uid)?.objects ?? nothing
    const uids = new Set(this.#uids.get(name))
    if (record.objects.length === 0 && record.resourceVersion === undefined) {
      this.#records.delete(uid)
      uids.delete(uid)
    } else {
      this.#records.set(uid, record)
      uids.add(uid)
    }
    if (uids.size === 0) this.#uids.delete(name)
    else this.#uids.set(name, uids)
    this.#told(name, record.objects, old, { namespaceUid: uid, revision: 0, isFirst: this.#isReading })
  }
}

function readRecord({ metadata, data }: KubeObject): [uid: string, record: KnownRecord] {
  const { namespaceUid = '', objects = '[]' } = (data ?? {}) as Readonly<Record<string, string>>
  const { labels, resourceVersion } = metadata
  const name = labels?.[recordLabel] ?? ''
  return [namespaceUid, { name, objects: parseJsonText(objects) as AppliedObject[], resourceVersion }]
}
