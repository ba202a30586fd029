/**
 * What is left in a namespace, as any client with the right to read sees it through the API, of any cluster. Where the
 * server says which types are left, only those are read; else all that it serves.
 */
import type { Client } from '../../client/client.ts'
import { listMetadata } from '../../client/list-metadata.ts'
import { type GroupVersionResource, qualifiedResource } from '../../kube/gvk.ts'
import { findStatusError, isNotFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Namespace } from './types.ts'

export interface LeftObject {
  readonly type: GroupVersionResource
  /** `configmaps`, `widgets.ex.io` */
  readonly resource: string
  readonly name: string
  readonly finalizers: readonly string[]
  /** For pods with time to end: when that is over. */
  readonly deletionTimestamp?: string
  readonly graceSeconds?: number
  readonly nodeName?: string
}

export interface LeftContent {
  readonly total: number
  /** Sorted by type and name; of a type with more, the first `pageSize`. */
  readonly objects: readonly LeftObject[]
  /** Types that could not be read, and why. */
  readonly unread: readonly { readonly resource: string; readonly why: string }[]
}

export const pageSize = 500
const parallelLists = 8

export async function remainingContent(
  client: Client,
  namespace: Namespace,
  signal: AbortSignal,
): Promise<LeftContent> {
  const { types, unread } = await typesToRead(client, namespace, signal)
  const objects: LeftObject[] = []
  let total = 0
  const queue = [...types]
  const work = async (): Promise<void> => {
    for (let type = queue.shift(); type !== undefined; type = queue.shift()) {
      try {
        // Of Pods the node is told too, which the metadata does not name.
        const isPods = type.group === '' && type.resource === 'pods'
        const list = isPods ? client.list.bind(client) : listMetadata.bind(undefined, client)
        const page = await list(type, { namespace: namespace.metadata.name ?? '', limit: pageSize, signal })
        total += page.items.length + (page.metadata.remainingItemCount ?? 0)
        for (const item of page.items) objects.push(leftObject(type, item))
      } catch (error) {
        const code = findStatusError(error)?.code
        // Not served any more, or never listed.
        if (code === 404 || code === 405) continue
        unread.push({ resource: qualifiedResource(type), why: messageOf(error) })
      }
    }
  }
  await Promise.all(Array.from({ length: parallelLists }, work))
  objects.sort((a, b) => compare(a.resource, b.resource) || compare(a.name, b.name))
  return { total, objects, unread }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

interface Types {
  readonly types: readonly GroupVersionResource[]
  readonly unread: { resource: string; why: string }[]
}

async function typesToRead(client: Client, namespace: Namespace, signal: AbortSignal): Promise<Types> {
  const told = namespace.status?.conditions?.find((c) => c.type === 'NamespaceContentRemaining')
  const named = told?.status === 'True' ? [...(told.message ?? '').matchAll(remainingType)] : []
  if (named.length === 0) return servedTypes(client)
  const unread: Types['unread'] = []
  const types: GroupVersionResource[] = []
  for (const [, resource = '', group = ''] of named) {
    try {
      types.push({ group, resource, version: group === '' ? 'v1' : await preferredVersion(client, group, signal) })
    } catch (error) {
      if (!isNotFound(error)) unread.push({ resource: qualifiedResource({ group, resource }), why: messageOf(error) })
    }
  }
  return { types, unread }
}

/** As upstream words it: core ones with the dot kept. */
const remainingType = /(?<![a-z0-9-])([a-z0-9-]+)\.([a-z0-9.-]*) has \d+ resource instances/g

async function preferredVersion(client: Client, group: string, signal: AbortSignal): Promise<string> {
  const found = (await client.request('GET', `/apis/${group}`, undefined, { signal })) as {
    readonly preferredVersion?: { readonly version?: string }
  }
  const version = found.preferredVersion?.version
  if (version === undefined) throw new Error(`the server names no version of ${group}`)
  return version
}

async function servedTypes(client: Client): Promise<Types> {
  try {
    const { kinds, unavailable } = await client.discovery.kinds()
    return {
      types: kinds.filter((k) => k.namespaced && k.verbs.includes('list')),
      unread: unavailable.map(({ apiVersion, error }) => ({ resource: `all of ${apiVersion}`, why: messageOf(error) })),
    }
  } catch (error) {
    return { types: [], unread: [{ resource: 'all of it', why: `discovery failed: ${messageOf(error)}` }] }
  }
}

function leftObject(type: GroupVersionResource, { metadata, ...rest }: KubeObject): LeftObject {
  const { deletionTimestamp, deletionGracePeriodSeconds: graceSeconds } = metadata
  const { nodeName } = (rest['spec'] ?? {}) as { readonly nodeName?: string }
  return {
    type,
    resource: qualifiedResource(type),
    name: metadata.name ?? '',
    finalizers: metadata.finalizers ?? [],
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(graceSeconds === undefined ? {} : { graceSeconds }),
    ...(nodeName === undefined ? {} : { nodeName }),
  }
}
