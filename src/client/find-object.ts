/** Getting what may not be there. */
import type { Resource } from '../kube/resource.ts'
import { isNotFound } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import type { ObjectRef, Reader } from './client.ts'

/** As `get`, but undefined where there is no such object. @throws StatusError for anything else */
export async function findObject<T extends KubeObject>(
  client: Pick<Reader, 'get'>,
  resource: Resource<T>,
  ref: ObjectRef,
  options: { readonly signal?: AbortSignal } = {},
): Promise<T | undefined> {
  try {
    return await client.get(resource, ref, options)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
