/**
 * Pods: what a create and each sub-resource may change, what the server fills in, how long a deletion takes.
 * @see ValidatePodCreate, ValidatePodUpdate, ValidatePodEphemeralContainersUpdate in pkg/apis/core/validation,
 *   pkg/registry/core/pod/strategy.go of Kubernetes 1.36
 */
import { isExactNumber } from '../../../kube/json-value.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { unvalidated } from '../../../kube/unvalidated.ts'
import { type DefaultRule, type Fields, findStruct, isUnset, listIn, structIn } from '../default-rules.ts'
import { allMetadata, type BuiltInKind, type Prepare, validateWith } from '../kind.ts'
import { numberIn, type Part, partIn, partsIn, type Report, sameValue, textIn } from '../report.ts'
import { selectableAt, selectableFields } from '../selectable-fields.ts'
import { checkPodAnnotations, checkSameProfiles, isMirrorPod, withAppArmorFields } from './pod-annotations.ts'
import { podColumns } from './pod-columns.ts'
import { checkPodSpec } from './pod-spec.ts'
import { checkPodStatus } from './pod-status.ts'

const updatable =
  '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` ' +
  '(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if ' +
  'it was previously negative)'

function checkPod(report: Report, next: KubeObject, old: KubeObject | undefined, subresource: string): void {
  const spec = partIn(next, 'spec')
  checkPodAnnotations(report, next, old)
  if (!old) {
    checkPodSpec(report, 'spec', spec, undefined, next.metadata.name ?? '')
    if (partsIn(spec, 'ephemeralContainers').length > 0) {
      report.forbidden('spec.ephemeralContainers', 'cannot be set on create')
    }
    if (textIn(spec, 'nodeName') !== '' && partsIn(spec, 'schedulingGates').length > 0) {
      report.forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')
    }
    checkSameProfiles(report, 'spec', partIn(next, 'metadata'), spec)
    return
  }
  const before = partIn(old, 'spec')
  if (subresource === 'ephemeralcontainers') {
    if (isMirrorPod(old)) return report.forbidden('', 'static pods do not support ephemeral containers')
    return checkEphemeralContainers(report, spec, before, next.metadata.name ?? '')
  }
  if (subresource === 'status') return checkPodStatus(report, next, old)
  checkPodSpec(report, 'spec', spec, before, next.metadata.name ?? '')
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

function checkEphemeralContainers(report: Report, next: Part, old: Part, pod: string): void {
  const field = 'spec.ephemeralContainers'
  checkPodSpec(report, 'spec', next, old, pod)
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
function qosClassOf(spec: Part): 'Guaranteed' | 'Burstable' | 'BestEffort' {
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

const isPositive = (amount: unknown): boolean =>
  amount !== undefined && !/^[+-]?0*(?:\.0*)?[a-zA-Z]*$/.test(String(amount))

const preparePod: Prepare = (next, old, { subresource }) => {
  const spec = partIn(next, 'spec')
  if (!old) {
    return unvalidated({
      ...next,
      spec: withAppArmorFields(partIn(next, 'metadata'), spec),
      status: { phase: 'Pending', qosClass: qosClassOf(spec) },
    })
  }
  const before = partIn(old, 'spec')
  if (subresource === 'ephemeralcontainers') {
    return unvalidated({
      ...old,
      metadata: next.metadata,
      spec: { ...before, ephemeralContainers: spec.ephemeralContainers },
    })
  }
  if (subresource === 'resize') {
    const resized = (role: string): Record<string, unknown> => {
      if (before[role] === undefined) return {}
      const wanted = new Map(partsIn(spec, role).map((c) => [textIn(c, 'name'), c]))
      return {
        [role]: partsIn(before, role).map((c) => {
          const sent = wanted.get(textIn(c, 'name'))
          return sent ? { ...c, resources: sent.resources, resizePolicy: sent.resizePolicy ?? c.resizePolicy } : c
        }),
      }
    }
    return unvalidated({
      ...old,
      metadata: next.metadata,
      spec: { ...before, ...resized('containers'), ...resized('initContainers') },
    })
  }
  if (subresource === 'status') {
    // Given at creation and immutable; some kubelets leave it out.
    const status = partIn(next, 'status')
    return status.qosClass ? next : { ...next, status: { ...status, qosClass: partIn(old, 'status').qosClass } }
  }
  return next
}

const defaultGraceSeconds = 30
const ended = new Set(['Succeeded', 'Failed'])

/** A pod that is nowhere, or has ended, needs no time. Whether its node exists is not known here (DECISIONS 18). */
export function podGraceSeconds(pod: KubeObject, requested: number | undefined): number {
  const spec = partIn(pod, 'spec')
  if (textIn(spec, 'nodeName') === '' || ended.has(textIn(partIn(pod, 'status'), 'phase'))) return 0
  return Math.max(0, requested ?? numberIn(spec, 'terminationGracePeriodSeconds') ?? defaultGraceSeconds)
}

/** Only pods themselves get these, templates don't. */
const defaultPod: DefaultRule = (object) => {
  const spec = structIn(object, 'spec')
  const containers = [...listIn(spec, 'containers'), ...listIn(spec, 'initContainers')]
  for (const c of containers) requestsFromLimits(c)
  if (spec.enableServiceLinks === undefined) spec.enableServiceLinks = true
  const grace = spec.terminationGracePeriodSeconds
  // Less than nothing means the least. @see Convert_v1_Pod_To_core_Pod in pkg/apis/core/v1/conversion.go
  if (Number(isExactNumber(grace) ? grace.rawJSON : grace) < 0) spec.terminationGracePeriodSeconds = 1
  if (spec.hostNetwork !== true) return
  for (const c of containers) {
    for (const port of listIn(c, 'ports')) if (isUnset(port.hostPort)) port.hostPort = port.containerPort
  }
}

function requestsFromLimits(container: Fields): void {
  const resources = findStruct(container, 'resources')
  const limits = resources && findStruct(resources, 'limits')
  if (!resources || !limits) return
  const requests = structIn(resources, 'requests')
  for (const [name, value] of Object.entries(limits)) if (requests[name] === undefined) requests[name] = value
}

export const pod: BuiltInKind = {
  shortNames: ['po'],
  categories: ['all'],
  streamKinds: {
    attach: 'PodAttachOptions',
    exec: 'PodExecOptions',
    portforward: 'PodPortForwardOptions',
    proxy: 'PodProxyOptions',
  },
  strategy: {
    prepare: preparePod,
    validate: validateWith(checkPod),
    graceful: { graceSeconds: podGraceSeconds },
    returnsDeleted: true,
    tracksGeneration: true,
    keptMetadata: { status: ['ownerReferences'], ephemeralcontainers: allMetadata, resize: allMetadata },
    selectableFields: {
      ...selectableFields(
        'spec.nodeName',
        'spec.restartPolicy',
        'spec.schedulerName',
        'spec.serviceAccountName',
        'status.phase',
        'status.podIP',
        'status.nominatedNodeName',
      ),
      'spec.hostNetwork': selectableAt('spec.hostNetwork', 'false'),
    },
  },
  defaults: { 'io.k8s.api.core.v1.Pod': [defaultPod] },
  columns: podColumns,
}
