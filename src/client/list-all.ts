/** All objects of a type, page by page: no answer has to hold them all. */
import { append } from '../base/append.ts'
import type { Resource } from '../kube/resource.ts'
import type { KubeList, KubeObject } from '../kube/types.ts'
import type { Client, ListOptions } from './client.ts'

const pageSize = 500

/** `onPage`: told how many have been read. @throws StatusError */
export async function listAll<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  options: Omit<ListOptions, 'limit' | 'continue'> = {},
  onPage: (read: number) => void = () => {},
): Promise<T[]> {
  const items: T[] = []
  let next: string | undefined
  do {
    const page: KubeList<T> = await client.list(resource, {
      ...options,
      limit: pageSize,
      ...(next === undefined ? {} : { continue: next }),
    })
    append(items, page.items)
    onPage(items.length)
    next = page.metadata.continue || undefined
  } while (next !== undefined)
  return items
}
