/**
 * What the status of a Job may say: its numbers, and pods that are still to be counted. How its conditions follow on
 * each other is its controller's.
 * @see validateJobStatus in pkg/apis/batch/validation of Kubernetes 1.36
 */
import type { KubeObject } from '../../../kube/types.ts'
import { partIn, type Report, textsIn } from '../report.ts'

export function checkJobStatus(report: Report, next: KubeObject): void {
  const status = partIn(next, 'status')
  report.notNegative(status, 'status', 'active', 'succeeded', 'failed', 'ready', 'terminating')
  const uncounted = partIn(status, 'uncountedTerminatedPods')
  const seen = new Set<string>()
  for (const list of ['succeeded', 'failed']) {
    textsIn(uncounted, list).forEach((uid, i) => {
      const field = `status.uncountedTerminatedPods.${list}[${i}]`
      if (uid === '') report.invalid(field, uid, 'must not be empty')
      else report.unique(field, uid, seen)
    })
  }
}
