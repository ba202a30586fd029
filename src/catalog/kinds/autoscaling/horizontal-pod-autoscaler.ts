/**
 * Horizontal pod autoscalers, v1 and v2.
 * @see pkg/apis/autoscaling/validation, pkg/apis/autoscaling/v1/{defaults,conversion}.go and v2/defaults.go of
 *   Kubernetes 1.36
 */
import type { TableColumns } from '../../../kube/table.ts'
import type { JsonValue, KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, intOrStringAt, nameColumn, nameOf, quantityAt } from '../cell-text.ts'
import { checkNotNegative } from '../core/resource-requirements.ts'
import { type DefaultRule, fillAbsent, findStruct, structIn } from '../default-rules.ts'
import { fieldAt, listAt, numberAt, objectAt, textAt } from '../field-access.ts'
import { type BuiltInKind, validatePartsWith } from '../kind.ts'
import { findPart, numberIn, type Part, partIn, partsIn, type Report, textIn } from '../report.ts'
import { autoscalerConversion, carryingAnnotations, defaultUtilization } from './autoscaler-conversion.ts'
import { checkMetrics, checkScaleReference, metricSources } from './autoscaler-metrics.ts'

const scalingPolicies = ['Percent', 'Pods']
const selectPolicies = ['Disabled', 'Max', 'Min']
const maxPeriodSeconds = 1800
const maxWindowSeconds = 3600

function checkHorizontalPodAutoscaler(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  const min = numberIn(spec, 'minReplicas')
  const max = numberIn(spec, 'maxReplicas') ?? 0
  // A zero that is stored may stay.
  const least = old && numberIn(partIn(old, 'spec'), 'minReplicas') === 0 ? 0 : 1
  if (min !== undefined && min < least) {
    report.invalid('spec.minReplicas', min, `must be greater than or equal to ${least}`)
  }
  if (max === 0) report.required('spec.maxReplicas', 'must be set and greater than 0')
  else if (max < 0) report.invalid('spec.maxReplicas', max, 'must be greater than or equal to 1')
  if (min !== undefined && max < min)
    report.invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`')
  checkTarget(report, partIn(spec, 'scaleTargetRef'), old && partIn(partIn(old, 'spec'), 'scaleTargetRef'))
  checkMetrics(report, spec, old && partIn(old, 'spec'))
  const behavior = findPart(spec, 'behavior')
  for (const direction of ['scaleUp', 'scaleDown']) {
    const rules = findPart(behavior, direction)
    if (rules) checkScalingRules(report, `spec.behavior.${direction}`, rules)
  }
}

/** What names no group is the one kind of the core group that can be scaled, or was stored before this was asked. */
function checkTarget(report: Report, target: Part, old: Part | undefined): void {
  const isKept = old?.apiVersion === target.apiVersion && old?.kind === target.kind
  const groups = isKept ? 'any' : target.kind === 'ReplicationController' ? 'core too' : 'named'
  checkScaleReference(report, 'spec.scaleTargetRef', target, groups)
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
  if (rules.tolerance !== undefined) checkNotNegative(report, `${at}.tolerance`, rules.tolerance)
}

const periodSeconds = 15

const cpuMetric: JsonValue = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: defaultUtilization } },
}

const scaleUp: JsonValue = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds },
    { type: 'Percent', value: 100, periodSeconds },
  ],
}

const scaleDown: JsonValue = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds }] }

const metrics: DefaultRule = (spec) => {
  if (!Array.isArray(spec.metrics) || spec.metrics.length === 0) spec.metrics = [structuredClone(cpuMetric)]
}

/**
 * Upstream does this when it converts from v1, and so does our conversion; here so that the client sees it in its
 * answer, and owns it. The other metrics of such an autoscaler are in an annotation.
 */
const processorTarget: DefaultRule = (autoscaler) => {
  const spec = structIn(autoscaler, 'spec')
  if (spec.targetCPUUtilizationPercentage !== undefined) return
  const metadata = findStruct(autoscaler, 'metadata')
  const carried = (metadata && findStruct(metadata, 'annotations'))?.[carryingAnnotations.metrics]
  if (carried === undefined) spec.targetCPUUtilizationPercentage = defaultUtilization
}

/** Either both directions have rules or neither does. */
const behavior: DefaultRule = (value) => {
  value.scaleUp = { ...structuredClone(scaleUp), ...findStruct(value, 'scaleUp') }
  value.scaleDown = { ...structuredClone(scaleDown), ...findStruct(value, 'scaleDown') }
}

function printMetric(spec: JsonValue, status: JsonValue | undefined): string {
  const type = textAt(spec, 'type')
  const source = metricSources.get(type)
  if (!source) return '<unknown type>'
  const current = objectAt(status, source, 'current')
  const read = (field: string): string =>
    fieldAt(current, field) === undefined ? '<unknown>' : quantityAt(current, field)
  const target = (field: string): string => quantityAt(spec, source, 'target', field)
  const isAverage = fieldAt(spec, source, 'target', 'averageValue') !== undefined
  if (type === 'Pods') return `${read('averageValue')}/${target('averageValue')}`
  if (type === 'External' || type === 'Object') {
    if (isAverage) return `${read('averageValue')}/${target('averageValue')} (avg)`
    return `${read('value')}/${target('value')}`
  }
  const name = textAt(spec, source, 'name')
  if (isAverage) return `${name}: ${read('averageValue')}/${target('averageValue')}`
  const percent = (value: JsonValue | undefined, none: string): string => (value === undefined ? none : `${value}%`)
  const used = percent(fieldAt(current, 'averageUtilization'), '<unknown>')
  return `${name}: ${used}/${percent(fieldAt(spec, source, 'target', 'averageUtilization'), '<auto>')}`
}

/** v1 knows one metric: cpu. */
function metricsOf(hpa: KubeObject): string[] {
  const percent = fieldAt(hpa, 'spec', 'targetCPUUtilizationPercentage')
  if (percent !== undefined) {
    const used = fieldAt(hpa, 'status', 'currentCPUUtilizationPercentage')
    return [`cpu: ${used === undefined ? '<unknown>' : `${used}%`}/${percent}%`]
  }
  const current = listAt(hpa, 'status', 'currentMetrics')
  return listAt(hpa, 'spec', 'metrics').map((spec, i) => printMetric(spec, current[i]))
}

function printMetrics(hpa: KubeObject): string {
  const metrics = metricsOf(hpa)
  if (metrics.length === 0) return '<none>'
  const shown = metrics.slice(0, 2).join(', ')
  return metrics.length > 2 ? `${shown} + ${metrics.length - 2} more...` : shown
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Reference', 'string', 'What it scales.'),
    column('Targets', 'string', 'Its metrics, as they are and as they should be.'),
    column('MinPods', 'string', 'The fewest pods it allows.'),
    column('MaxPods', 'string', 'The most pods it allows.'),
    column('Replicas', 'string', 'How many pods there are.'),
    ageColumn,
  ],
  cells: (o, now) => [
    nameOf(o),
    `${textAt(o, 'spec', 'scaleTargetRef', 'kind')}/${textAt(o, 'spec', 'scaleTargetRef', 'name')}`,
    printMetrics(o),
    intOrStringAt(o, '<unset>', 'spec', 'minReplicas'),
    numberAt(o, 'spec', 'maxReplicas'),
    numberAt(o, 'status', 'currentReplicas'),
    ageOf(o, now),
  ],
}

function checkStatus(report: Report, next: KubeObject): void {
  report.notNegative(partIn(next, 'status'), 'status', 'currentReplicas', 'desiredReplicas')
}

export const horizontalPodAutoscaler: BuiltInKind = {
  shortNames: ['hpa'],
  categories: ['all'],
  conversions: {
    v1: (schemaOf) => autoscalerConversion(() => schemaOf('io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler')),
  },
  strategy: { validate: validatePartsWith(checkHorizontalPodAutoscaler, checkStatus) },
  defaults: {
    'io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler': [processorTarget],
    'io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerSpec': [fillAbsent({ minReplicas: 1 })],
    'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec': [fillAbsent({ minReplicas: 1 }), metrics],
    'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior': [behavior],
  },
  columns,
}
