/** What PodSecurity tells Prometheus, in upstream's names. */
import type { Registry as PromRegistry } from 'prom-client'
import type { ObservedFault, ObservedJudgement, ObservedPod } from '../apis/pods/security/admission.ts'
import type { LevelVersion } from '../apis/pods/security/pod-policy.ts'
import { kubernetesVersion } from '../http/version.ts'

export interface PodSecurityInstruments {
  judged(judgement: ObservedJudgement): void
  failed(fault: ObservedFault): void
}

const requestLabels = ['request_operation', 'resource', 'subresource'] as const

export function podSecurityInstruments(
  prometheus: typeof import('prom-client'),
  registers: PromRegistry[],
): PodSecurityInstruments {
  const evaluations = new prometheus.Counter({
    name: 'pod_security_evaluations_total',
    help: 'Judgements of pods and of templates of pods that enforce something, or that found something.',
    labelNames: ['decision', 'policy_level', 'policy_version', 'mode', ...requestLabels] as const,
    registers,
  })
  const errors = new prometheus.Counter({
    name: 'pod_security_errors_total',
    help: 'What kept pods from being judged by the labels of their namespace; fatal if they were refused for it.',
    labelNames: ['fatal', ...requestLabels] as const,
    registers,
  })
  const exemptions = new prometheus.Counter({
    name: 'pod_security_exemptions_total',
    help: 'Requests that were exempt. There are no exemptions here: always 0.',
    labelNames: requestLabels,
    registers,
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
  return {
    judged({ isAllowed, policy, mode, ...request }) {
      const decision = isAllowed ? 'allow' : 'deny'
      const labels = { decision, policy_level: policy.level, policy_version: shownVersion(policy), mode }
      evaluations.inc({ ...labels, ...labelsOf(request) })
    },
    failed({ isFatal, ...request }) {
      errors.inc({ fatal: String(isFatal), ...labelsOf(request) })
    },
  }
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
