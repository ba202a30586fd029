/** What happened, by the store: every change in order, in the terms of the API. And what clients asked and heard. */

import type { KubeObject } from '../../src/kube/types.ts'
import type { WatchEvent } from '../../src/storage/etcd/messages.ts'
import { positionOf, toEntry, toRevision } from '../../src/storage/etcd/record.ts'
import type { Commit } from './etcd/mvcc.ts'
import { openStored } from './kms/kms.ts'

export interface StoredChange {
  readonly key: string
  /** Of the commit. */
  readonly commit: number
  /** 0 for a deletion: it leaves no position behind. */
  readonly revision: number
  /** In simulated time. */
  readonly at: number
  readonly object: KubeObject | undefined
  readonly previous: { readonly revision: number; readonly object: KubeObject } | undefined
}

const registry = '/registry/'
/** Records of the server, which are no objects. */
const records = '/registry/borough/'

/** Of objects; the engine's own keys and records are left out. */
export function changesOf(commits: readonly Commit[]): StoredChange[] {
  return commits.flatMap(({ revision: commit, at, events }) =>
    events.flatMap((event) => {
      const key = event.kv.key.toString()
      if (!key.startsWith(registry) || key.startsWith(records)) return []
      const previous = event.previous && {
        revision: toRevision(event.previous.modRevision, positionOf(event.previous.value)),
        object: objectOf(key, event.previous),
      }
      const isPut = event.type === 'put'
      const revision = isPut ? toRevision(commit, positionOf(event.kv.value)) : 0
      return [{ key, commit, at, revision, object: isPut ? objectOf(key, event.kv) : undefined, previous }]
    }),
  )
}

const objectOf = (key: string, kv: WatchEvent['kv']): KubeObject =>
  JSON.parse(Buffer.from(openStored(key, toEntry(key, kv).value)).toString('utf8')) as KubeObject

export interface Place {
  readonly resource: string
  /** Empty: cluster-scoped. */
  readonly namespace: string
  readonly name: string
}

/** Of a kind of the core or of another group without custom resources. */
export function placeOf(key: string): Place {
  const [resource = '', ...rest] = key.slice(registry.length).split('/')
  return rest.length > 1
    ? { resource, namespace: rest[0] ?? '', name: rest.slice(1).join('/') }
    : { resource, namespace: '', name: rest[0] ?? '' }
}

export const commitOf = (revision: number): number => Math.floor(revision / 1024)
