/**
 * Which templates of a namespace stand still, and why: read through the API with the rights of the caller. A caller who
 * may not read templates, or a cluster without them, is told nothing.
 */
import type { Client } from '../../client/client.ts'
import { ifReadable } from '../../client/if-readable.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { KubeObject } from '../../kube/types.ts'
import { compileMatcher, isOptedOut } from './match.ts'
import { type Halt, progressingCondition } from './rollout.ts'
import { type NamespaceTemplate, templateResource } from './types.ts'

const words: Readonly<Record<Halt['reason'], string>> = {
  Disabled: 'is disabled',
  NewerTemplate: 'is not applied',
  Paused: 'is paused',
  PopulationPaused: 'is paused',
  TooManyPrunes: 'is stopped',
}

/** One line for each. */
export async function explainTemplates(
  client: Pick<Client, 'list'>,
  namespace: Pick<KubeObject, 'metadata'>,
  signal: AbortSignal,
): Promise<string[]> {
  if (isOptedOut(namespace)) return []
  const templates = await ifReadable(client.list(templateResource, { signal }))
  const selecting = (templates?.items ?? []).filter((template) => compileMatcher(template).selects(namespace))
  return selecting.flatMap((template) => haltOf(template) ?? [])
}

function haltOf({ metadata, status }: NamespaceTemplate): string | undefined {
  const said = status?.conditions?.find(({ type }) => type === progressingCondition)
  const halted = said?.status === 'False' ? words[said.reason as Halt['reason']] : undefined
  return halted && `NamespaceTemplate ${JSON.stringify(nameOf(metadata))} ${halted}: ${said?.message}`
}
