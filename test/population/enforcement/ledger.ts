/** All that is stored of ConfigMaps and of records, in the order of revisions: of a store of ours, or by a watch. */
import type { AppliedObject } from '../../../src/apis/templates/applied-records.ts'
import { recordLabel } from '../../../src/apis/templates/config-map-records.ts'
import type { Client } from '../../../src/client/client.ts'
import type { KubeObject } from '../../../src/kube/types.ts'
import type { MemoryStorage } from '../../../src/storage/memory/memory-storage.ts'
import { prefixSpan } from '../../../src/storage/storage.ts'

export interface NamespaceRecord {
  readonly namespace: string
  readonly objects: readonly AppliedObject[]
}

export type Entry = { readonly revision: number } & (
  | {
      /** `namespace/name` of a ConfigMap */
      readonly place: string
      /** undefined: it is gone */
      readonly object: KubeObject | undefined
    }
  | { readonly record: string; readonly says: NamespaceRecord | undefined }
)

export interface Page {
  readonly entries: readonly Entry[]
  /** Everything up to it was told. */
  readonly revision: number
}

export interface Ledger {
  currentRevision(): Promise<number>
  /** From now on. */
  follow(signal: AbortSignal): AsyncIterable<Page>
}

/** As it lies in a store: Borough's own, or a ConfigMap. */
interface StoredRecord extends KubeObject {
  readonly objects?: readonly AppliedObject[]
  readonly data?: Readonly<Record<string, string>>
}

const configMaps = '/registry/configmaps/'
const configMapResource = { group: '', version: 'v1', resource: 'configmaps' }

const readConfigMap = ({ metadata, data }: StoredRecord): NamespaceRecord => ({
  namespace: metadata.labels?.[recordLabel] ?? '',
  objects: JSON.parse(data?.['objects'] ?? '[]') as AppliedObject[],
})

/** Of a Borough, which keeps records beside its objects. */
export const storedLedger = (store: MemoryStorage): Ledger =>
  ledgerOf(store, '/registry/borough/applied/', ({ metadata, objects = [] }) => ({
    namespace: metadata.name ?? '',
    objects,
  }))

/** Of a Borough that `borough populate` serves from this namespace. */
export const configMapLedger = (store: MemoryStorage, own: string): Ledger =>
  ledgerOf(store, `${configMaps}${own}/applied-`, readConfigMap)

function ledgerOf(store: MemoryStorage, recordPrefix: string, read: (stored: StoredRecord) => NamespaceRecord): Ledger {
  return {
    currentRevision: () => store.currentRevision(),
    async *follow(signal) {
      for await (const batch of store.watch(prefixSpan('/registry/'), await store.currentRevision(), signal)) {
        if (batch.type === 'progress') yield { entries: [], revision: batch.revision }
        else {
          const entries: Entry[] = []
          for (const { key, revision, value } of batch.changes) {
            const object = value && (JSON.parse(Buffer.from(value).toString()) as KubeObject)
            if (key.startsWith(recordPrefix)) entries.push({ revision, record: key, says: object && read(object) })
            else if (key.startsWith(configMaps)) entries.push({ revision, place: key.slice(configMaps.length), object })
          }
          yield { entries, revision: 0 }
        }
      }
    },
  }
}

const probe = { namespace: 'default', name: 'where-the-watch-is' }

/** Of any cluster: its ConfigMaps are watched, and one of the test's own says how far the watch has come. */
export function watchedLedger(client: Client, own: string): Ledger {
  return {
    async currentRevision() {
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: probe, data: { at: String(performance.now()) } }
      const { metadata } = await client.apply(configMapResource, object, { fieldManager: 'test' })
      return Number(metadata.resourceVersion)
    },
    async *follow(signal) {
      let from = (await client.list(configMapResource, { namespace: own })).metadata.resourceVersion ?? ''
      while (!signal.aborted) {
        // A server ends a watch when it has lasted some minutes; the next goes on from there.
        for await (const { type, object } of client.watch(configMapResource, { resourceVersion: from, signal })) {
          if (type === 'BOOKMARK') continue
          const { namespace, name, resourceVersion = '' } = object.metadata
          from = resourceVersion
          const revision = Number(resourceVersion)
          const kept = type === 'DELETED' ? undefined : object
          const entry: Entry =
            namespace === own && name?.startsWith('applied-')
              ? { revision, record: name, says: kept && readConfigMap(kept) }
              : { revision, place: `${namespace}/${name}`, object: kept }
          yield { entries: [entry], revision }
        }
      }
    },
  }
}
