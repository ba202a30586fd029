/**
 * Pods: what may be created and what of them may change.
 * @see ValidatePodCreate, ValidatePodUpdate, ValidatePodEphemeralContainersUpdate in pkg/apis/core/validation of
 *   Kubernetes 1.36
 */
import type { KubeObject } from '../../../kube/types.ts'
import { type Part, partIn, partsIn, type Report, sameValue, textIn } from '../report.ts'
import { checkPodSpec } from './pod-spec.ts'

const updatable =
  '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` ' +
  '(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if ' +
  'it was previously negative)'

export function checkPod(report: Report, next: KubeObject, old: KubeObject | undefined, subresource: string): void {
  const spec = partIn(next, 'spec')
  if (!old) {
    checkPodSpec(report, 'spec', spec)
    if (partsIn(spec, 'ephemeralContainers').length > 0) {
      report.forbidden('spec.ephemeralContainers', 'cannot be set on create')
    }
    return
  }
  const before = partIn(old, 'spec')
  if (subresource === 'ephemeralcontainers') return checkEphemeralContainers(report, spec, before)
  if (subresource === 'status') {
    report.immutable('status.qosClass', partIn(next, 'status').qosClass, partIn(old, 'status').qosClass)
    return
  }
  checkPodSpec(report, 'spec', spec)
  if (subresource === '') checkPodUpdate(report, spec, before)
}

const withoutImages = (containers: readonly Part[]): readonly Part[] => containers.map((c) => ({ ...c, image: '' }))

function checkPodUpdate(report: Report, next: Part, old: Part): void {
  for (const role of ['containers', 'initContainers']) {
    if (partsIn(next, role).length === partsIn(old, role).length) continue
    report.forbidden(`spec.${role}`, 'pod updates may not add or remove containers')
    return
  }
  checkDeadline(report, next.activeDeadlineSeconds, old.activeDeadlineSeconds)
  checkTolerationsKept(report, partsIn(next, 'tolerations'), partsIn(old, 'tolerations'))
  const comparable = (spec: Part): Record<string, unknown> => ({
    ...spec,
    containers: withoutImages(partsIn(spec, 'containers')),
    initContainers: withoutImages(partsIn(spec, 'initContainers')),
    activeDeadlineSeconds: undefined,
    tolerations: undefined,
  })
  const a = comparable(next)
  const b = comparable(old)
  const grace = old.terminationGracePeriodSeconds
  if (typeof grace === 'number' && grace < 0 && next.terminationGracePeriodSeconds === 1) {
    a.terminationGracePeriodSeconds = grace
  }
  if (partsIn(old, 'schedulingGates').length > 0) allowGatedChanges(report, a, b, next, old)
  else if (partsIn(next, 'schedulingGates').length > 0) {
    report.forbidden('spec.schedulingGates', 'only deletion is allowed, but found new scheduling gate')
  }
  const changed = [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((f) => !sameValue(a[f], b[f])).sort()
  if (changed.length > 0) {
    report.forbidden(
      'spec',
      `pod updates may not change fields other than ${updatable}\nchanged: ${changed.join(', ')}`,
    )
  }
}

/** A pod that is not yet to be scheduled may lose gates and become choosier about nodes. */
function allowGatedChanges(
  report: Report,
  a: Record<string, unknown>,
  b: Record<string, unknown>,
  next: Part,
  old: Part,
): void {
  const known = new Set(partsIn(old, 'schedulingGates').map((g) => textIn(g, 'name')))
  for (const gate of partsIn(next, 'schedulingGates')) {
    if (!known.has(textIn(gate, 'name'))) {
      report.forbidden(
        'spec.schedulingGates',
        `only deletion is allowed, but found new scheduling gate '${textIn(gate, 'name')}'`,
      )
    }
  }
  const selector = partIn(next, 'nodeSelector')
  for (const [key, value] of Object.entries(partIn(old, 'nodeSelector'))) {
    if (selector[key] === value) continue
    report.invalid('spec.nodeSelector', selector, 'only additions are allowed (no mutations or deletions)')
    break
  }
  for (const field of ['schedulingGates', 'nodeSelector', 'affinity']) {
    a[field] = undefined
    b[field] = undefined
  }
}

function checkDeadline(report: Report, next: unknown, old: unknown): void {
  const field = 'spec.activeDeadlineSeconds'
  if (typeof next === 'number') {
    if (typeof old === 'number' && old < next)
      report.invalid(field, next, 'must be less than or equal to previous value')
  } else if (typeof old === 'number')
    report.invalid(field, null, 'must not update from a positive integer to nil value')
}

function checkTolerationsKept(report: Report, next: readonly Part[], old: readonly Part[]): void {
  const withoutSeconds = (t: Part): Part => ({ ...t, tolerationSeconds: undefined })
  for (const toleration of old) {
    const kept = next.some(
      (t) =>
        sameValue(t, toleration) ||
        (t.effect === 'NoExecute' && sameValue(withoutSeconds(t), withoutSeconds(toleration))),
    )
    if (kept) continue
    report.forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')
    return
  }
}

function checkEphemeralContainers(report: Report, next: Part, old: Part): void {
  const field = 'spec.ephemeralContainers'
  checkPodSpec(report, 'spec', next)
  const added = new Map(partsIn(next, 'ephemeralContainers').map((c) => [textIn(c, 'name'), c]))
  for (const container of partsIn(old, 'ephemeralContainers')) {
    const name = textIn(container, 'name')
    const kept = added.get(name)
    if (!kept) report.forbidden(field, `existing ephemeral containers "${name}" may not be removed\n`)
    else if (!sameValue(kept, container))
      report.forbidden(field, `existing ephemeral containers "${name}" may not be changed\n`)
  }
}

/**
 * `kubectl get pod` shows it, the scheduler and quota scopes go by it. @see GetPodQOS in pkg/apis/core/v1/helper/qos
 */
export function qosClassOf(spec: Part): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const containers = [...partsIn(spec, 'containers'), ...partsIn(spec, 'initContainers')]
  let some = false
  let guaranteed = containers.length > 0
  for (const container of containers) {
    const resources = partIn(container, 'resources')
    for (const name of ['cpu', 'memory']) {
      const request = partIn(resources, 'requests')[name]
      const limit = partIn(resources, 'limits')[name]
      if (isPositive(request) || isPositive(limit)) some = true
      if (!isPositive(limit) || (request !== undefined && request !== limit)) guaranteed = false
    }
  }
  return !some ? 'BestEffort' : guaranteed ? 'Guaranteed' : 'Burstable'
}

const isPositive = (amount: unknown): boolean => amount !== undefined && !/^[+-]?0*\.?0*[a-zA-Z]*$/.test(String(amount))
