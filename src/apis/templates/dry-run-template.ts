/** Templates as the server would have them, without storing anything. */
import type { Client } from '../../client/client.ts'
import type { OnWarning } from '../../client/warnings.ts'
import { apiVersionOf } from '../../kube/gvk.ts'
import { nameOf } from '../../kube/metadata.ts'
import { isConflict } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { type NamespaceTemplate, templateResource } from './types.ts'

const mostTries = 20

interface Asking {
  readonly signal: AbortSignal
  readonly onWarning: OnWarning
}

/** The template as its deletion leaves it: its finalizer holds it until what it made is gone. */
export async function dryRunDeletion(client: Client, name: string, asking: Asking): Promise<NamespaceTemplate> {
  const left = await client.delete(templateResource, { name }, { dryRun: true, ...asking })
  if (left.kind !== 'Status') return left as NamespaceTemplate
  throw new Error(`template ${name} would be gone at once, and leave what it made: nothing holds it`)
}

/** What the server would make of it. */
export async function dryRunTemplate(
  client: Client,
  present: NamespaceTemplate | undefined,
  { apiVersion: _a, kind: _k, metadata, ...content }: KubeObject,
  asking: Asking,
): Promise<NamespaceTemplate> {
  // As kubectl writes it: what would be refused of a mistyped field is no plan without it.
  const options = { dryRun: true, isStrict: true, ...asking }
  const { labels, annotations } = metadata
  const name = nameOf(metadata)
  if (present === undefined) {
    const created = { name, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) }
    // Of a custom resource a body must say what it is, by a name that the endpoint of the request serves.
    const type = { apiVersion: apiVersionOf(templateResource), kind: 'NamespaceTemplate' }
    return client.create(templateResource, { ...type, metadata: created, ...content }, options)
  }
  let seen = present
  for (let tries = 1; ; tries++) {
    const next = {
      ...seen,
      ...content,
      metadata: {
        ...seen.metadata,
        labels: { ...seen.metadata.labels, ...labels },
        annotations: { ...seen.metadata.annotations, ...annotations },
      },
    }
    try {
      return await client.update(templateResource, next, options)
    } catch (error) {
      // While it rolls out its status is written again and again; nothing is written here that could undo anything.
      if (!isConflict(error) || tries === mostTries) throw error
      seen = await client.get(templateResource, { name }, { signal: asking.signal })
    }
  }
}
