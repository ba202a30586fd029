/**
 * Tables of what runs pods: deployments and their kin, jobs, autoscalers, disruption budgets.
 * @see k8s.io/kubernetes/pkg/printers/internalversion/printers.go v1.36
 */
import { humanDuration } from '../../../kube/duration.ts'
import { parseApiVersion, qualifiedKind } from '../../../kube/gvk.ts'
import type { TableColumns } from '../../../kube/table.ts'
import { parseTime } from '../../../kube/time.ts'
import type { JsonValue, KubeObject } from '../../../kube/types.ts'
import {
  ageColumn,
  ageOf,
  column,
  containerColumns,
  containersOf,
  intOrStringAt,
  isDeleting,
  labelsAt,
  nameColumn,
  nameOf,
  printSelectorObject,
  quantityAt,
  selectorAt,
  selectorColumn,
  since,
} from '../cell-text.ts'
import { booleanAt, conditionAt, fieldAt, listAt, numberAt, objectAt, textAt } from '../field-access.ts'

const templateContainers = (object: KubeObject): [string, string] =>
  containersOf(fieldAt(object, 'spec', 'template', 'spec'))

export const deployments: TableColumns = {
  definitions: [
    nameColumn,
    column('Ready', 'string', 'How many pods are ready, of how many wanted.'),
    column('Up-to-date', 'string', 'How many pods have the current template.'),
    column('Available', 'string', 'How many pods have been ready long enough.'),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  cells: (o, now) => [
    nameOf(o),
    `${numberAt(o, 'status', 'readyReplicas')}/${numberAt(o, 'spec', 'replicas')}`,
    numberAt(o, 'status', 'updatedReplicas'),
    numberAt(o, 'status', 'availableReplicas'),
    ageOf(o, now),
    ...templateContainers(o),
    printSelectorObject(objectAt(o, 'spec', 'selector')) ?? '<invalid>',
  ],
}

const replicaColumns = [
  nameColumn,
  column('Desired', 'integer', 'How many pods are wanted.'),
  column('Current', 'integer', 'How many pods there are.'),
  column('Ready', 'integer', 'How many pods are ready.'),
  ageColumn,
  ...containerColumns,
  selectorColumn,
]

const replicaCells = (o: KubeObject, now: number): unknown[] => [
  nameOf(o),
  numberAt(o, 'spec', 'replicas'),
  numberAt(o, 'status', 'replicas'),
  numberAt(o, 'status', 'readyReplicas'),
  ageOf(o, now),
  ...templateContainers(o),
]

export const replicaSets: TableColumns = {
  definitions: replicaColumns,
  cells: (o, now) => [...replicaCells(o, now), selectorAt(o, 'spec', 'selector')],
}

export const replicationControllers: TableColumns = {
  definitions: replicaColumns,
  cells: (o, now) => [...replicaCells(o, now), labelsAt(o, 'spec', 'selector')],
}

export const statefulSets: TableColumns = {
  definitions: [
    nameColumn,
    column('Ready', 'string', 'How many pods are ready, of how many wanted.'),
    ageColumn,
    ...containerColumns,
  ],
  cells: (o, now) => [
    nameOf(o),
    `${numberAt(o, 'status', 'readyReplicas')}/${numberAt(o, 'spec', 'replicas')}`,
    ageOf(o, now),
    ...templateContainers(o),
  ],
}

export const daemonSets: TableColumns = {
  definitions: [
    nameColumn,
    column('Desired', 'integer', 'How many nodes should run its pod.'),
    column('Current', 'integer', 'How many nodes run its pod, as they should.'),
    column('Ready', 'integer', 'How many nodes have its pod ready.'),
    column('Up-to-date', 'integer', 'How many nodes run the current template.'),
    column('Available', 'integer', 'How many nodes have had its pod ready long enough.'),
    column('Node Selector', 'string', 'The labels of the nodes it is for.'),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  cells: (o, now) => [
    nameOf(o),
    numberAt(o, 'status', 'desiredNumberScheduled'),
    numberAt(o, 'status', 'currentNumberScheduled'),
    numberAt(o, 'status', 'numberReady'),
    numberAt(o, 'status', 'updatedNumberScheduled'),
    numberAt(o, 'status', 'numberAvailable'),
    labelsAt(o, 'spec', 'template', 'spec', 'nodeSelector'),
    ageOf(o, now),
    ...templateContainers(o),
    selectorAt(o, 'spec', 'selector'),
  ],
}

function jobStatus(job: KubeObject): string {
  const is = (type: string): boolean => textAt(conditionAt(job, type), 'status') === 'True'
  if (is('Complete')) return 'Complete'
  if (is('Failed')) return 'Failed'
  if (isDeleting(job)) return 'Terminating'
  if (is('Suspended')) return 'Suspended'
  return is('FailureTarget') ? 'FailureTarget' : 'Running'
}

function jobCompletions(job: KubeObject): string {
  const succeeded = numberAt(job, 'status', 'succeeded')
  const completions = fieldAt(job, 'spec', 'completions')
  if (completions !== undefined) return `${succeeded}/${completions}`
  const parallelism = numberAt(job, 'spec', 'parallelism')
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function jobDuration(job: KubeObject, nowMs: number): string {
  const start = parseTime(textAt(job, 'status', 'startTime'))
  if (start === undefined) return ''
  return humanDuration((parseTime(textAt(job, 'status', 'completionTime')) ?? nowMs) - start)
}

export const jobs: TableColumns = {
  definitions: [
    nameColumn,
    column('Status', 'string', 'Whether it runs, is done or has failed.'),
    column('Completions', 'string', 'How many pods have succeeded, of how many wanted.'),
    column('Duration', 'string', 'How long it took, or has been running.'),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  cells: (o, now) => [
    nameOf(o),
    jobStatus(o),
    jobCompletions(o),
    jobDuration(o, now),
    ageOf(o, now),
    ...templateContainers(o),
    selectorAt(o, 'spec', 'selector'),
  ],
}

export const cronJobs: TableColumns = {
  definitions: [
    nameColumn,
    column('Schedule', 'string', 'When it runs, as a cron expression.'),
    column('Timezone', 'string', 'The time zone of the schedule.'),
    column('Suspend', 'boolean', 'Whether it is held back.'),
    column('Active', 'integer', 'How many of its jobs run now.'),
    column('Last Schedule', 'string', 'The time since it last ran.'),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  cells(o, now) {
    const suspend = fieldAt(o, 'spec', 'suspend')
    const last = fieldAt(o, 'status', 'lastScheduleTime')
    return [
      nameOf(o),
      textAt(o, 'spec', 'schedule'),
      textAt(o, 'spec', 'timeZone') || '<none>',
      suspend === undefined ? '<unset>' : suspend ? 'True' : 'False',
      listAt(o, 'status', 'active').length,
      last === undefined ? '<none>' : since(last, now),
      ageOf(o, now),
      ...containersOf(fieldAt(o, 'spec', 'jobTemplate', 'spec', 'template', 'spec')),
      selectorAt(o, 'spec', 'jobTemplate', 'spec', 'selector'),
    ]
  },
}

const metricSources: Readonly<Record<string, string>> = {
  External: 'external',
  Pods: 'pods',
  Object: 'object',
  Resource: 'resource',
  ContainerResource: 'containerResource',
}

function printMetric(spec: JsonValue, status: JsonValue | undefined): string {
  const type = textAt(spec, 'type')
  const source = metricSources[type]
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

export const horizontalPodAutoscalers: TableColumns = {
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

export const podDisruptionBudgets: TableColumns = {
  definitions: [
    nameColumn,
    column('Min Available', 'string', 'How many pods must stay available.'),
    column('Max Unavailable', 'string', 'How many pods may be unavailable.'),
    column('Allowed Disruptions', 'integer', 'How many pods may be evicted now.'),
    ageColumn,
  ],
  cells: (o, now) => [
    nameOf(o),
    intOrStringAt(o, 'N/A', 'spec', 'minAvailable'),
    intOrStringAt(o, 'N/A', 'spec', 'maxUnavailable'),
    numberAt(o, 'status', 'disruptionsAllowed'),
    ageOf(o, now),
  ],
}

export const podTemplates: TableColumns = {
  definitions: [
    nameColumn,
    column('Containers', 'string', 'The names of the containers in the template.'),
    column('Images', 'string', 'The images of the containers in the template.'),
    column('Pod Labels', 'string', 'The labels of its pods.'),
  ],
  cells: (o) => [
    nameOf(o),
    ...containersOf(fieldAt(o, 'template', 'spec')),
    labelsAt(o, 'template', 'metadata', 'labels'),
  ],
}

function controllerOf(object: KubeObject): string {
  const owner = listAt(object, 'metadata', 'ownerReferences').find((o) => booleanAt(o, 'controller'))
  if (!owner) return '<none>'
  const group = parseApiVersion(textAt(owner, 'apiVersion'))?.group ?? ''
  return `${qualifiedKind({ group, kind: textAt(owner, 'kind') }).toLowerCase()}/${textAt(owner, 'name')}`
}

export const controllerRevisions: TableColumns = {
  definitions: [
    nameColumn,
    column('Controller', 'string', 'Whose history it belongs to.'),
    column('Revision', 'string', 'Its place in that history.'),
    ageColumn,
  ],
  cells: (o, now) => [nameOf(o), controllerOf(o), numberAt(o, 'revision'), ageOf(o, now)],
}

export const priorityClasses: TableColumns = {
  definitions: [
    nameColumn,
    column('Value', 'integer', 'The priority its pods get.'),
    column('Global-Default', 'boolean', 'Whether pods without a class get this one.'),
    ageColumn,
    column('PreemptionPolicy', 'string', 'Whether its pods may push others out.'),
  ],
  cells: (o, now) => [
    nameOf(o),
    numberAt(o, 'value'),
    booleanAt(o, 'globalDefault'),
    ageOf(o, now),
    textAt(o, 'preemptionPolicy'),
  ],
}

export const runtimeClasses: TableColumns = {
  definitions: [nameColumn, column('Handler', 'string', 'What runs its containers.'), ageColumn],
  cells: (o, now) => [nameOf(o), textAt(o, 'handler'), ageOf(o, now)],
}
