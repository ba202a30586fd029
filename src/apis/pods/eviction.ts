/**
 * `POST …/pods/<name>/eviction`: a DELETE that respects the disruption budget of the pod. The budget's own status says
 * how many disruptions it allows; each eviction takes one, by compare-and-swap, before the pod goes.
 * @see EvictionREST in pkg/registry/core/pod/storage/eviction.go of Kubernetes 1.36
 */

import { cloneJson } from '../../kube/clone-json.ts'
import { checkDeleteOptions, type DeleteOptionsBody } from '../../kube/delete-options.ts'
import { type LabelSelectorObject, labelSelectorOf, matchesLabels } from '../../kube/label-selector.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { badRequest, StatusError } from '../../kube/status-error.ts'
import { formatTime } from '../../kube/time.ts'
import type { KubeObject, Status } from '../../kube/types.ts'
import type { WriteScope } from '../../registry/registry.ts'
import { type PodWriteDeps, success } from './binding.ts'
import { hasEnded, type Pod } from './types.ts'

interface Budget extends KubeObject {
  spec?: { selector?: LabelSelectorObject }
  status?: {
    observedGeneration?: number
    disruptionsAllowed?: number
    currentHealthy?: number
    desiredHealthy?: number
    disruptedPods?: Record<string, string>
  }
}

export interface EvictionDeps extends PodWriteDeps {
  readonly budgetType: ResourceType
  /** Budgets of a namespace. */
  budgets(namespace: string): Iterable<KubeObject>
}

interface Eviction extends KubeObject {
  deleteOptions?: DeleteOptionsBody
}

export async function evictPod(deps: EvictionDeps, question: KubeObject, asked: WriteScope): Promise<Status> {
  const eviction = question as Eviction
  const { name, namespace } = asked
  if (eviction.metadata.name && eviction.metadata.name !== name) {
    throw badRequest('name in URL does not match name in Eviction object')
  }
  const pod: Pod = (await deps.registry.get(deps.podType, namespace, name)).object
  const { dryRun = [], ...options } = eviction.deleteOptions ?? {}
  checkDeleteOptions({ ...options, dryRun })
  // `kubectl drain --dry-run=server` asks by the query; a client of the API may say it of the deletion alone.
  const scope = { ...asked, dryRun: asked.dryRun || dryRun.length > 0 }
  if (!needsNoBudget(pod)) {
    const budget = budgetOf(deps.budgets(namespace), pod)
    if (budget) await takeDisruption(deps, budget, pod, scope)
  }
  const { uid } = pod.metadata
  await deps.registry.delete(
    { ...scope, type: deps.podType, subresource: '' },
    {
      ...options,
      isAdmitted: true,
      preconditions: { ...(uid === undefined ? {} : { uid }), ...options.preconditions },
    },
  )
  return success
}

/** Taking it away disrupts nothing: it does not run, not yet or not any more. */
const needsNoBudget = (pod: Pod): boolean =>
  hasEnded(pod) || pod.status?.phase === 'Pending' || pod.metadata.deletionTimestamp !== undefined

function budgetOf(budgets: Iterable<KubeObject>, pod: Pod): Budget | undefined {
  const found = [...budgets].filter((b: Budget) =>
    matchesLabels(labelSelectorOf(b.spec?.selector ?? {}), pod.metadata.labels ?? {}),
  )
  if (found.length > 1) {
    throw new StatusError(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  }
  return found[0]
}

async function takeDisruption(deps: EvictionDeps, budget: Budget, pod: Pod, scope: WriteScope): Promise<void> {
  const now = formatTime(deps.clock.now())
  await deps.registry.update(
    { ...scope, type: deps.budgetType, name: budget.metadata.name ?? '', subresource: 'status' },
    (latest: Budget) => {
      const { status = {} } = latest
      if ((status.observedGeneration ?? 0) < (latest.metadata.generation ?? 0)) {
        throw refusal(latest, 'is still being processed by the server.', 10)
      }
      if ((status.disruptionsAllowed ?? 0) <= 0) {
        const { desiredHealthy = 0, currentHealthy = 0 } = status
        throw refusal(latest, `needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`)
      }
      return cloneJson({
        ...latest,
        status: {
          ...status,
          disruptionsAllowed: (status.disruptionsAllowed ?? 0) - 1,
          disruptedPods: { ...status.disruptedPods, [pod.metadata.name ?? '']: now },
        },
      })
    },
  )
}

function refusal(budget: Budget, why: string, retryAfterSeconds?: number): StatusError {
  return new StatusError("Cannot evict pod as it would violate the pod's disruption budget.", {
    reason: 'TooManyRequests',
    details: {
      causes: [{ reason: 'DisruptionBudget', message: `The disruption budget ${budget.metadata.name} ${why}` }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
  })
}
