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
import { FailureNews } from './failure-news.ts'
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

export const namespaceReconciler = (deps: NamespaceControllerDeps): Reconciler => new NamespaceReconciler(deps)

class NamespaceReconciler implements Reconciler {
  readonly #client: Client
  readonly #content: NamespaceContent
  readonly #clock: Clock
  readonly #news: FailureNews

  constructor({ client, content, clock }: NamespaceControllerDeps) {
    this.#client = client
    this.#content = content
    this.#clock = clock
    this.#news = new FailureNews(clock)
  }

  async reconcile({ name }: ObjectKey, signal: AbortSignal): Promise<undefined> {
    const namespace: Namespace | undefined = await findObject(this.#client, namespaceResource, { name }, { signal })
    if (namespace?.metadata.deletionTimestamp === undefined) {
      this.#news.forget(name)
      return
    }
    if (!namespace.spec?.finalizers?.includes(kubernetesFinalizer)) return

    const state = await this.#empty(name, signal)
    if (state.remaining.size > 0 || state.failures.length > 0) {
      await this.#report(namespace, state, signal)
      if (state.failures.length > 0) throw new Error(state.failures.join('; '))
      return
    }
    await this.#finalize(namespace, signal)
  }

  /** Deletes the content; answers what is still there. */
  async #empty(namespace: string, signal: AbortSignal): Promise<DeletionState> {
    const content = this.#content
    await content.refresh()
    const failures: string[] = []
    for (const { holds } of deletionOrder) {
      const resources = content.of(namespace).map((c) => c.resource)
      const now = resources.filter(holds)
      if (now.length === 0) continue
      append(failures, await this.#deleteAll(namespace, now, signal))
      if (holds !== isQuotas && content.of(namespace).some((c) => holds(c.resource))) break
    }
    const remaining = new Map(
      content.of(namespace).map((c) => [`${c.resource.resource}.${c.resource.group}`, c.count] as const),
    )
    const { named, finalizers } =
      remaining.size === 0 ? { named: [], finalizers: new Map() } : content.remaining(namespace, namedObjects)
    return { remaining, named, finalizers, failures }
  }

  /** Answers what failed. */
  async #deleteAll(
    namespace: string,
    resources: readonly GroupVersionResource[],
    signal: AbortSignal,
  ): Promise<string[]> {
    const failures: string[] = []
    const queue = [...resources]
    const work = async (): Promise<void> => {
      for (let resource = queue.pop(); resource !== undefined; resource = queue.pop()) {
        try {
          // The metadata of all that goes may be large too: who owns each of ten thousands of fields.
          const options = { propagationPolicy: 'Background', isAnswerUnread: true, signal } as const
          await this.#client.deleteCollection(resource, { namespace, metadataOnly: true, signal }, options)
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

  async #report(namespace: Namespace, state: DeletionState, signal: AbortSignal): Promise<void> {
    const now = formatTime(this.#clock.now())
    const conditions = mergeConditions(namespace.status?.conditions ?? [], deletionConditions(state), now)
    if (conditions === undefined) return
    const before = namespace.status?.conditions ?? []
    if (state.failures.length > 0 && !this.#news.isNews(namespace.metadata.name ?? '', before, conditions)) return
    const next = { ...namespace, status: { ...namespace.status, conditions } }
    await this.#client.update(namespaceResource, next, { subresource: 'status', signal })
  }

  async #finalize(seen: Namespace, signal: AbortSignal): Promise<void> {
    let namespace = seen
    for (;;) {
      const finalizers = [...new Set(namespace.spec?.finalizers ?? [])].filter((f) => f !== kubernetesFinalizer).sort()
      try {
        const next: Namespace = { ...namespace, spec: { ...namespace.spec, finalizers } }
        await this.#client.update(namespaceResource, next, { subresource: 'finalize', signal })
        return
      } catch (error) {
        if (isNotFound(error)) return
        if (!isConflict(error) || signal.aborted) throw error
      }
      namespace = await this.#client.get(namespaceResource, { name: namespace.metadata.name ?? '' }, { signal })
      if (namespace.metadata.uid !== seen.metadata.uid) return
    }
  }
}
