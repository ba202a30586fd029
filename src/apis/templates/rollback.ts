/** Back to what a template said before. */
import type { Client } from '../../client/client.ts'
import { nameOf } from '../../kube/metadata.ts'
import { isConflict } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { revisionNamespace, revisionsOf } from './revisions.ts'
import { keepsWhatItMade } from './rollout-limits.ts'
import { type NamespaceTemplate, templateResource } from './types.ts'

export interface RollbackRequest {
  readonly name: string
  /** Absent = the one before the present one. */
  readonly generation?: number
  readonly dryRun: boolean
}

export interface RolledBack {
  readonly from: number
  readonly to: number
  /** What the template's generation is now: a step back is a change like any other. */
  readonly generation: number
}

/** @throws StatusError, or Error with what there is to go back to */
export async function rollbackTemplate(
  client: Client,
  { name, generation, dryRun }: RollbackRequest,
  signal: AbortSignal,
): Promise<RolledBack> {
  const template = (await client.get(templateResource, { name }, { signal })) as NamespaceTemplate
  if (template.metadata.deletionTimestamp !== undefined)
    throw new Error(`${name} is being deleted, and no rollback ends that; if it is not meant, ${keepsWhatItMade(name)}`)
  const from = template.metadata.generation ?? 0
  const revisions = await revisionsOf(client, template, signal)
  const target = revisions.find((r) => (generation === undefined ? r.generation < from : r.generation === generation))
  if (target === undefined) {
    const kept = revisions.map((r) => r.generation).filter((g) => g !== from)
    const there = kept.length === 0 ? 'no other is kept' : `kept are ${kept.join(', ')}`
    const what = generation === undefined ? 'an earlier generation' : `generation ${generation}`
    throw new Error(`${what} of ${name} (now ${from}) is not in ${revisionNamespace}: ${there}`)
  }
  const updated = await replaceSpec(client, template, target.spec, { dryRun, signal })
  return { from, to: target.generation, generation: updated.metadata.generation ?? 0 }
}

/** As many writes of a status as may come between a read and its write. */
const mostTries = 5

/** With the resourceVersion: what another client wrote meanwhile is not undone unseen. A status that is new may be. */
async function replaceSpec(
  client: Client,
  read: NamespaceTemplate,
  spec: NamespaceTemplate['spec'],
  options: { readonly dryRun: boolean; readonly signal: AbortSignal },
): Promise<KubeObject> {
  let template = read
  for (let tries = 1; ; tries++) {
    try {
      return await client.update(templateResource, { ...template, spec }, options)
    } catch (error) {
      if (!isConflict(error) || tries === mostTries) throw error
      const { generation } = template.metadata
      const name = nameOf(template.metadata)
      template = (await client.get(templateResource, { name }, { signal: options.signal })) as NamespaceTemplate
      if (template.metadata.generation !== generation) throw error
    }
  }
}
