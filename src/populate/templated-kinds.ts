/** Which kinds templates hold: what `borough populate` needs rights for. */
import { kindsEverOf } from '../apis/templates/kinds.ts'
import { isTemplate } from '../apis/templates/plan.ts'
import { type NamespaceTemplate, templateResource } from '../apis/templates/types.ts'
import type { Client } from '../client/client.ts'
import { isNotFound } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'

/** Of the templates among some objects: `networking.k8s.io/v1/NetworkPolicy`. */
export function kindsInTemplates(objects: readonly Partial<KubeObject>[]): string[] {
  return objects.filter(isTemplate).flatMap((object) => kindsEverOf(object as NamespaceTemplate))
}

/** Of the templates on a cluster, with those they held before; none where the kind is not installed yet. */
export async function heldKinds(client: Client, signal: AbortSignal): Promise<string[]> {
  try {
    const { items } = await client.list(templateResource, { signal })
    return items.flatMap((template) => kindsEverOf(template as NamespaceTemplate))
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}
