/**
 * The table of pods. Its status is not a field: it tells what stands in the way, from the last container to the first.
 * @see k8s.io/kubernetes/pkg/printers/internalversion/printers.go v1.36
 */
import type { RowCondition, TableColumns } from '../../../kube/table.ts'
import type { JsonValue, KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, isDeleting, nameColumn, nameOf, since, wide } from '../cell-text.ts'
import { booleanAt, conditionAt, fieldAt, listAt, numberAt, objectAt, textAt } from '../field-access.ts'

interface Restarts {
  count: number
  /** When the latest ended; '' for none. */
  last: string
}

interface Summary {
  reason: string
  ready: number
  restarts: Restarts
}

const isRestartable = (container: JsonValue | undefined): boolean => textAt(container, 'restartPolicy') === 'Always'

function addRestarts(restarts: Restarts, status: JsonValue): void {
  restarts.count += numberAt(status, 'restartCount')
  const ended = textAt(status, 'lastState', 'terminated', 'finishedAt')
  // RFC 3339 in UTC: the order of texts is the order of times.
  if (ended > restarts.last) restarts.last = ended
}

function terminationReason(terminated: JsonValue | undefined): string {
  const reason = textAt(terminated, 'reason')
  if (reason) return reason
  const signal = numberAt(terminated, 'signal')
  return signal === 0 ? `ExitCode:${numberAt(terminated, 'exitCode')}` : `Signal:${signal}`
}

/** Undefined once the container has done its part. */
function initFault(status: JsonValue, index: number, total: number): string | undefined {
  const terminated = objectAt(status, 'state', 'terminated')
  if (terminated) return numberAt(terminated, 'exitCode') === 0 ? undefined : `Init:${terminationReason(terminated)}`
  const waiting = textAt(status, 'state', 'waiting', 'reason')
  return waiting && waiting !== 'PodInitializing' ? `Init:${waiting}` : `Init:${index}/${total}`
}

function summarize(pod: KubeObject): Summary {
  const phase = textAt(pod, 'status', 'phase')
  const gated = listAt(pod, 'status', 'conditions').some(
    (c) => textAt(c, 'type') === 'PodScheduled' && textAt(c, 'reason') === 'SchedulingGated',
  )
  const summary: Summary = {
    reason: gated ? 'SchedulingGated' : textAt(pod, 'status', 'reason') || phase,
    ready: 0,
    restarts: { count: 0, last: '' },
  }
  const sidecarRestarts: Restarts = { count: 0, last: '' }
  const initialized = summarizeInit(pod, summary, sidecarRestarts)
  if (initialized || textAt(conditionAt(pod, 'Initialized'), 'status') === 'True') {
    summary.restarts = sidecarRestarts
    summarizeContainers(pod, summary)
  }
  if (isDeleting(pod)) {
    if (textAt(pod, 'status', 'reason') === 'NodeLost') summary.reason = 'Unknown'
    else if (phase !== 'Succeeded' && phase !== 'Failed') summary.reason = 'Terminating'
  }
  return summary
}

function summarizeInit(pod: KubeObject, summary: Summary, sidecarRestarts: Restarts): boolean {
  const specs = listAt(pod, 'spec', 'initContainers')
  const byName = new Map(specs.map((spec) => [textAt(spec, 'name'), spec]))
  for (const [i, status] of listAt(pod, 'status', 'initContainerStatuses').entries()) {
    const restartable = isRestartable(byName.get(textAt(status, 'name')))
    addRestarts(summary.restarts, status)
    if (restartable) addRestarts(sidecarRestarts, status)
    const exited = objectAt(status, 'state', 'terminated')
    if (exited && numberAt(exited, 'exitCode') === 0) continue
    if (restartable && booleanAt(status, 'started')) {
      if (booleanAt(status, 'ready')) summary.ready++
      continue
    }
    const fault = initFault(status, i, specs.length)
    if (fault === undefined) continue
    summary.reason = fault
    return false
  }
  return true
}

function summarizeContainers(pod: KubeObject, summary: Summary): void {
  let running = false
  for (const status of listAt(pod, 'status', 'containerStatuses').toReversed()) {
    addRestarts(summary.restarts, status)
    const waiting = textAt(status, 'state', 'waiting', 'reason')
    const terminated = objectAt(status, 'state', 'terminated')
    if (waiting) summary.reason = waiting
    else if (terminated) summary.reason = terminationReason(terminated)
    else if (booleanAt(status, 'ready') && objectAt(status, 'state', 'running')) {
      running = true
      summary.ready++
    }
  }
  if (summary.reason === 'Completed' && running) {
    summary.reason = textAt(conditionAt(pod, 'Ready'), 'status') === 'True' ? 'Running' : 'NotReady'
  }
}

function printRestarts({ count, last }: Restarts, nowMs: number): string {
  return count !== 0 && last !== '' ? `${count} (${since(last, nowMs)} ago)` : String(count)
}

function readinessGates(pod: KubeObject): string {
  const gates = listAt(pod, 'spec', 'readinessGates')
  if (gates.length === 0) return '<none>'
  const open = gates.filter((g) => textAt(conditionAt(pod, textAt(g, 'conditionType')), 'status') === 'True')
  return `${open.length}/${gates.length}`
}

const completed = (reason: string, message: string): readonly RowCondition[] => [
  { type: 'Completed', status: 'True', reason, message },
]

const finished: ReadonlyMap<string, readonly RowCondition[]> = new Map([
  ['Succeeded', completed('Succeeded', 'The pod has completed successfully.')],
  ['Failed', completed('Failed', 'The pod failed.')],
])

export const podColumns: TableColumns = {
  definitions: [
    nameColumn,
    column('Ready', 'string', 'How many of its containers are ready to serve.'),
    column('Status', 'string', 'What its containers are doing, or what stands in their way.'),
    column('Restarts', 'string', 'How often its containers were restarted, and when the last was.'),
    ageColumn,
    wide('IP', 'string', 'Its address.'),
    wide('Node', 'string', 'The node it is bound to.'),
    wide('Nominated Node', 'string', 'The node that is being cleared for it.'),
    wide('Readiness Gates', 'string', 'How many of its readiness gates are open.'),
  ],
  cells(pod, nowMs) {
    const { reason, ready, restarts } = summarize(pod)
    const sidecars = listAt(pod, 'spec', 'initContainers').filter(isRestartable).length
    const total = listAt(pod, 'spec', 'containers').length + sidecars
    return [
      nameOf(pod),
      `${ready}/${total}`,
      reason,
      printRestarts(restarts, nowMs),
      ageOf(pod, nowMs),
      textAt(listAt(pod, 'status', 'podIPs')[0], 'ip') || textAt(pod, 'status', 'podIP') || '<none>',
      textAt(pod, 'spec', 'nodeName') || '<none>',
      textAt(pod, 'status', 'nominatedNodeName') || '<none>',
      readinessGates(pod),
    ]
  },
  conditions: (pod) => finished.get(String(fieldAt(pod, 'status', 'phase'))),
}
