/** What a server makes at its start, or anew when it is lost: another replica may be faster. */

import type { GroupVersionResource } from '../kube/gvk.ts'
import { isAlreadyExists } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import type { Client, WriteOptions } from './client.ts'

/** @throws StatusError for any other reason than that it is there */
export async function createUnlessThere(
  client: Client,
  resource: GroupVersionResource,
  object: KubeObject,
  options: WriteOptions = {},
): Promise<void> {
  try {
    await client.create(resource, object, options)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}
