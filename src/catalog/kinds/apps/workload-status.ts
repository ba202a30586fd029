/**
 * What the status of kinds that make pods may say. Controllers write it, and so does any client that is given
 * `<resource>/status`: scalers, disruption budgets and `kubectl rollout` go by these numbers.
 * @see ValidateDeploymentStatusUpdate and its neighbours in pkg/apis/apps/validation of Kubernetes 1.36
 */
import type { KubeObject } from '../../../kube/types.ts'
import { numberIn, type Part, partIn, type Report } from '../report.ts'

type StatusCheck = (report: Report, next: KubeObject, old: KubeObject | undefined) => void

interface StatusNumbers {
  /** None of them is below zero. */
  readonly counts: readonly string[]
  /** None of them is more than `replicas`. */
  readonly ofReplicas?: readonly string[]
  /** How its controller's kind calls `readyReplicas`, of which `availableReplicas` are a part. */
  readonly ready?: string
  /** `collisionCount` only grows. */
  readonly collides?: boolean
}

const statusCheck =
  ({ counts, ofReplicas = [], ready, collides = false }: StatusNumbers): StatusCheck =>
  (report, next, old) => {
    const status = partIn(next, 'status')
    report.notNegative(status, 'status', ...counts, ...(collides ? ['collisionCount'] : []))
    for (const field of ofReplicas) checkAtMost(report, status, field, 'replicas', 'status.replicas')
    if (ready !== undefined) checkAtMost(report, status, 'availableReplicas', 'readyReplicas', ready)
    if (collides) checkNotDecremented(report, status, partIn(old, 'status'))
  }

const countIn = (status: Part, field: string): number => numberIn(status, field) ?? 0

function checkAtMost(report: Report, status: Part, field: string, most: string, shown: string): void {
  const count = countIn(status, field)
  if (count > countIn(status, most)) report.invalid(`status.${field}`, count, `cannot be greater than ${shown}`)
}

function checkNotDecremented(report: Report, status: Part, before: Part): void {
  const was = numberIn(before, 'collisionCount')
  const is = numberIn(status, 'collisionCount')
  if (was === undefined || (is !== undefined && is >= was)) return
  report.invalid('status.collisionCount', is ?? 0, 'cannot be decremented')
}

export const checkDeploymentStatus: StatusCheck = statusCheck({
  counts: [
    'observedGeneration',
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'terminatingReplicas',
  ],
  ofReplicas: ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
  ready: 'readyReplicas',
  collides: true,
})

/** Of ReplicaSets and ReplicationControllers. */
export const checkReplicaStatus: StatusCheck = statusCheck({
  counts: [
    'replicas',
    'fullyLabeledReplicas',
    'readyReplicas',
    'availableReplicas',
    'observedGeneration',
    'terminatingReplicas',
  ],
  ofReplicas: ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
  ready: 'readyReplicas',
})

export const checkStatefulSetStatus: StatusCheck = statusCheck({
  counts: [
    'replicas',
    'readyReplicas',
    'currentReplicas',
    'updatedReplicas',
    'availableReplicas',
    'observedGeneration',
  ],
  ofReplicas: ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
  ready: 'status.readyReplicas',
  collides: true,
})

export const checkDaemonSetStatus: StatusCheck = statusCheck({
  counts: [
    'currentNumberScheduled',
    'numberMisscheduled',
    'desiredNumberScheduled',
    'numberReady',
    'observedGeneration',
    'updatedNumberScheduled',
    'numberAvailable',
    'numberUnavailable',
  ],
  collides: true,
})
