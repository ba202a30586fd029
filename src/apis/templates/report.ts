/** What people are told: events in the namespace and about the template, and the namespace's condition `Populated`. */

import type { Clock } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import { apiVersionOf } from '../../kube/gvk.ts'
import { nameOf } from '../../kube/metadata.ts'
import { isConflict, isNotFound } from '../../kube/status-error.ts'
import { formatTime } from '../../kube/time.ts'
import type { EventRecord, EventRecorder } from '../events/recorder.ts'
import { mergeConditions } from '../namespaces/conditions.ts'
import { inItself } from '../namespaces/event-subject.ts'
import { type Namespace, type NamespaceCondition, namespaceResource } from '../namespaces/types.ts'
import { templateKind } from './kind.ts'
import type { ObjectResult } from './object-result.ts'
import type { Halt } from './rollout.ts'
import { type NamespaceTemplate, populatedCondition, templateResource } from './types.ts'

/** Where events about cluster-scoped objects live. */
const clusterEvents = 'default'

/** The items of a list do not say what they are. */
const asSubject = ({ metadata }: NamespaceTemplate): EventRecord['object'] => ({
  apiVersion: apiVersionOf(templateResource),
  kind: templateKind,
  metadata,
})

/** One event in the namespace and one about the template, if there is something to tell. */
export async function tell(
  events: EventRecorder,
  namespace: Namespace,
  template: NamespaceTemplate | undefined,
  { object, failure, remark, skipped, extended }: ObjectResult,
): Promise<void> {
  const told = failure ?? remark ?? skipped ?? extended
  if (told === undefined) return
  const where = nameOf(namespace.metadata)
  const common = { type: 'Warning', reason: `Population${told.reason}` } as const
  const records = [
    events.record({
      ...common,
      object: inItself(namespace),
      namespace: where,
      message: `${object} of template ${template?.metadata.name ?? '(gone)'}: ${told.message}`,
    }),
  ]
  // What tenants add they may add a thousand times.
  if (template !== undefined && told !== extended) {
    const message = `${object} in namespace ${where}: ${told.message}`
    const about = { object: asSubject(template), namespace: clusterEvents, because: where }
    records.push(events.record({ ...common, ...about, message }))
  }
  await Promise.all(records)
}

/** Drift that was corrected. Behind the work: there may be many. */
export function tellCorrected(
  events: EventRecorder,
  namespace: Namespace,
  { template, object, corrected }: ObjectResult,
): void {
  if (corrected?.isNews !== true) return
  const message = `${object} of template ${template}: ${corrected.message}`
  const common = { type: 'Normal', reason: 'PopulationCorrected', message } as const
  events.recordSoon({ ...common, object: inItself(namespace), namespace: nameOf(namespace.metadata) })
}

/** What a template took away again, by name. Behind the work: there may be many. */
export function tellDeleted(
  events: EventRecorder,
  namespace: string,
  template: NamespaceTemplate,
  objects: readonly string[],
): void {
  const message = `deleted in namespace ${namespace}: ${objects.join(', ')}`
  const common = { type: 'Normal', reason: 'PopulationPruned', message } as const
  // By itself: failures that a tenant brings about do not hide it.
  const because = `deleted in ${namespace}`
  events.recordSoon({ ...common, object: asSubject(template), namespace: clusterEvents, because })
}

export function tellHalt(events: EventRecorder, template: NamespaceTemplate, { reason, message }: Halt): Promise<void> {
  const common = { type: 'Warning', reason: `Rollout${reason}`, message } as const
  return events.record({ ...common, object: asSubject(template), namespace: clusterEvents })
}

/** Of a template that is being deleted. */
export function tellBlockedPrune(events: EventRecorder, template: NamespaceTemplate, message: string): Promise<void> {
  const common = { type: 'Warning', reason: 'PruneBlocked', message } as const
  return events.record({ ...common, object: asSubject(template), namespace: clusterEvents })
}

/** Success is silent unless a failure had been reported before: a healthy namespace carries no condition of ours. */
export async function reportCondition(
  client: Client,
  clock: Clock,
  namespace: Namespace,
  failures: readonly ObjectResult[],
  signal: AbortSignal,
): Promise<void> {
  const old = namespace.status?.conditions ?? []
  const first = failures[0]
  if (first === undefined && !old.some((c) => c.type === populatedCondition)) return
  const condition: NamespaceCondition =
    first === undefined
      ? {
          type: populatedCondition,
          status: 'True',
          reason: 'Populated',
          message: 'Everything its templates hold is there',
        }
      : {
          type: populatedCondition,
          status: 'False',
          reason: first.failure?.reason ?? 'Error',
          message: failures
            .map((f) => `${f.object}: ${f.failure?.message}`)
            .slice(0, 5)
            .join('; '),
        }
  // On what is there now: the picture may be older than another client's last write, and no later event of ours would
  // bring a lost condition back.
  for (let seen = namespace; ; ) {
    const conditions = mergeConditions(seen.status?.conditions ?? [], [condition], formatTime(clock.now()))
    if (conditions === undefined) return
    try {
      await client.update(
        namespaceResource,
        { ...seen, status: { ...seen.status, conditions } },
        { subresource: 'status', signal },
      )
      return
    } catch (error) {
      if (isNotFound(error)) return
      if (!isConflict(error)) throw error
      const { uid } = seen.metadata
      const name = nameOf(seen.metadata)
      seen = (await client.get(namespaceResource, { name }, { signal })) as Namespace
      if (seen.metadata.uid !== uid) return
    }
  }
}
