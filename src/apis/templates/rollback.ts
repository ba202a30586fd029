/** Back to what a template said before. */
import type { Client } from '../../client/client.ts'
import type { OnWarning } from '../../client/warnings.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { nameOf } from '../../kube/metadata.ts'
import { isConflict } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { confirmationOf, stopWarned } from './prunes.ts'
import { revisionNamespace, revisionsOf, type TemplateRevision } from './revisions.ts'
import { keepsWhatItMade } from './rollout-limits.ts'
import { type NamespaceTemplate, templateResource } from './types.ts'

export { confirmationOf }

export interface RollbackRequest {
  readonly name: string
  /** Absent = the newest of those before the template said for the first time what it says now. */
  readonly generation?: number
  readonly dryRun: boolean
  /** Told of what the server warns of. */
  readonly onWarning?: OnWarning
}

export interface RolledBack {
  readonly from: number
  readonly to: number
  /** What the template's generation is now: a step back is a change like any other. */
  readonly generation: number
  /** `maxPrune` stops it, or perhaps does, as the server warns; servers that do not warn leave it open. */
  readonly stop?: 'certain' | 'perhaps'
}

/** @throws StatusError, or Error with what there is to go back to */
export async function rollbackTemplate(
  client: Client,
  { name, generation, dryRun, onWarning }: RollbackRequest,
  signal: AbortSignal,
): Promise<RolledBack> {
  const template = (await client.get(templateResource, { name }, { signal })) as NamespaceTemplate
  if (template.metadata.deletionTimestamp !== undefined)
    throw new Error(`${name} is being deleted, and no rollback ends that; if it is not meant, ${keepsWhatItMade(name)}`)
  const from = template.metadata.generation ?? 0
  const revisions = await revisionsOf(client, template, signal)
  const first = firstSaid(template, revisions)
  const target = revisions.find((r) => (generation === undefined ? r.generation < first : r.generation === generation))
  if (target === undefined) {
    const kept = revisions.map((r) => r.generation).filter((g) => g !== from)
    const there = kept.length === 0 ? 'no other is kept' : `kept are ${kept.join(', ')}`
    const what = generation === undefined ? 'an earlier generation' : `generation ${generation}`
    const now = generation === undefined && first < from ? `now ${from}, which says what ${first} said` : `now ${from}`
    throw new Error(`${what} of ${name} (${now}) is not in ${revisionNamespace}: ${there}`)
  }
  let stop: RolledBack['stop']
  const heard = (text: string): void => {
    stop = stopWarned(text) ?? stop
    onWarning?.(text)
  }
  const updated = await replaceSpec(client, template, target.spec, { dryRun, signal, onWarning: heard })
  const { generation: next = 0 } = updated.metadata
  return { from, to: target.generation, generation: next, ...(stop === undefined ? {} : { stop }) }
}

/**
 * Back is before it said so for the first time: after a step back, the one before is what was left by it, and would
 * lead forward.
 */
const firstSaid = ({ metadata, spec = {} }: NamespaceTemplate, revisions: readonly TemplateRevision[]): number =>
  revisions.reduce(
    (first, r) => (jsonEqual(r.spec, spec) ? Math.min(first, r.generation) : first),
    metadata.generation ?? 0,
  )

/** As many writes of a status as may come between a read and its write. */
const mostTries = 5

/** With the resourceVersion: what another client wrote meanwhile is not undone unseen. A status that is new may be. */
async function replaceSpec(
  client: Client,
  read: NamespaceTemplate,
  spec: NamespaceTemplate['spec'],
  options: { readonly dryRun: boolean; readonly signal: AbortSignal; readonly onWarning: OnWarning },
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
