/** All objects of a type, also those that are still held. */
import type { Client } from '../../client/client.ts'
import { listAll } from '../../client/list-all.ts'
import type { GroupVersionResource } from '../../kube/gvk.ts'
import { isNotFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'

/** @throws Error where the server does not serve the type */
export async function listWithHeld(
  client: Client,
  resource: GroupVersionResource,
  signal: AbortSignal,
  onPage?: (read: number) => void,
): Promise<KubeObject[]> {
  try {
    return await listAll(client, resource, { includeUninitialized: true, signal }, onPage)
  } catch (error) {
    if (!isNotFound(error)) throw error
    throw new Error(`the server knows no ${resource.resource}: it is not Borough, and nobody installed them`, {
      cause: error,
    })
  }
}
