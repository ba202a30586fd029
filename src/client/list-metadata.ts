/** Objects without what they hold, for a caller who shows or counts them: contents of Secrets are never asked for. */
import type { GroupVersionResource } from '../kube/gvk.ts'
import { findStatusError } from '../kube/status-error.ts'
import type { KubeList } from '../kube/types.ts'
import type { ListOptions, Reader } from './client.ts'

/**
 * The server has no such form of a kind, as some that stand behind an API service. A caller may ask for whole objects
 * then; of Secrets every server has it, so a refusal there is no reason to.
 */
export const isWithoutMetadataForm = ({ group, resource }: GroupVersionResource, error: unknown): boolean =>
  findStatusError(error)?.code === 406 && !(group === '' && resource === 'secrets')

/** @throws StatusError */
export async function listMetadata(
  client: Reader,
  resource: GroupVersionResource,
  options: ListOptions,
): Promise<KubeList> {
  try {
    return await client.list(resource, { ...options, metadataOnly: true })
  } catch (error) {
    if (!isWithoutMetadataForm(resource, error)) throw error
    return client.list(resource, options)
  }
}
