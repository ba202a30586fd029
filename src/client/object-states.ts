/** One object, followed: as it is, then after each change. */
import type { GroupVersionResource } from '../kube/gvk.ts'
import { isExpired } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import type { Client } from './client.ts'

/** undefined: it does not exist, or not any more. Without an end. @throws StatusError; the reason of `signal` */
export async function* objectStates(
  client: Client,
  resource: GroupVersionResource,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<KubeObject | undefined> {
  const selection = { fieldSelector: `metadata.name=${name}`, includeUninitialized: true, signal }
  for (;;) {
    const { items, metadata } = await client.list(resource, selection)
    yield items[0]
    const resourceVersion = metadata.resourceVersion ?? ''
    try {
      for await (const { type, object } of client.watch(resource, { ...selection, resourceVersion })) {
        if (type === 'DELETED') yield undefined
        else if (type !== 'BOOKMARK') yield object
      }
    } catch (error) {
      if (!isExpired(error)) throw error
    }
    signal.throwIfAborted()
  }
}
