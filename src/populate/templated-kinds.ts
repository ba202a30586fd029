/** Which kinds templates hold: what `borough populate` needs rights for. */
import { kindsEverOf } from '../apis/templates/kinds.ts'
import { isTemplate } from '../apis/templates/plan.ts'
import { type NamespaceTemplate, templateResource } from '../apis/templates/types.ts'
import type { Client, Discovery, ServedKind } from '../client/client.ts'
import { isNotFound } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import { findServedKind } from './manifests.ts'

/** Of one template: `networking.k8s.io/v1/NetworkPolicy`. */
export interface TemplatedKinds {
  readonly template: string
  readonly kinds: readonly string[]
}

const kindsOfTemplate = (template: NamespaceTemplate): TemplatedKinds => ({
  template: template.metadata?.name ?? '',
  kinds: kindsEverOf(template),
})

/** Of the templates among some objects. */
export const kindsInTemplates = (objects: readonly Partial<KubeObject>[]): TemplatedKinds[] =>
  objects.filter(isTemplate).map((object) => kindsOfTemplate(object as NamespaceTemplate))

/** Of the templates on a cluster, with those they held before; none where the kind is not installed yet. */
export async function heldKinds(client: Client, signal: AbortSignal): Promise<TemplatedKinds[]> {
  try {
    const { items } = await client.list(templateResource, { signal })
    return items.map((template) => kindsOfTemplate(template as NamespaceTemplate))
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}

export interface ServedKinds {
  readonly kinds: readonly ServedKind[]
  /** One line per template and kind that is not served. */
  readonly unknown: readonly string[]
}

/** What serves the kinds of templates; each is asked for once. */
export async function servedKinds(
  templated: readonly TemplatedKinds[],
  discovery: Discovery | undefined,
): Promise<ServedKinds> {
  const found = new Map<string, ServedKind | undefined>()
  const unknown: string[] = []
  for (const { template, kinds } of templated) {
    for (const text of new Set(kinds)) {
      if (!found.has(text)) found.set(text, await findServedKind(text, discovery))
      if (found.get(text) === undefined) unknown.push(`NamespaceTemplate ${template} holds ${text}`)
    }
  }
  return { kinds: [...found.values()].filter((kind) => kind !== undefined), unknown }
}
