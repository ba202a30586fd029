/** The write of an edited template: what another author wrote meanwhile is not undone unseen. */
import { type NamespaceTemplate, templateResource } from '../../../apis/templates/types.ts'
import type { Client } from '../../../client/client.ts'
import { lastAppliedAnnotation } from '../../../kube/apply/last-applied.ts'
import { isConflict } from '../../../kube/status-error.ts'

/** Its status is written once a second while it rolls out. */
const mostTries = 20

/** @param present what the edit began with; undefined = a new one. @throws StatusError Conflict, … */
export async function saveTemplate(
  client: Client,
  present: NamespaceTemplate | undefined,
  template: NamespaceTemplate,
): Promise<NamespaceTemplate> {
  const { name = '' } = template.metadata
  if (present === undefined || present.metadata.name !== name) return client.create(templateResource, template)
  let seen = present
  for (let tries = 1; ; tries++) {
    const { uid, resourceVersion, finalizers, annotations } = seen.metadata
    // The text is without it, and `kubectl apply` needs it to know what it once set.
    const applied = annotations?.[lastAppliedAnnotation]
    const metadata = {
      ...template.metadata,
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ...(applied === undefined
        ? {}
        : { annotations: { [lastAppliedAnnotation]: applied, ...template.metadata.annotations } }),
    }
    try {
      return await client.update(templateResource, { ...template, metadata })
    } catch (error) {
      if (!isConflict(error) || tries === mostTries) throw error
      const now = await client.get(templateResource, { name })
      // Its status alone has changed.
      if (!saysTheSame(now, present)) throw error
      seen = now
    }
  }
}

const saysTheSame = (a: NamespaceTemplate, b: NamespaceTemplate): boolean =>
  a.metadata.uid === b.metadata.uid &&
  a.metadata.generation === b.metadata.generation &&
  JSON.stringify([a.metadata.labels, a.metadata.annotations]) ===
    JSON.stringify([b.metadata.labels, b.metadata.annotations])
