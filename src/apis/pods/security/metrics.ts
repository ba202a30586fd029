/** What PodSecurity tells Prometheus, in upstream's names. */
import { type Diagnostics, type Topic, topic } from '../../../base/diagnostics.ts'
import type { Instruments } from '../../../feature/feature.ts'
import { kubernetesVersion } from '../../../kube/kubernetes-version.ts'
import type { ObservedFault, ObservedJudgement, ObservedPod } from './admission.ts'
import type { LevelVersion } from './pod-policy.ts'

export const podJudged: Topic<ObservedJudgement> = topic<ObservedJudgement>('podSecurity.judged')
export const podJudgementFailed: Topic<ObservedFault> = topic<ObservedFault>('podSecurity.judgementFailed')
export const podExempted: Topic<ObservedPod> = topic<ObservedPod>('podSecurity.exempted')

const requestLabels = ['request_operation', 'resource', 'subresource'] as const

export function podSecurityMetrics(instruments: Instruments, diagnostics: Diagnostics): void {
  const evaluations = instruments.counter({
    name: 'pod_security_evaluations_total',
    help: 'Judgements of pods and of templates of pods that enforce something, or that found something.',
    labels: ['decision', 'policy_level', 'policy_version', 'mode', ...requestLabels],
  })
  const errors = instruments.counter({
    name: 'pod_security_errors_total',
    help: 'What kept pods from being judged by the labels of their namespace; fatal if they were refused for it.',
    labels: ['fatal', ...requestLabels],
  })
  const exemptions = instruments.counter({
    name: 'pod_security_exemptions_total',
    help: 'Requests that were not judged, because the configuration exempts them.',
    labels: requestLabels,
  })
  // There from the start on, as upstream's.
  for (const request_operation of ['create', 'update']) {
    evaluations.inc(
      {
        ...{ decision: 'allow', policy_level: 'privileged', policy_version: 'latest', mode: 'enforce' },
        ...{ request_operation, resource: 'pod', subresource: '' },
      },
      0,
    )
    for (const resource of ['pod', 'controller']) exemptions.inc({ request_operation, resource, subresource: '' }, 0)
  }
  diagnostics.subscribe(podJudged, ({ isAllowed, policy, mode, ...request }) => {
    const decision = isAllowed ? 'allow' : 'deny'
    const labels = { decision, policy_level: policy.level, policy_version: shownVersion(policy), mode }
    evaluations.inc({ ...labels, ...labelsOf(request) })
  })
  diagnostics.subscribe(podJudgementFailed, ({ isFatal, ...request }) => {
    errors.inc({ fatal: String(isFatal), ...labelsOf(request) })
  })
  diagnostics.subscribe(podExempted, (request) => exemptions.inc(labelsOf(request)))
}

const labelsOf = ({ operation, judged, subresource }: ObservedPod): Record<(typeof requestLabels)[number], string> => ({
  request_operation: operation.toLowerCase(),
  resource: judged,
  subresource,
})

/** Users choose versions: what is not known yet is one value. */
function shownVersion({ level, version, minor }: LevelVersion): string {
  if (level === 'privileged' || minor === Number.POSITIVE_INFINITY) return 'latest'
  return minor > Number(kubernetesVersion.minor) ? 'future' : version
}
