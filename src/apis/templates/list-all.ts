/** All objects of a type, also those that are still held, page by page. */
import { append } from '../../base/append.ts'
import type { Client } from '../../client/client.ts'
import type { GroupVersionResource } from '../../kube/gvk.ts'
import { isNotFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'

const pageSize = 500

/** @throws Error where the server does not serve the type */
export async function listAll(
  client: Client,
  resource: GroupVersionResource,
  signal: AbortSignal,
  onPage: (read: number) => void = () => undefined,
): Promise<KubeObject[]> {
  const items: KubeObject[] = []
  let next: string | undefined
  try {
    do {
      const page = await client.list(resource, {
        limit: pageSize,
        includeUninitialized: true,
        ...(next === undefined ? {} : { continue: next }),
        signal,
      })
      append(items, page.items)
      onPage(items.length)
      next = page.metadata.continue || undefined
    } while (next !== undefined)
  } catch (error) {
    if (!isNotFound(error)) throw error
    throw new Error(`the server knows no ${resource.resource}: it is not Borough, and nobody installed them`, {
      cause: error,
    })
  }
  return items
}
