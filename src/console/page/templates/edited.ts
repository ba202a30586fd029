/** Where an edit begins: at what a template says now, or said in an earlier generation, or at an example. */
import { revisionsOf } from '../../../apis/templates/revisions.ts'
import { type NamespaceTemplate, templateResource } from '../../../apis/templates/types.ts'
import type { Client } from '../../../client/client.ts'

/** What is edited: the template as it is, undefined for a new one; and what it is to say at first. */
export interface Edited {
  readonly present: NamespaceTemplate | undefined
  readonly first: NamespaceTemplate
}

const newTemplate: NamespaceTemplate = {
  apiVersion: 'policy.borough.dev/v1alpha1',
  kind: 'NamespaceTemplate',
  metadata: { name: 'my-template' },
  spec: {
    namespaces: { nameSelector: { include: ['team-*'] } },
    templates: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'greeting' }, data: { text: 'hello' } }],
  },
}

/** @throws StatusError, or Error for a generation that is not kept */
export async function loadEdited(
  client: Client,
  name: string | undefined,
  generation: string | null,
  signal: AbortSignal,
): Promise<Edited> {
  if (name === undefined) return { present: undefined, first: newTemplate }
  const present = await client.get(templateResource, { name }, { signal })
  if (generation === null) return { present, first: present }
  const revision = (await revisionsOf(client, present, signal)).find((r) => r.generation === Number(generation))
  if (revision === undefined) throw new Error(`generation ${generation} of ${name} is not kept any more`)
  return { present, first: { ...present, spec: revision.spec } }
}
