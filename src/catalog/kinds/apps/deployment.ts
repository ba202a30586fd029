/**
 * Deployments, replica sets, stateful sets, daemon sets, replication controllers and pod templates.
 * @see pkg/apis/apps/validation/validation.go, pkg/apis/core/validation/validation.go of Kubernetes 1.36
 */
import { labelSelectorOf, matchesLabels, validateLabelSelector } from '../../../kube/label-selector.ts'
import { validateAnnotations, validateLabels } from '../../../kube/metadata.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { checkPodSpec } from '../core/pod-spec.ts'
import {
  checkIntOrPercent,
  findPart,
  notNegative,
  numberIn,
  type Part,
  partIn,
  partsIn,
  percentOf,
  type Report,
  sameValue,
  textIn,
} from '../report.ts'

const selectorMismatch = '`selector` does not match template `labels`'

export function checkPodTemplate(report: Report, at: string, template: Part): void {
  checkTemplateMetadata(report, at, template)
  checkPodSpec(report, `${at}.spec`, partIn(template, 'spec'))
  if (partsIn(partIn(template, 'spec'), 'ephemeralContainers').length > 0) {
    report.forbidden(`${at}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template')
  }
}

function checkTemplateMetadata(report: Report, at: string, template: Part): void {
  const metadata = partIn(template, 'metadata')
  report.add(validateLabels(metadata.labels as Record<string, string> | undefined, `${at}.labels`))
  report.add(validateAnnotations(metadata.annotations as Record<string, string> | undefined, `${at}.annotations`))
}

/** The pods a controller makes must be pods it finds. */
export function checkSelector(report: Report, spec: Part, kind: string): void {
  const selector = findPart(spec, 'selector')
  const errors = validateLabelSelector(selector, 'spec.selector')
  if (selector) report.add(errors)
  else if (kind !== 'daemonset') report.required('spec.selector')
  const parts = Object.keys(partIn(selector, 'matchLabels')).length + partsIn(selector, 'matchExpressions').length
  if (selector && parts === 0) return report.invalid('spec.selector', selector, `empty selector is invalid for ${kind}`)
  if (errors.length > 0) {
    if (kind !== 'daemonset') {
      report.invalid('spec.selector', selector, kind === 'deployment' ? 'invalid label selector' : '')
    }
    return
  }
  const labels = partIn(partIn(spec, 'template'), 'metadata').labels as Record<string, string> | undefined
  if (!selector || !matchesLabels(labelSelectorOf(selector), labels ?? {})) {
    report.invalid('spec.template.metadata.labels', labels ?? null, selectorMismatch)
  }
}

/** These controllers bring every pod back: it must want to be. */
function checkAlwaysRestarts(report: Report, spec: Part, kind: string): void {
  const pod = partIn(partIn(spec, 'template'), 'spec')
  const policy = textIn(pod, 'restartPolicy')
  if (policy !== 'Always') report.notSupported('spec.template.spec.restartPolicy', policy, ['Always'])
  if (pod.activeDeadlineSeconds !== undefined) {
    report.forbidden('spec.template.spec.activeDeadlineSeconds', `activeDeadlineSeconds in ${kind} is not Supported`)
  }
}

function checkPercent(report: Report, field: string, value: unknown, max = false): void {
  checkIntOrPercent(report, field, value)
  const percent = percentOf(value)
  if (max && percent !== undefined && percent > 100) report.invalid(field, value, 'must not be greater than 100%')
}

/** As Go prints its own form of it. */
const shownStrategy = (strategy: Part): object => ({
  Type: textIn(strategy, 'type'),
  RollingUpdate: strategy.rollingUpdate ?? null,
})

const isZero = (value: unknown): boolean => value === undefined || value === 0 || percentOf(value) === 0

export function checkDeployment(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  report.notNegative(spec, 'spec', 'replicas')
  checkSelector(report, spec, 'deployment')
  checkPodTemplate(report, 'spec.template', partIn(spec, 'template'))
  checkAlwaysRestarts(report, spec, 'ReplicaSet')
  const strategy = partIn(spec, 'strategy')
  const type = textIn(strategy, 'type')
  const rolling = findPart(strategy, 'rollingUpdate')
  if (type === 'Recreate') {
    if (rolling) {
      report.forbidden('spec.strategy.rollingUpdate', "may not be specified when strategy `type` is 'Recreate'")
    }
  } else if (type === 'RollingUpdate') {
    const at = 'spec.strategy.rollingUpdate'
    checkPercent(report, `${at}.maxUnavailable`, rolling?.maxUnavailable, true)
    checkPercent(report, `${at}.maxSurge`, rolling?.maxSurge)
    if (isZero(rolling?.maxUnavailable) && isZero(rolling?.maxSurge)) {
      report.invalid(`${at}.maxUnavailable`, rolling?.maxUnavailable ?? 0, 'may not be 0 when `maxSurge` is 0')
    }
  } else report.notSupported('spec.strategy', shownStrategy(strategy), ['Recreate', 'RollingUpdate'])
  report.notNegative(spec, 'spec', 'minReadySeconds', 'revisionHistoryLimit')
  const deadline = numberIn(spec, 'progressDeadlineSeconds')
  if (deadline !== undefined) {
    report.notNegative(spec, 'spec', 'progressDeadlineSeconds')
    if (deadline <= (numberIn(spec, 'minReadySeconds') ?? 0)) {
      report.invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')
    }
  }
  if (old) report.immutable('spec.selector', spec.selector, partIn(old, 'spec').selector)
}

export function checkReplicaSet(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  report.notNegative(spec, 'spec', 'replicas', 'minReadySeconds')
  checkSelector(report, spec, 'deployment')
  checkPodTemplate(report, 'spec.template', partIn(spec, 'template'))
  checkAlwaysRestarts(report, spec, 'ReplicaSet')
  if (old) report.immutable('spec.selector', spec.selector, partIn(old, 'spec').selector)
}

export function checkDaemonSet(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  checkSelector(report, spec, 'daemonset')
  checkPodTemplate(report, 'spec.template', partIn(spec, 'template'))
  checkAlwaysRestarts(report, spec, 'DaemonSet')
  const strategy = partIn(spec, 'updateStrategy')
  const type = textIn(strategy, 'type')
  if (type === 'RollingUpdate') {
    const at = 'spec.updateStrategy.rollingUpdate'
    const rolling = partIn(strategy, 'rollingUpdate')
    checkPercent(report, `${at}.maxUnavailable`, rolling.maxUnavailable, true)
    checkPercent(report, `${at}.maxSurge`, rolling.maxSurge, true)
    if (isZero(rolling.maxUnavailable) && isZero(rolling.maxSurge)) {
      report.required(`${at}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')
    } else if (!isZero(rolling.maxUnavailable) && !isZero(rolling.maxSurge)) {
      report.invalid(`${at}.maxSurge`, rolling.maxSurge, 'may not be set when maxUnavailable is non-zero')
    }
  } else if (type !== 'OnDelete') {
    report.notSupported('spec.updateStrategy', shownStrategy(strategy), ['RollingUpdate', 'OnDelete'])
  }
  report.notNegative(spec, 'spec', 'minReadySeconds', 'revisionHistoryLimit')
  if (old) report.immutable('spec.selector', spec.selector, partIn(old, 'spec').selector)
}

const statefulSetUpdatable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]

export function checkStatefulSet(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  const management = textIn(spec, 'podManagementPolicy')
  if (management !== 'OrderedReady' && management !== 'Parallel') {
    report.invalid('spec.podManagementPolicy', management, "must be 'OrderedReady' or 'Parallel'")
  }
  const strategy = partIn(spec, 'updateStrategy')
  const type = textIn(strategy, 'type')
  const rolling = findPart(strategy, 'rollingUpdate')
  if (type === 'OnDelete') {
    if (rolling) {
      report.invalid('spec.updateStrategy.rollingUpdate', rolling, "only allowed for updateStrategy 'RollingUpdate'")
    }
  } else if (type === 'RollingUpdate') {
    if (rolling) report.notNegative(rolling, 'spec.updateStrategy.rollingUpdate', 'partition')
  } else report.invalid('spec.updateStrategy', shownStrategy(strategy), "must be 'RollingUpdate' or 'OnDelete'")
  const retention = partIn(spec, 'persistentVolumeClaimRetentionPolicy')
  for (const field of ['whenDeleted', 'whenScaled']) {
    report.oneOfIfSet(`spec.persistentVolumeClaimRetentionPolicy.${field}`, retention[field], ['Retain', 'Delete'])
  }
  report.notNegative(spec, 'spec', 'replicas', 'minReadySeconds', 'revisionHistoryLimit')
  const ordinals = findPart(spec, 'ordinals')
  if (ordinals) report.notNegative(ordinals, 'spec.ordinals', 'start')
  checkSelector(report, spec, 'statefulset')
  // Not the pod itself: it mounts volumes that the claim templates bring. Upstream leaves the rest to the pods'
  // creation.
  checkTemplateMetadata(report, 'spec.template', partIn(spec, 'template'))
  checkAlwaysRestarts(report, spec, 'StatefulSet')
  if (!old) return
  const before = partIn(old, 'spec')
  const fixed = new Set([...Object.keys(spec), ...Object.keys(before)].filter((f) => !statefulSetUpdatable.includes(f)))
  if ([...fixed].some((f) => !sameValue(spec[f], before[f]))) {
    const names = statefulSetUpdatable.map((f) => `'${f}'`)
    report.forbidden(
      'spec',
      `updates to statefulset spec for fields other than ${names.slice(0, -1).join(', ')} and ` +
        `${names.at(-1)} are forbidden`,
    )
  }
}

export function checkReplicationController(report: Report, next: KubeObject): void {
  const spec = partIn(next, 'spec')
  report.notNegative(spec, 'spec', 'minReadySeconds', 'replicas')
  const selector = partIn(spec, 'selector') as Record<string, string>
  if (Object.keys(selector).length === 0) report.required('spec.selector')
  const template = findPart(spec, 'template')
  if (!template) return report.required('spec.template')
  const labels = (partIn(template, 'metadata').labels as Record<string, string> | undefined) ?? {}
  if (Object.entries(selector).some(([key, value]) => labels[key] !== value)) {
    report.invalid('spec.template.metadata.labels', labels, selectorMismatch)
  }
  checkPodTemplate(report, 'spec.template', template)
  checkAlwaysRestarts(report, spec, 'ReplicationController')
}

export function checkPodTemplateObject(report: Report, next: KubeObject): void {
  checkPodTemplate(report, 'template', partIn(next, 'template'))
}

export function checkControllerRevision(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  if (next.data === undefined) report.required('data', 'data is mandatory')
  const revision = numberIn(next, 'revision') ?? 0
  if (revision < 0) report.invalid('revision', revision, notNegative)
  if (old) report.immutable('data', next.data, old.data)
}
