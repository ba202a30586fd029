/**
 * The namespace controller: empties a terminating namespace and lets it go.
 *
 * Nothing can be created in a Terminating namespace (every create is guarded by the namespace's revision), so what is
 * there when the controller looks is all there will ever be: it starts at once, and one pass suffices unless finalizers
 * or graceful pods hold something. Then it waits for the next change, not for a timer.
 *
 * Quotas go first, since every deletion would be charged to them. RoleBindings and Roles go last, right before the
 * namespace itself, since the deleter's own right to watch the deletion may live among them.
 */

import { append } from '../../base/append.ts'
import type { Clock } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import { findObject } from '../../client/find-object.ts'
import type { ObjectKey, Reconciler } from '../../controller/controller.ts'
import { apiVersionOf, type GroupVersionResource } from '../../kube/gvk.ts'
import { isConflict, isNotFound } from '../../kube/status-error.ts'
import { formatTime } from '../../kube/time.ts'
import { type DeletionState, deletionConditions, mergeConditions, namedObjects } from './conditions.ts'
import type { NamespaceContent } from './content.ts'
import { kubernetesFinalizer, type Namespace, namespaceResource } from './types.ts'

export interface NamespaceControllerDeps {
  readonly client: Client
  readonly content: NamespaceContent
  readonly clock: Clock
}

/** Collections told to go at the same time. */
const parallelDeletes = 8

const isPods = (r: GroupVersionResource): boolean => r.group === '' && r.resource === 'pods'
const isQuotas = (r: GroupVersionResource): boolean => r.group === '' && r.resource === 'resourcequotas'
const isRights = (r: GroupVersionResource): boolean =>
  r.group === 'rbac.authorization.k8s.io' && (r.resource === 'rolebindings' || r.resource === 'roles')

/** What is deleted when. The documentation quotes the names, and a test compares. */
export const deletionOrder: readonly DeletionStep[] = [
  { name: 'quotas', holds: isQuotas },
  { name: 'pods', holds: isPods },
  { name: 'the rest', holds: (r) => !isRights(r) },
  { name: 'RoleBindings and Roles', holds: isRights },
]

interface DeletionStep {
  readonly name: string
  holds(resource: GroupVersionResource): boolean
}

export function namespaceReconciler({ client, content, clock }: NamespaceControllerDeps): Reconciler {
  const deleteAll = async (
    namespace: string,
    resources: readonly GroupVersionResource[],
    signal: AbortSignal,
  ): Promise<string[]> => {
    const failures: string[] = []
    const queue = [...resources]
    const work = async (): Promise<void> => {
      for (let resource = queue.pop(); resource !== undefined; resource = queue.pop()) {
        try {
          await client.deleteCollection(resource, { namespace, signal }, { propagationPolicy: 'Background', signal })
        } catch (error) {
          if (isNotFound(error) || signal.aborted) continue
          failures.push(
            `${apiVersionOf(resource)} ${resource.resource}: ${String(error instanceof Error ? error.message : error)}`,
          )
        }
      }
    }
    await Promise.all(Array.from({ length: Math.min(parallelDeletes, queue.length) }, work))
    return failures
  }

  /** Deletes the content; answers what is still there. */
  const empty = async (namespace: string, signal: AbortSignal): Promise<DeletionState> => {
    await content.refresh()
    const failures: string[] = []
    for (const { holds } of deletionOrder) {
      const resources = content.of(namespace).map((c) => c.resource)
      const now = resources.filter(holds)
      if (now.length === 0) continue
      append(failures, await deleteAll(namespace, now, signal))
      if (holds !== isQuotas && content.of(namespace).some((c) => holds(c.resource))) break
    }
    const remaining = new Map(
      content.of(namespace).map((c) => [`${c.resource.resource}.${c.resource.group}`, c.count] as const),
    )
    const { named, finalizers } =
      remaining.size === 0 ? { named: [], finalizers: new Map() } : content.remaining(namespace, namedObjects)
    return { remaining, named, finalizers, failures }
  }

  const report = async (namespace: Namespace, state: DeletionState, signal: AbortSignal): Promise<void> => {
    const now = formatTime(clock.now())
    const conditions = mergeConditions(namespace.status?.conditions ?? [], deletionConditions(state), now)
    if (conditions === undefined) return
    const next = { ...namespace, status: { ...namespace.status, conditions } }
    await client.update(namespaceResource, next, { subresource: 'status', signal })
  }

  return {
    async reconcile({ name }: ObjectKey, signal) {
      const namespace: Namespace | undefined = await findObject(client, namespaceResource, { name }, { signal })
      if (namespace?.metadata.deletionTimestamp === undefined) return undefined
      if (!namespace.spec?.finalizers?.includes(kubernetesFinalizer)) return undefined

      const state = await empty(name, signal)
      if (state.remaining.size > 0 || state.failures.length > 0) {
        await report(namespace, state, signal)
        if (state.failures.length > 0) throw new Error(state.failures.join('; '))
        return undefined
      }
      await finalize(namespace, signal)
      return undefined
    },
  }

  async function finalize(seen: Namespace, signal: AbortSignal): Promise<void> {
    let namespace = seen
    for (;;) {
      const finalizers = [...new Set(namespace.spec?.finalizers ?? [])].filter((f) => f !== kubernetesFinalizer).sort()
      try {
        const next: Namespace = { ...namespace, spec: { ...namespace.spec, finalizers } }
        await client.update(namespaceResource, next, { subresource: 'finalize', signal })
        return
      } catch (error) {
        if (isNotFound(error)) return
        if (!isConflict(error) || signal.aborted) throw error
      }
      namespace = await client.get(namespaceResource, { name: namespace.metadata.name ?? '' }, { signal })
      if (namespace.metadata.uid !== seen.metadata.uid) return
    }
  }
}
