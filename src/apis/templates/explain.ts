/**
 * Which templates of a namespace stand still, and why, those among them that no longer select it: read through the API
 * with the rights of the caller. A caller who may not read templates, or a cluster without them, is told nothing.
 */
import type { Client } from '../../client/client.ts'
import { ifReadable } from '../../client/if-readable.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { Namespace } from '../namespaces/types.ts'
import { askKindNamed } from './kinds.ts'
import { compileMatcher, isOptedOut } from './match.ts'
import { holdersOf, keysHeld } from './namespace-metadata.ts'
import { type Halt, progressingCondition } from './rollout.ts'
import { type NamespaceTemplate, templateNameLabel, templateResource } from './types.ts'

const words: Readonly<Record<Halt['reason'], string>> = {
  Disabled: 'is disabled',
  NewerTemplate: 'is not applied',
  Paused: 'is paused',
  PopulationPaused: 'is paused',
  TooManyPrunes: 'is stopped',
}

/** One line for each. */
export async function explainTemplates(
  client: Pick<Client, 'list' | 'discovery'>,
  namespace: Namespace,
  signal: AbortSignal,
): Promise<string[]> {
  if (isOptedOut(namespace)) return []
  const templates = await ifReadable(client.list(templateResource, { signal }))
  const lines: string[] = []
  for (const template of templates?.items ?? []) {
    const halt = haltOf(template)
    if (halt === undefined) continue
    const name = `NamespaceTemplate ${JSON.stringify(nameOf(template.metadata))}`
    if (compileMatcher(template).selects(namespace)) lines.push(`${name} ${halt.word}: ${halt.message}`)
    else if (await isHeldIn(client, { template, kinds: template.status?.kinds ?? [] }, namespace, signal)) {
      lines.push(
        `${name}, which no longer selects this namespace, ${halt.word}, so what it gave stays: ${halt.message}`,
      )
    }
  }
  return lines
}

/** Why nothing of it is applied, if nothing is. */
export function haltOf({ status }: NamespaceTemplate): { readonly word: string; readonly message: string } | undefined {
  const said = status?.conditions?.find(({ type }) => type === progressingCondition)
  const word = said?.status === 'False' ? words[said.reason as Halt['reason']] : undefined
  return said && word ? { word, message: said.message } : undefined
}

/**
 * What is recorded no client may read: by what the namespace says, and by labels. undefined = the caller may not see
 * all of these kinds.
 */
export async function isHeldIn(
  client: Pick<Client, 'list' | 'discovery'>,
  { template, kinds }: { readonly template: NamespaceTemplate; readonly kinds: readonly string[] },
  namespace: Namespace,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const name = nameOf(template.metadata)
  if (keysHeld(holdersOf(namespace)).some((key) => key.template === name)) return true
  const where = {
    namespace: nameOf(namespace.metadata),
    labelSelector: `${templateNameLabel}=${name}`,
    limit: 1,
    metadataOnly: true,
    signal,
  }
  let isWhole = true
  for (const text of kinds) {
    const { served, unanswered } = await askKindNamed(client, text)
    // Of a kind that nothing serves nothing can be there.
    if (served === undefined && unanswered === undefined) continue
    const found = served && (await ifReadable(client.list(served, where)))
    if (found === undefined) isWhole = false
    else if (found.items.length > 0) return true
  }
  return isWhole ? false : undefined
}
