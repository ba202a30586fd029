/** What an autoscaler watches. @see validateMetricSpec in pkg/apis/autoscaling/validation of Kubernetes 1.36 */
import { isDns1123Label, isPathSegment } from '../../../kube/names.ts'
import { amountOf, checkContainerResourceName } from '../core/resource-requirements.ts'
import { findPart, numberIn, type Part, partIn, partsIn, type Report, textIn } from '../report.ts'

export const metricSources: ReadonlyMap<string, string> = new Map([
  ['ContainerResource', 'containerResource'],
  ['External', 'external'],
  ['Object', 'object'],
  ['Pods', 'pods'],
  ['Resource', 'resource'],
])

type Check = (report: Report, at: string, source: Part, groups: Groups) => void

/** In upstream's order: only the first of several is looked into. */
const sources: Readonly<Record<string, Check>> = {
  object(report, at, source, groups) {
    checkScaleReference(report, `${at}.describedObject`, partIn(source, 'describedObject'), groups)
    const { value, averageValue } = checkNamedTarget(report, at, source)
    if (value === undefined && averageValue === undefined)
      report.required(`${at}.target.averageValue`, 'must set either a target value or averageValue')
  },
  external(report, at, source) {
    const { value, averageValue } = checkNamedTarget(report, at, source)
    if (value === undefined && averageValue === undefined) {
      const why = 'must set either a target value for metric or a per-pod target'
      report.required(`${at}.target.averageValue`, why)
    }
    if (value !== undefined && averageValue !== undefined)
      report.forbidden(`${at}.target.value`, 'may not set both a target value for metric and a per-pod target')
  },
  pods(report, at, source) {
    const { averageValue } = checkNamedTarget(report, at, source)
    if (averageValue === undefined)
      report.required(`${at}.target.averageValue`, 'must specify a positive target averageValue')
  },
  resource(report, at, source) {
    if (textIn(source, 'name') === '') report.required(`${at}.name`, 'must specify a resource name')
    checkUsage(report, at, source)
  },
  containerResource(report, at, source) {
    const name = textIn(source, 'name')
    const container = textIn(source, 'container')
    if (name === '') report.required(`${at}.name`, 'must specify a resource name')
    else checkContainerResourceName(report, `${at}.name`, name)
    if (container === '') report.required(`${at}.container`, 'must specify a container')
    else report.each(`${at}.container`, container, isDns1123Label(container))
    checkUsage(report, at, source)
  },
}

/** Which groups a reference may name. */
type Groups = 'any' | 'core too' | 'named'

export function checkMetrics(report: Report, spec: Part, old: Part | undefined): void {
  const metrics = partsIn(spec, 'metrics')
  const wasAny = partsIn(old, 'metrics').some(
    (m) => m.type === 'Object' && faultOfVersion(partIn(partIn(m, 'object'), 'describedObject'), 'core too') !== '',
  )
  metrics.forEach((m, i) => checkMetric(report, `spec.metrics[${i}]`, m, wasAny ? 'any' : 'core too'))
  const canWake = metrics.some(({ type }) => type === 'Object' || type === 'External')
  if (numberIn(spec, 'minReplicas') === 0 && !canWake) {
    const why = 'must specify at least one Object or External metric to support scaling to zero replicas'
    report.forbidden('spec.metrics', why)
  }
}

function checkMetric(report: Report, at: string, metric: Part, groups: Groups): void {
  const type = textIn(metric, 'type')
  const wanted = metricSources.get(type)
  const known = [...metricSources.keys()]
  if (type === '') report.required(`${at}.type`, 'must specify a metric source type')
  if (wanted === undefined) report.notSupported(`${at}.type`, type, known)
  const present = Object.keys(sources).filter((field) => findPart(metric, field))
  const [first] = present
  if (first !== undefined) sources[first]?.(report, `${at}.${first}`, partIn(metric, first), groups)
  if (wanted === undefined) report.notSupported(`${at}.type`, type, known)
  else if (!present.includes(wanted))
    report.required(`${at}.${wanted}`, 'must populate information for the given metric source')
  if (present.length < 2) return
  for (const field of present.filter((f) => f !== wanted)) {
    report.forbidden(`${at}.${field}`, 'must populate the given metric source only')
  }
}

function checkNamedTarget(report: Report, at: string, source: Part): Part {
  const name = textIn(partIn(source, 'metric'), 'name')
  if (name === '') report.required(`${at}.metric.name`, 'must specify a metric name')
  else report.each(`${at}.metric.name`, name, isPathSegment(name))
  return checkTargetValue(report, at, source)
}

function checkUsage(report: Report, at: string, source: Part): void {
  const { averageUtilization, averageValue } = checkTargetValue(report, at, source)
  if (averageUtilization === undefined && averageValue === undefined) {
    const why = 'must set either a target raw value or a target utilization'
    report.required(`${at}.target.averageUtilization`, why)
  }
  if (averageUtilization !== undefined && averageValue !== undefined) {
    const why = 'may not set both a target raw value and a target utilization'
    report.forbidden(`${at}.target.averageValue`, why)
  }
}

function checkTargetValue(report: Report, at: string, source: Part): Part {
  const target = partIn(source, 'target')
  const type = textIn(target, 'type')
  const here = `${at}.target`
  if (type === '') report.required(`${here}.type`, 'must specify a metric target type')
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    report.invalid(`${here}.type`, type, 'must be either Utilization, Value, or AverageValue')
  }
  for (const name of ['value', 'averageValue']) {
    const amount = amountOf(target[name])
    if (amount && amount.nanos <= 0n) report.invalid(`${here}.${name}`, target[name], 'must be positive')
  }
  const average = numberIn(target, 'averageUtilization')
  if (average !== undefined && average < 1)
    report.invalid(`${here}.averageUtilization`, average, 'must be greater than 0')
  return target
}

/** What an autoscaler scales, or an object that a metric is about. */
export function checkScaleReference(report: Report, at: string, reference: Part, groups: Groups): void {
  for (const field of ['kind', 'name']) {
    const value = textIn(reference, field)
    if (value === '') report.required(`${at}.${field}`)
    else report.each(`${at}.${field}`, value, isPathSegment(value))
  }
  const fault = faultOfVersion(reference, groups)
  if (fault !== '') report.invalid(`${at}.apiVersion`, textIn(reference, 'apiVersion'), fault)
}

function faultOfVersion(reference: Part, groups: Groups): string {
  if (groups === 'any') return ''
  const text = textIn(reference, 'apiVersion')
  const parts = text.split('/')
  if (parts.length > 2) return `unexpected GroupVersion string: ${text}`
  const group = parts.length === 2 ? parts[0] : ''
  return groups === 'named' && group === '' ? 'apiVersion must specify API group' : ''
}
