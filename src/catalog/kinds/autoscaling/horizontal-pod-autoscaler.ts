/**
 * Autoscalers, disruption budgets, priority classes.
 * @see pkg/apis/{autoscaling,policy,scheduling}/validation of Kubernetes 1.36
 */
import { validateLabelSelector } from '../../../kube/label-selector.ts'
import { isPathSegment } from '../../../kube/names.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { amountOf } from '../core/resource-requirements.ts'
import {
  checkIntOrPercent,
  findPart,
  numberIn,
  type Part,
  partIn,
  partsIn,
  percentOf,
  type Report,
  textIn,
} from '../report.ts'

const metricSources: Readonly<Record<string, string>> = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
}
const scalingPolicies = ['Percent', 'Pods']
const selectPolicies = ['Disabled', 'Max', 'Min']
const maxPeriodSeconds = 1800
const maxWindowSeconds = 3600

function checkTargetRef(report: Report, ref: Part): void {
  for (const field of ['kind', 'name']) {
    const value = textIn(ref, field)
    if (value === '') report.required(`spec.scaleTargetRef.${field}`)
    else report.each(`spec.scaleTargetRef.${field}`, value, isPathSegment(value))
  }
}

export function checkHorizontalPodAutoscaler(report: Report, next: KubeObject): void {
  const spec = partIn(next, 'spec')
  const min = numberIn(spec, 'minReplicas')
  const max = numberIn(spec, 'maxReplicas') ?? 0
  if (min !== undefined && min < 1) report.invalid('spec.minReplicas', min, 'must be greater than or equal to 1')
  if (max < 1) report.invalid('spec.maxReplicas', max, 'must be greater than 0')
  if (min !== undefined && max < min)
    report.invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`')
  checkTargetRef(report, partIn(spec, 'scaleTargetRef'))
  partsIn(spec, 'metrics').forEach((m, i) => checkMetric(report, `spec.metrics[${i}]`, m))
  const behavior = findPart(spec, 'behavior')
  for (const direction of ['scaleUp', 'scaleDown']) {
    const rules = findPart(behavior, direction)
    if (rules) checkScalingRules(report, `spec.behavior.${direction}`, rules)
  }
}

function checkMetric(report: Report, at: string, metric: Part): void {
  const type = textIn(metric, 'type')
  if (type === '') report.required(`${at}.type`, 'must specify a metric source type')
  const field = metricSources[type]
  if (field === undefined) return report.notSupported(`${at}.type`, type, Object.keys(metricSources))
  const source = findPart(metric, field)
  if (!source) return report.required(`${at}.${field}`, `must populate information for the given metric source`)
  const target = partIn(source, 'target')
  const here = `${at}.${field}.target`
  const targetType = textIn(target, 'type')
  if (targetType === '') report.required(`${here}.type`, 'must specify a metric target type')
  if (!['Utilization', 'Value', 'AverageValue'].includes(targetType)) {
    report.invalid(`${here}.type`, targetType, 'must be either Utilization, Value, or AverageValue')
  }
  const average = numberIn(target, 'averageUtilization')
  if (average !== undefined && average < 1)
    report.invalid(`${here}.averageUtilization`, average, 'must be greater than 0')
  for (const name of ['value', 'averageValue']) {
    const amount = amountOf(target[name])
    if (amount && amount.nanos <= 0n) report.invalid(`${here}.${name}`, target[name], 'must be positive')
  }
  if (field === 'resource' || field === 'containerResource') {
    if (textIn(source, 'name') === '') report.required(`${at}.${field}.name`, 'must specify a resource name')
    if (average === undefined && target.averageValue === undefined) {
      report.required(`${here}.averageUtilization`, 'must set either a target raw value or a target utilization')
    }
  } else if (textIn(partIn(source, 'metric'), 'name') === '')
    report.required(`${at}.${field}.metric.name`, 'must specify a metric name')
}

function checkScalingRules(report: Report, at: string, rules: Part): void {
  const window = numberIn(rules, 'stabilizationWindowSeconds')
  if (window !== undefined && window < 0) {
    report.invalid(`${at}.stabilizationWindowSeconds`, window, 'must be greater than or equal to zero')
  }
  if (window !== undefined && window > maxWindowSeconds) {
    report.invalid(`${at}.stabilizationWindowSeconds`, window, `must be less than or equal to ${maxWindowSeconds}`)
  }
  report.oneOfIfSet(`${at}.selectPolicy`, rules.selectPolicy, selectPolicies)
  const policies = partsIn(rules, 'policies')
  if (policies.length === 0) report.required(`${at}.policies`, 'must specify at least one Policy')
  policies.forEach((p, i) => {
    const here = `${at}.policies[${i}]`
    report.oneOf(`${here}.type`, textIn(p, 'type'), scalingPolicies)
    for (const field of ['value', 'periodSeconds']) {
      const value = numberIn(p, field) ?? 0
      if (value <= 0) report.invalid(`${here}.${field}`, value, 'must be greater than zero')
    }
    const period = numberIn(p, 'periodSeconds') ?? 0
    if (period > maxPeriodSeconds)
      report.invalid(`${here}.periodSeconds`, period, `must be less than or equal to ${maxPeriodSeconds}`)
  })
}

export function checkPodDisruptionBudget(report: Report, next: KubeObject): void {
  const spec = partIn(next, 'spec')
  if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
    report.invalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set')
  }
  for (const field of ['minAvailable', 'maxUnavailable']) {
    checkIntOrPercent(report, `spec.${field}`, spec[field])
    const percent = percentOf(spec[field])
    if (percent !== undefined && percent > 100)
      report.invalid(`spec.${field}`, spec[field], 'must not be greater than 100%')
  }
  report.oneOfIfSet('spec.unhealthyPodEvictionPolicy', spec.unhealthyPodEvictionPolicy, [
    'AlwaysAllow',
    'IfHealthyBudget',
  ])
  report.add(validateLabelSelector(findPart(spec, 'selector'), 'spec.selector'))
}

const highestUserPriority = 1_000_000_000
const systemPriorities: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
}

export function checkPriorityClass(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const name = next.metadata.name ?? ''
  const value = numberIn(next, 'value') ?? 0
  if (name.startsWith('system-')) {
    const known = systemPriorities[name]
    if (known === undefined) {
      report.forbidden(
        'metadata.name',
        "priority class names with 'system-' prefix are reserved for system use only. error: " +
          `${name} is not a known system priority class`,
      )
    } else if (known !== value) {
      report.forbidden(
        'metadata.name',
        `priority class names with 'system-' prefix are reserved for system use only. error: value of ` +
          `${name} PriorityClass must be ${known}`,
      )
    }
  } else if (value > highestUserPriority) {
    report.forbidden('value', `maximum allowed value of a user defined priority is ${highestUserPriority}`)
  }
  report.oneOfIfSet('preemptionPolicy', next.preemptionPolicy, ['PreemptLowerPriority', 'Never'])
  if (!old) return
  if (value !== (numberIn(old, 'value') ?? 0)) report.forbidden('value', 'may not be changed in an update.')
  report.immutable('preemptionPolicy', next.preemptionPolicy, old.preemptionPolicy)
}
